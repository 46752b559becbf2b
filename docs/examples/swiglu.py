from typing import Annotated

import torch
from torch import Tensor


def swiglu(
    x: Annotated[Tensor, "n, d"], W: Annotated[Tensor, "d, h"], V: Annotated[Tensor, "d, h"]
):
    a = x @ W
    s = torch.sigmoid(a)
    gate = a * s
    b = x @ V
    out = gate * b
    return out


class SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, W, V):
        a, b = x @ W, x @ V
        ctx.save_for_backward(x, W, V, a, b)
        return a * torch.sigmoid(a) * b

    @staticmethod
    def backward(ctx, dout):
        x, W, V, a, b = ctx.saved_tensors
        s = torch.sigmoid(a)
        dgate = dout * b
        da = dgate * (s + s * (1 - s))
        db = dout * a * s
        return da @ W.T + db @ V.T, x.T @ da, x.T @ db
