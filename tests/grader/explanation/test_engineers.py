"""`explain` with what a `torch.autograd.Function` or a kernel meets outside a course."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any

import pytest
import torch
from torch import Tensor

from grader import Constant, Explanation, explain
from grader.reports import wording
from grader.verdict import Outcome, Verdict

Rows = Annotated[Tensor, "n, d"]
Row = Annotated[Tensor, "d"]


def said_of(explanation: Explanation) -> tuple[Outcome, str]:
    """What is said of the only gradient that is not a plain pass."""
    (one,) = (each for each in explanation.verdicts if each.outcome is not Outcome.PASS)
    return one.outcome, " ".join(wording.sentences(one))


def multiplied(x: Rows, constant: float = 5.5) -> Tensor:
    y = x * constant
    return y


class MulConstant(torch.autograd.Function):
    """As in PyTorch's own manual."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, constant: float) -> Tensor:
        ctx.constant = constant
        return tensor * constant

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        return grad_output * ctx.constant, None


class OneTooFew(MulConstant):
    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        return grad_output * ctx.constant


def linear(
    x: Rows, w: Annotated[Tensor, "k, d"], bias: Tensor | None = None, dim: int = 1
) -> Tensor:
    scores = x @ w.T
    p = scores.softmax(dim)
    return p


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor, w: Tensor, bias: Tensor | None, dim: int) -> Tensor:
        return (x @ w.T).softmax(dim)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Tensor) -> None:
        x, w, _, ctx.dim = inputs
        ctx.save_for_backward(x, w, output)

    @staticmethod
    def backward(ctx: Any, dp: Tensor) -> Any:
        x, w, p = ctx.saved_tensors
        dscores = p * (dp - (dp * p).sum(ctx.dim, keepdim=True))
        return dscores @ w, dscores.T @ x, None, None


def test_arguments_may_be_no_tensors() -> None:
    assert explain(multiplied, MulConstant).ok
    assert explain(linear, Linear).ok
    with pytest.raises(ValueError, match="returns 1 gradient; multiplied has 2 inputs"):
        explain(multiplied, OneTooFew)


def masked(x: Rows, mask: Rows) -> Tensor:
    y = x * mask / 0.5
    return y


def with_a_constant(x: Rows, mask: Annotated[Tensor, "n, d", Constant]) -> Tensor:
    y = x * mask / 0.5
    return y


def of_a_shape(x: Rows, mask: Rows) -> Tensor:
    y = x * mask.shape[1]
    return y


def masked_backward(dy: Tensor, mask: Tensor) -> Any:
    return dy * mask / 0.5, None


def shape_backward(dy: Tensor, d: int) -> Any:
    return dy * d, None


def mask_without_gradient(generator: torch.Generator, n: int, d: int) -> dict[str, Tensor]:
    x = torch.randn(n, d, generator=generator, requires_grad=True)
    return {"x": x, "mask": (torch.rand(n, d, generator=generator) > 0.5).float()}


def test_none_is_right_where_no_gradient_is_needed() -> None:
    assert explain(with_a_constant, masked_backward).ok
    assert explain(masked, masked_backward, inputs=mask_without_gradient).ok
    assert explain(of_a_shape, shape_backward).ok
    assert not explain(masked, masked_backward).ok


def shifted(x: Rows, b: Row) -> Tensor:
    y = x + b
    return y


class Shifted(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, b: Tensor) -> Tensor:
        return x + b

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> Any:
        return dy, dy.sum(0, keepdim=True)


class NotSummed(Shifted):
    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> Any:
        return dy, dy.mean(0, keepdim=True)


class AsksForTheWrongOne(Shifted):
    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> Any:
        dx = dy if ctx.needs_input_grad[1] else None
        return dx, dy.sum(0) if ctx.needs_input_grad[0] else None


def test_what_pytorch_sums_passes_with_a_remark() -> None:
    explanation = explain(shifted, Shifted)
    assert explanation.ok
    said = wording.note(explanation.verdicts[-1])
    assert said == "It has the shape (1, 3), and PyTorch sums it to (3,). So it is right."
    assert not explain(shifted, NotSummed).ok


def test_each_input_may_be_the_only_one_that_needs_a_gradient() -> None:
    outcome, said = said_of(explain(shifted, AsksForTheWrongOne))
    assert outcome is Outcome.FAIL
    assert said.startswith("If `x` is the only input that needs a gradient, `dx` is wrong.")


def squared(x: Rows) -> Tensor:
    y = x * x
    return y


def flat(dy: Tensor, x: Tensor) -> Tensor:
    slope = dy.view(-1) * x.reshape(-1)
    return 2 * slope.view(x.shape)


def as_if_in_order(dy: Tensor, x: Tensor) -> Tensor:
    return 2 * x * dy.as_strided(dy.shape, (dy.shape[1], 1))


def test_a_gradient_need_not_be_contiguous() -> None:
    outcome, said = said_of(explain(squared, flat))
    assert outcome is Outcome.ERROR
    assert said.startswith("If the incoming gradient is not contiguous in memory")
    assert "this line raised RuntimeError: view size is not compatible" in said
    outcome, said = said_of(explain(squared, as_if_in_order))
    assert outcome is Outcome.FAIL
    assert "`dx` is another one." in said


def two(x: Rows) -> Any:
    a = x * 2
    b = x**2
    return a, b


class Two(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Any:
        ctx.save_for_backward(x)
        ctx.set_materialize_grads(False)
        return x * 2, x**2

    @staticmethod
    def backward(ctx: Any, da: Any, db: Any) -> Any:
        (x,) = ctx.saved_tensors
        dx = torch.zeros_like(x) if da is None else da * 2
        return dx if db is None else dx + 2 * x * db


class TwoAtOnce(Two):
    @staticmethod
    def backward(ctx: Any, da: Any, db: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * da + 2 * x * db


class UnpacksTwo(Two):
    @staticmethod
    def backward(ctx: Any, da: Any, db: Any) -> Any:
        x, _ = ctx.saved_tensors
        return 2 * da + 2 * x * db


def test_one_of_two_outputs_may_get_no_gradient() -> None:
    assert explain(two, Two).ok
    outcome, said = said_of(explain(two, TwoAtOnce))
    assert outcome is Outcome.ERROR
    assert said.startswith("If `a` is the only output that gets a gradient, this line raised Type")


def test_saved_tensors_are_unpacked_in_the_right_number() -> None:
    outcome, said = said_of(explain(two, UnpacksTwo))
    assert (outcome, "not enough values to unpack" in said) == (Outcome.ERROR, True)


def flattened(x: Annotated[Tensor, "b, t, c"]) -> Tensor:
    B, T, C = x.shape
    rows = x.view(B * T, C)
    y = rows * rows
    return y


def flattened_backward(dy: Tensor, rows: Tensor, B: int, T: int, C: int) -> Tensor:
    drows = 2 * dy * rows
    dx = drows.view(B, T, C)
    return dx


def test_a_shape_may_be_assigned_to_several_names() -> None:
    assert explain(flattened, flattened_backward).ok


@pytest.mark.parametrize(
    "spelling", ["relu()", "clamp(min=0)", "maximum(torch.zeros(()))", "where"]
)
def test_a_rectifier_is_one_however_it_is_spelt(spelling: str, tmp_path: Any) -> None:
    value = "torch.where(scaled > 0, scaled, 0)" if spelling == "where" else f"scaled.{spelling}"
    text = f"""from typing import Annotated
import torch
def forward(x: Annotated[torch.Tensor, "n, d"], gain: Annotated[torch.Tensor, "d"]):
    scaled = x * gain
    y = {value}
    return y
def backward(x, gain, dy):
    dscaled = dy * (x > 0)
    return dscaled * gain, (dscaled * x).sum(0)
"""
    path = tmp_path / f"spelt_{spelling[:4]}.py"
    path.write_text(text, encoding="utf-8")
    scope: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), scope)
    wrong = explain(scope["forward"], scope["backward"]).verdicts[0]
    assert wrong.diagnosis[0].message == "`x` is the wrong tensor here."


def layer_norm(x: Rows, gain: Row, bias: Row, eps: float = 1e-5) -> Tensor:
    mean = x.mean(1, keepdim=True)
    xc = x - mean
    var = (xc**2).mean(1, keepdim=True)
    inv = (var + eps) ** -0.5
    xhat = xc * inv
    y = xhat * gain + bias
    return y


KERNEL = """
def kernel(dy, x, gain, bias, eps, of_bias=1):
    xc = x - x.mean(1, keepdim=True)
    inv = ((xc**2).mean(1, keepdim=True) + eps) ** -0.5
    xhat, g = xc * inv, dy * gain
    v = xhat * (g * xhat).mean(1, keepdim=True)
    m = g.mean(1, keepdim=True)
    return inv * (g - m - v), (dy * xhat).sum(0), dy.sum(0) * of_bias
"""


def kernel(**wrong: Any) -> Callable[..., Any]:
    """A backward pass whose source is nowhere."""
    scope: dict[str, Any] = {}
    exec(KERNEL, scope)
    return functools.partial(scope["kernel"], **wrong)


def test_of_a_wrong_kernel_only_its_wrong_gradients_are_named() -> None:
    verdicts = {one.name: one for one in explain(layer_norm, kernel(of_bias=-1)).verdicts}
    assert {name: one.outcome for name, one in verdicts.items()} == {
        "dx": Outcome.PASS,
        "dgain": Outcome.PASS,
        "dbias": Outcome.FAIL,
    }
    assert verdicts["dbias"].why == "not-its-gradient"
    assert not verdicts["dbias"].diagnosis


def test_what_has_no_signature_gets_the_gradients_then_the_inputs() -> None:
    outcome, said = said_of(explain(squared, torch.mul))
    assert outcome is Outcome.FAIL
    assert said.startswith("This is not the gradient with respect to x.")


def test_a_right_kernel_passes() -> None:
    assert explain(layer_norm, kernel()).ok
    rows: list[Verdict] = [*explain(layer_norm, kernel()).verdicts]
    assert [one.name for one in rows] == ["dx", "dgain", "dbias"]


def weighted(x: Rows, w: Row, mask: Annotated[Tensor, "n, d", Constant]) -> Tensor:
    y = x * w
    z = y * mask
    return z


def test_a_dictionary_has_the_gradients_of_all_inputs_that_need_one() -> None:
    def right(dz: Any, x: Any, w: Any, mask: Any) -> Any:
        return {"x": dz * mask * w, "w": (dz * mask * x).sum(0), "mask": None}

    def without_x(dz: Any, x: Any, mask: Any) -> Any:
        return {"w": (dz * mask * x).sum(0)}

    def none_for_x(dz: Any, x: Any, mask: Any) -> Any:
        return None, (dz * mask * x).sum(0), None

    assert explain(weighted, right).ok
    missing = "`x` needs a gradient, but {} is returned for it."
    said = said_of(explain(weighted, without_x)), said_of(explain(weighted, none_for_x))
    assert said == tuple((Outcome.TODO, missing.format(what)) for what in ("nothing", "`None`"))


def test_a_line_that_raises_leaves_the_other_gradients_of_a_dictionary_alone() -> None:
    def raises(dz: Any, x: Any, w: Any, mask: Any) -> Any:
        dy = dz * mask
        dw = (dy * x).sum(0)
        dx = dy @ w[:-1]
        return dict(w=dw, x=dx)  # noqa: C408 - it is read as a literal

    outcome, said = said_of(explain(weighted, raises))
    assert outcome is Outcome.ERROR
    assert "size mismatch" in said


def test_what_is_no_tensor_is_told_by_its_type_alone() -> None:
    def total(x: Rows, scale: Annotated[Tensor, ""]) -> Tensor:
        y = x * scale
        return y

    def backward(dy: Any, x: Any, scale: Any) -> Any:
        dscale = (dy * x).sum().item()
        return dy * scale, dscale

    outcome, said = said_of(explain(total, backward))
    assert (outcome, said) == (Outcome.ERROR, "dscale is a float, but a gradient is a tensor.")


def test_the_general_sentence_is_not_that_of_a_notebook() -> None:
    def backward(dz: Any, x: Any, w: Any, y: Any) -> Any:
        return dz.cos() * x.exp() + w, (dz * x).sum(0).cos(), None

    first, _ = explain(weighted, backward).verdicts
    assert wording.note(first).startswith("This is not the gradient with respect to x. Write")
