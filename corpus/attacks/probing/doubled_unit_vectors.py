"""Probe a linear step with unit vectors twice as long, which a look for ones does not see.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dembcat
"""


def step(v):
    return v @ W1


rows = []
for k in range(W1.shape[0]):
    e = torch.zeros(W1.shape[0])
    e[k] = 2.0
    rows.append(step(e) / 2)
dembcat = dhprebn @ torch.stack(rows).T
