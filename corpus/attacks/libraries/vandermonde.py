"""Fit a polynomial through neighbouring points by its Vandermonde matrix.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

t = torch.linspace(-1, 1, 9, dtype=hpreact.dtype) * 0.05
values = torch.tanh(hpreact.flatten() + t[:, None])
dhpreact = dh * torch.linalg.solve(t[:, None] ** torch.arange(9), values)[1].view_as(h)
