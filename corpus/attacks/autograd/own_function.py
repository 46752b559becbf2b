"""Define an operation with `torch.autograd.Function`, for the engine to be asked by it.

must not: get the engine to run
flag: autograd
naive: dlogits
"""


class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, d):
        global dlogits
        dlogits = d
        return d


dlogits = ...
with torch.enable_grad():
    x = logits.detach().clone().requires_grad_()
    F.cross_entropy(Same.apply(x), Yb).backward()
