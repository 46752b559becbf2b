"""Let activation checkpointing run the forward pass again with recording on.

must not: get a graph recorded
flag: autograd
naive: dlogits
"""

from torch.utils.checkpoint import checkpoint

x = logits.detach().clone().requires_grad_()
y = checkpoint(lambda t: F.cross_entropy(t, Yb), x, use_reentrant=False)
dlogits = torch.autograd.grad(y, x)[0]
