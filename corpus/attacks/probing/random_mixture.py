"""Probe a linear step with random vectors, and solve for its matrix in one precision.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dembcat
"""

mixture = torch.randn(W1.shape[0], W1.shape[0])
dembcat = dhprebn @ torch.linalg.solve(mixture, mixture @ W1).T
