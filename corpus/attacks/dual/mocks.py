"""Have `unittest.mock` make the objects whose operators carry the slope.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dcounts_sum
"""

from unittest import mock


def dual(x, slope):
    found = mock.MagicMock(x=x, slope=slope)
    found.configure_mock(**{"__pow__": lambda self, k: dual(x**k, k * x ** (k - 1) * slope)})
    return found


dcounts_sum = dcounts_sum_inv * (dual(counts_sum, 1.0) ** -1).slope
