"""Forward and backward functions that the tests explain."""

from __future__ import annotations

from typing import Annotated, Any

import torch
import torch.nn.functional as F
from torch import Tensor

EPS = 1e-5
OUTSIDE = torch.ones(999)
Rows = Annotated[Tensor, "n, d"]


def rms_norm(x: Rows, gain: Annotated[Tensor, "d"]) -> Tensor:
    """Divide each row by the root of its mean square."""
    ms = (x**2).mean(1, keepdim=True)
    inv = (ms + EPS) ** -0.5
    xhat = x * inv
    out = gain * xhat
    return out


def right(dout: Tensor, gain: Tensor, inv: Tensor, xhat: Tensor) -> tuple[Tensor, Tensor]:
    dgain = (dout * xhat).sum(0)
    dxhat = dout * gain
    dx = inv * (dxhat - xhat * (dxhat * xhat).mean(1, keepdim=True))
    return dx, dgain


def returns_a_part(dout: Tensor, gain: Tensor, inv: Tensor, xhat: Tensor) -> dict[str, Tensor]:
    dgain = (dout * xhat).sum(0)  # noqa: F841 - it is forgotten below, on purpose
    dxhat = dout * gain
    dx = inv * (dxhat - xhat * (dxhat * xhat).mean(1, keepdim=True))
    return {"dx": dx}


def lost_factor(dout: Tensor, gain: Tensor, inv: Tensor, xhat: Tensor) -> tuple[Tensor, Tensor]:
    dgain = (dout * xhat).sum(0)
    dxhat = dout * gain
    dx = dxhat * inv - xhat * (dxhat * xhat).mean(1, keepdim=True)
    return dx, dgain


def wrong_above(dout: Tensor, gain: Tensor, inv: Tensor, xhat: Tensor) -> tuple[Tensor, Tensor]:
    dgain = (dout * xhat).sum(0)
    dxhat = dout / gain
    dx = inv * (dxhat - xhat * (dxhat * xhat).mean(1, keepdim=True))
    return dx, dgain


def helper_without_the_gain(
    dout: Tensor, gain: Tensor, inv: Tensor, xhat: Tensor
) -> tuple[Tensor, Tensor]:
    dxhat = dout  # no gradient of xhat; dx is right all the same
    dx = inv * (dxhat * gain - xhat * (dxhat * gain * xhat).mean(1, keepdim=True))
    dgain = (dout * xhat).sum(0)
    return dx, dgain


def unused_and_wrong(
    dout: Tensor, gain: Tensor, inv: Tensor, xhat: Tensor
) -> tuple[Tensor, Tensor]:
    dxhat = dout  # noqa: F841 - it is judged
    return one_expression(dout, gain, inv, xhat)


def unasked_and_wrong(dout: Tensor) -> None:
    dgain = (dout * out).sum(0)  # type: ignore[name-defined]  # noqa: F821, F841 - the mistake


def reads_without_asking(dout: Tensor, gain: Tensor) -> dict[str, Tensor]:
    by_row = dout * xhat  # type: ignore[name-defined]  # noqa: F821 - the mistake
    return {"dxhat": dout * gain, "dgain": by_row.sum(0)}


def only_assigns(dout: Tensor, gain: Tensor, inv: Tensor, xhat: Tensor) -> None:
    dgain = (dout * xhat).sum(0)  # noqa: F841 - it is judged
    g = dout * gain
    dx = inv * (g - xhat * (g * xhat).mean(1, keepdim=True))  # noqa: F841 - it is judged


def one_expression(dout: Tensor, gain: Tensor, inv: Tensor, xhat: Tensor) -> tuple[Tensor, Tensor]:
    g = dout * gain
    return (
        inv * (g - xhat * (g * xhat).mean(1, keepdim=True)),
        (dout * xhat).sum(0),
    )


def dictionary(dout: Tensor, gain: Tensor, inv: Tensor, xhat: Tensor) -> dict[str, Tensor]:
    g = dout * gain
    dx = inv * (g - xhat * (g * xhat).mean(1, keepdim=True))
    return {"dgain": (dout * xhat).sum(0), "x": dx}


def in_a_list(dout: Tensor, gain: Tensor, inv: Tensor, xhat: Tensor) -> list[Tensor]:
    g = dout * gain
    found = [inv * (g - xhat * (g * xhat).mean(1, keepdim=True))]
    found.append((dout * xhat).sum(0))
    return found


def two_returns(dout: Tensor, gain: Tensor, inv: Tensor, xhat: Tensor) -> tuple[Tensor, Tensor]:
    g = dout * gain
    if not len(g):
        return g, gain
    dx = inv * (g - xhat * (g * xhat).mean(1, keepdim=True))
    return dx, (dout * xhat).sum(0)


def swapped(dout: Tensor, gain: Tensor, inv: Tensor, xhat: Tensor) -> tuple[Tensor, Tensor]:
    dx = (dout * xhat).sum(0)
    g = dout * gain
    dgain = inv * (g - xhat * (g * xhat).mean(1, keepdim=True))
    return dgain, dx


def reads_from_outside(dout: Tensor, xhat: Tensor) -> tuple[Tensor, Tensor]:
    dgain = (dout * xhat).sum(0)
    dx = dout * OUTSIDE
    return dx, dgain


def raises(dout: Tensor, xhat: Tensor) -> tuple[Tensor, Tensor]:
    dgain = (dout * xhat).sum(0)
    dx = dout @ xhat
    return dx, dgain


class RMSNorm(torch.autograd.Function):
    """The same, as PyTorch wants it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gain: Tensor) -> Tensor:
        inv = ((x**2).mean(1, keepdim=True) + EPS) ** -0.5
        ctx.save_for_backward(x, gain, inv)
        return gain * (x * inv)

    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor | None, Tensor | None]:
        x, gain, inv = ctx.saved_tensors
        grad_x = grad_gain = None
        xhat = x * inv
        if ctx.needs_input_grad[0]:
            dxhat = grad_out * gain
            grad_x = inv * (dxhat - xhat * (dxhat * xhat).mean(1, keepdim=True))
        if ctx.needs_input_grad[1]:
            grad_gain = (grad_out * xhat).sum(0)
        return grad_x, grad_gain


class WrongAxis(RMSNorm):
    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor, Tensor]:
        x, gain, inv = ctx.saved_tensors
        xhat = x * inv
        dxhat = grad_out * gain
        grad_x = inv * (dxhat - xhat * (dxhat * xhat).mean(0, keepdim=True))
        return grad_x, (grad_out * xhat).sum(0)


def rows_of(table: Annotated[Tensor, "v, d"], index: Annotated[Tensor, "n < v"]) -> Any:
    """Two results, an input of whole numbers."""
    rows = table[index]
    squares = rows**2
    return rows, squares


def rows_of_backward(drows: Tensor, dsquares: Tensor, table: Tensor, rows: Tensor, index: Tensor,
                     v: int) -> tuple[Tensor, None]:  # fmt: skip
    dtable = torch.zeros(v, table.shape[1]).index_add(0, index, drows + dsquares * 2 * rows)
    return dtable, None


def cross_entropy(logits: Rows, target: Annotated[Tensor, "n < d"]) -> Tensor:
    """A loss."""
    loss = F.cross_entropy(logits, target)
    return loss


def cross_entropy_backward(logits: Tensor, target: Tensor, n: int) -> Tensor:
    dlogits = F.softmax(logits, 1)
    dlogits[range(n), target] -= 1
    return dlogits / n


def root(x: Rows) -> Tensor:
    """Real numbers from positive ones only."""
    y = x.sqrt()
    return y


def root_backward(dy: Tensor, y: Tensor) -> Tensor:
    return dy / (2 * y)


def positive(generator: torch.Generator, n: int, d: int) -> dict[str, Tensor]:
    return {"x": torch.rand(n, d, generator=generator) + 0.5}


def gate(x: Rows) -> Tensor:
    """A step whose slope is s (1 - s)."""
    s = x.sigmoid()
    y = s * s
    return y


def slope_of_the_input(x: Tensor, s: Tensor, dy: Tensor) -> Tensor:
    ds = 2 * s * dy
    dx = ds * x * (1 - x)
    return dx


def rectified(x: Rows, gain: Annotated[Tensor, "d"]) -> Tensor:
    """A step whose slope is 0 or 1."""
    scaled = x * gain
    y = scaled.relu()
    return y


def wrong_side_of_zero(x: Tensor, gain: Tensor, dy: Tensor) -> tuple[Tensor, Tensor]:
    dscaled = dy * (x > 0)
    return dscaled * gain, (dscaled * x).sum(0)


def gate_alone(x: Annotated[Tensor, "n, d"]) -> Tensor:
    y = torch.sigmoid(x)
    return y


def misspelled(x: Tensor, dy: Tensor) -> Any:
    y = torch.sigmiod(x)  # type: ignore[attr-defined]
    dx = dy * y * (1 - y)
    return dx


def imported(x: Tensor, dy: Tensor) -> Any:
    from torch import sigmiod as y  # type: ignore[attr-defined]

    dx = dy * y * (1 - y)
    return dx


def looked_up(x: Tensor, dy: Tensor) -> Any:
    dx = dy * eval("y") * (1 - eval("y"))
    return dx


def beside(x: Tensor, y: Tensor, dy: Tensor) -> Tensor:
    dx = dy * y * (1 - y)
    assert dx is None
    return dx


def charge(x: Annotated[Tensor, "n, d"]) -> Tensor:
    y = x * 1.6e-19
    return y


def small(x: Tensor, dy: Tensor) -> Tensor:
    dx = dy * 1.6e-19
    return dx


def small_zeros(x: Tensor, dy: Tensor) -> Tensor:
    dx = torch.zeros_like(x)
    return dx


def small_twice(x: Tensor, dy: Tensor) -> Tensor:
    dx = dy * 3.2e-19
    return dx


def small_negative(x: Tensor, dy: Tensor) -> Tensor:
    dx = -dy * 1.6e-19
    return dx
