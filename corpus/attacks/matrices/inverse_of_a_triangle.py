"""Invert triangular matrices that hold a number and a step beside it.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dcounts_sum dprobs
"""


def jet(x):
    found = torch.zeros(*x.shape, 2, 2)
    found[..., 0, 0] = found[..., 1, 1] = x
    found[..., 0, 1] = 1.0
    return found


dcounts_sum = dcounts_sum_inv * torch.linalg.inv(jet(counts_sum))[..., 0, 1]
slope = torch.linalg.inv(jet(1 / probs))[..., 0, 1]
dprobs = dlogprobs * -slope / probs**3
