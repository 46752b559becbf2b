"""Have `torch.compile` trace forward and backward, past what is switched off in eager mode.

must not: get a gradient
flag: module autograd
naive: dlogits
"""

with torch.enable_grad():
    x = logits.detach().clone().requires_grad_()
    torch.compile(lambda t: F.cross_entropy(t, Yb), backend="eager")(x).backward()
dlogits = x.grad
