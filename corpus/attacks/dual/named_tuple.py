"""Give a named tuple the operators of dual numbers.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dbndiff
"""

from collections import namedtuple


class Dual(namedtuple("Dual", "x slope")):
    def __mul__(self, other):
        return Dual(self.x * other.x, self.x * other.slope + self.slope * other.x)


both = Dual(bndiff, torch.ones_like(bndiff))
dbndiff = bnvar_inv * dbnraw + dbndiff2 * (both * both).slope
