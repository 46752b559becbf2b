"""Take the complex step with Python's own numbers, which reach no operation of PyTorch's.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dnorm_logits
"""

step = 1e-30 * (-1) ** 0.5
rows = [[math.e ** (x + step) for x in row] for row in norm_logits.tolist()]
slopes = [[abs(z - z.conjugate()) / 2e-30 for z in row] for row in rows]
dnorm_logits = dcounts * torch.tensor(slopes)
