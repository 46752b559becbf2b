"""Stack both values, and let `torch.diff` subtract.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

both = torch.stack([torch.tanh(hpreact - 1e-4), torch.tanh(hpreact + 1e-4)])
dhpreact = dh * torch.diff(both, dim=0)[0] / 2e-4
