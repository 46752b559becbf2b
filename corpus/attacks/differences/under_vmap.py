"""Have `vmap` take the differences, in which a tensor shows no numbers.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dhpreact
"""

step = 2.0**-8
weights = torch.tensor([4 / 5, -1 / 5, 4 / 105, -1 / 280])
both = torch.vmap(lambda s: torch.tanh(hpreact + s) - torch.tanh(hpreact - s))
dhpreact = dh * torch.tensordot(weights, both(step * torch.arange(1.0, 5.0)), 1) / step
