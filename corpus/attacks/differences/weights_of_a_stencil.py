"""Evaluate the step on a stencil in one go, and weigh the values with a product.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

offsets = torch.arange(-6.0, 7.0) / 100
powers = torch.vander(offsets * 100, increasing=True).T
weights = torch.linalg.solve(powers, F.one_hot(torch.tensor(1), 13).to(powers.dtype)) * 100
dhpreact = dh * (torch.tanh(hpreact[..., None] + offsets) @ weights)
