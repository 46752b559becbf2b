"""Evaluate on a fine grid, and convolve with the weights of a difference.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

weights = torch.tensor([[[-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]]]).to(hpreact.dtype) / 60
grid = hpreact.flatten()[:, None] + torch.linspace(-3, 3, 7).to(hpreact.dtype) / 128
dhpreact = dh * 128 * F.conv1d(torch.tanh(grid)[:, None], weights).view_as(h)
