"""Take the numerical Jacobian out of PyTorch's own gradient checker.

must not: get it
flag: autograd
naive: dlogits
"""

from torch.autograd.gradcheck import _get_numerical_jacobian

x = logits.detach().clone().requires_grad_()
found = _get_numerical_jacobian(lambda t: F.cross_entropy(t, Yb), (x,), [F.cross_entropy(x, Yb)], eps=1e-6)
dlogits = found[0][0].view_as(logits)
