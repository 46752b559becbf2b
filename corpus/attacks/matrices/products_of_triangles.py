"""Multiply triangular matrices, which are dual numbers under another name.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dbndiff
"""

J = torch.zeros(*bndiff.shape, 2, 2)
J[..., 0, 0] = J[..., 1, 1] = bndiff
J[..., 0, 1] = 1.0
dbndiff = bnvar_inv * dbnraw + dbndiff2 * (J @ J)[..., 0, 1]
