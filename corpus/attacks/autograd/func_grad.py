"""Use `torch.func`, PyTorch's second way to its derivatives.

must not: get a gradient
flag: autograd
naive: dlogits dh
"""

dlogits = torch.func.grad(lambda x: F.cross_entropy(x, Yb))(logits.detach())
dh = torch.func.vjp(lambda x: x @ W2.detach(), h.detach())[1](dlogits)[0]
