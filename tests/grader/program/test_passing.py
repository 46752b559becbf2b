"""The names that an expression passes a gradient to are those that autograd finds."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from grader.program.passing import passed_to

NAMES = ("x", "y")


@pytest.mark.parametrize(
    "expression",
    [
        # shapes and types
        "x.shape[0]",
        "len(x)",
        "x.sum() / len(y)",
        "x.sum() / y.numel() + x.ndim",
        "x.reshape(y.shape)",
        "x.view(y.size(0), -1)",
        "x.view_as(y) + y.T.reshape_as(x)",
        "torch.ones(2, 1).expand_as(x)",
        "x.flatten(0, y.dim() - 1).type_as(y)",
        "x.to(y) + y.to(x.dtype)",
        "torch.zeros_like(x) + y",
        "x + torch.full_like(y, 2.0)",
        "y.new_ones(len(x), 1) * x",
        # truths and places
        "x > 0",
        "(x > y).double()",
        "torch.where(x > 0, y, 0.0)",
        "x.gt(0) * y",
        "torch.isfinite(x).double()",
        "x * (x > y) + (y if len(x) else x)",
        "x[y > 0]",
        "x[y.argmax(0)]",
        "x.gather(1, torch.argsort(y))",
        "x.max(1).indices",
        "x.max(1).values",
        "y[range(len(x)), x.argmin(1)]",
        "F.one_hot(x.argmax(1), 3) * y",
        "x.long()",
        # numbers that autograd does not follow
        "x.detach() * y",
        "x * int(y.argmax())",
        "x + y.sum().item()",
        # all others
        "torch.cat([x, y], 1)",
        "x.chunk(3, 1)[0] + y.amax(1, keepdim=True)",
        "torch.stack([one.exp() for one in (x, y)])",
        "(lambda value: value * 2)(x)",
        "F.softmax(x, dim=y.dim() - 1)",
        "x @ y.mT.abs().sqrt()",
    ],
)
def test_gradients_go_where_autograd_takes_them(expression: str) -> None:
    leaves = {name: torch.rand(2, 3).double().requires_grad_() for name in NAMES}
    value = eval(expression, {"torch": torch, "F": F, **leaves})
    if isinstance(value, Tensor) and value.requires_grad:
        value.sum().backward()  # type: ignore[no-untyped-call]
    reached = {name for name, leaf in leaves.items() if leaf.grad is not None}
    assert passed_to(expression) & {*NAMES} == reached


def test_a_function_of_the_authors_own_may_be_called_anything() -> None:
    assert passed_to("size(x) + dim(y)") >= {"x", "y"}
