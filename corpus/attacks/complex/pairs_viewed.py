"""View pairs of real numbers as complex ones, and back.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

pairs = torch.stack([hpreact, torch.full_like(hpreact, 1e-30)], -1)
both = torch.view_as_real(torch.view_as_complex(pairs).tanh())
dhpreact = dh * both[..., 1] / 1e-30
