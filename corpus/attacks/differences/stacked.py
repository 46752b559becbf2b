"""Stack both values, and let `torch.diff` subtract.

must not: go unnoticed by a human
flag: numerical imprecise
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

both = torch.stack([torch.tanh(hpreact - 1e-4), torch.tanh(hpreact + 1e-4)])
dhpreact = dh * torch.diff(both, dim=0)[0] / 2e-4
