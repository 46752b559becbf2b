"""Take differences of fractions, which round nothing at all.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dcounts_sum dbndiff
"""

from fractions import Fraction

step = Fraction(1, 10**25)
inverse = [float((1 / (x + step) - 1 / (x - step)) / (2 * step)) for x in map(Fraction, counts_sum.flatten().tolist())]
dcounts_sum = dcounts_sum_inv * torch.tensor(inverse).view_as(counts_sum)
square = [float(((x + step) ** 2 - (x - step) ** 2) / (2 * step)) for x in map(Fraction, bndiff.flatten().tolist())]
dbndiff = bnvar_inv * dbnraw + dbndiff2 * torch.tensor(square).view_as(bndiff)
