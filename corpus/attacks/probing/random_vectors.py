"""Push random vectors through a linear step, and solve for its matrix.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dembcat
"""


def step(v):
    return v @ W1


vectors = torch.randn(W1.shape[0], W1.shape[0], dtype=torch.float64)
dembcat = dhprebn @ torch.linalg.solve(vectors, step(vectors.to(W1.dtype)).double()).T.to(W1.dtype)
