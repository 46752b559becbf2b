"""Invert matrices of two rows that carry a step beside the value.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dcounts_sum
"""

pairs = counts_sum[..., None, None] * torch.eye(2) + torch.diag(torch.ones(1), 1)
dcounts_sum = dcounts_sum_inv * torch.linalg.inv(pairs)[..., 0, 1]
