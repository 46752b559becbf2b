"""Push them through all at once, as the rows of a matrix, with `vmap`.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dembcat
"""


def step(v):
    return v @ W1


dembcat = dhprebn @ torch.vmap(step)(torch.eye(W1.shape[0])).T
