"""Take the exponential of a larger triangle as a series of its powers.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dnorm_logits
"""

X = norm_logits[..., None, None] / 64 * torch.eye(3) + torch.diag(torch.ones(2), 1)
E = term = torch.eye(3).expand_as(X)
for k in range(1, 25):
    term = torch.matmul(term, X) / k
    E = E + term
for _ in range(6):
    E = torch.matmul(E, E)
dnorm_logits = dcounts * E[..., 0, 1] / 64
