"""Have one `vmap` in another multiply every unit vector with every row.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dembcat
"""

every = torch.eye(W1.shape[0])
dembcat = torch.vmap(lambda d: torch.vmap(lambda e: (e @ W1) @ d)(every))(dhprebn)
