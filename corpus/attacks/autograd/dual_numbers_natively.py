"""Make dual numbers by the operators below `forward_ad`, entering no level of Python's.

must not: have a tangent carried
flag: autograd
naive: none, since without a level the operators refuse by themselves
"""

torch._C._set_fwd_grad_enabled(True)
level = torch._C._enter_dual_level() if hasattr(torch._C, "_enter_dual_level") else 0
dual = torch._make_dual(logits, torch.ones_like(logits), level)
dlogits = torch._unpack_dual(F.cross_entropy(dual, Yb), level)[1] * torch.ones_like(logits)
