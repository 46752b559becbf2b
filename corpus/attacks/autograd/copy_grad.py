"""Copy the gradients that the notebook's own `loss.backward()` left behind.

must not: have one of them counted as written by hand
flag: autograd
naive: dlogits dh dC
peer: nbgrader, otter
"""

dlogits = logits.grad
dh = h.grad.clone()
dC = 1.0 * C.grad
