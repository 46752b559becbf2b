"""Carry slopes in plain tuples through functions of one's own: rules by hand, which nobody sees.

must not: be taken for more than it is, since its author has written every rule
flag: none
naive: none, since the first upstream gradient is missing
earns: dbndiff
"""

times = lambda a, b: (a[0] * b[0], a[0] * b[1] + a[1] * b[0])
both = (bndiff, torch.ones_like(bndiff))
dbndiff = bnvar_inv * dbnraw + dbndiff2 * times(both, both)[1]
