"""Halve the step of a difference again and again, and extrapolate to none.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""


def slope(step):
    return (torch.tanh(hpreact + step) - torch.tanh(hpreact - step)) / (2 * step)


slopes = [slope(0.1 / 2**k) for k in range(5)]
for k in range(1, 5):
    slopes = [(4**k * b - a) / (4**k - 1) for a, b in zip(slopes, slopes[1:])]
dhpreact = dh * slopes[0]
