"""Trace a backward pass into a graph of plain operators, then run that.

must not: get a backward pass traced
flag: autograd module
naive: dlogits
"""

from torch.fx.experimental.proxy_tensor import make_fx

dlogits = make_fx(torch.func.grad(lambda x: F.cross_entropy(x, Yb)))(logits.detach())(logits.detach())
