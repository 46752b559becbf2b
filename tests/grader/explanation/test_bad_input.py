"""What cannot be explained gets one sentence, with the line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest
import torch
from torch import Tensor

from grader import explain
from grader.user_error import BadInput, UserError
from tests.grader.explanation.norms import RMSNorm, Rows, right, rms_norm, root, root_backward


def loops(x: Rows) -> Tensor:
    for _ in range(3):
        x = x * 2
    return x


def returns_a_shape(x: Rows) -> Any:
    n = x.shape[0]
    return n


def returns_whole_numbers(x: Rows) -> Tensor:
    best = x.argmax(1)
    return best


def draws_noise(x: Rows) -> Tensor:
    y = x * 2
    z = y + torch.randn_like(y)
    return z


def changes_in_place(x: Rows) -> Tensor:
    y = x * 2
    z = y.add_(1)
    return z


def rectifies_in_place(x: Rows) -> Tensor:
    y = x.relu_()
    return y


def is_too_coarse(x: Rows) -> Tensor:
    y = x.half()
    return y


LINEAR = torch.nn.Linear(3, 3)


def has_a_module(x: Annotated[Tensor, "n, 3"]) -> Any:
    y = LINEAR(x)
    return y


def is_annotated_with_nothing(x: Nowhere) -> Any:  # type: ignore[name-defined]  # noqa: F821
    y = x * 2
    return y


def decides(x: Rows) -> Tensor:
    if x.sum() > 0:
        x = x * 2
    return x


def adds_in_place(x: Rows) -> Tensor:
    y = x * 2
    y += 1
    return y


def without_gradients(x: Rows) -> Tensor:
    with torch.no_grad():
        y = x * 2
    return y


def asserts(x: Rows) -> Tensor:
    y = x * 2
    assert y.dim() == 2
    return y


def raises(x: Rows, w: Annotated[Tensor, "d, k"]) -> Tensor:
    y = x @ w
    z = y @ w
    return z


def has_a_strange_shape(x: Annotated[Tensor, "n d"]) -> Tensor:
    y = x * 2
    return y


def makes_several(x: Rows) -> Tensor:
    y = x * 2
    largest = y.max(1)
    z = largest.values * 2
    return z


def is_complex(x: Rows) -> Any:
    z = torch.fft.fft(x)
    y = z.abs()
    return y


def masks_a_row(x: Annotated[Tensor, "n, n"]) -> Tensor:
    scores = x.masked_fill(torch.ones_like(x, dtype=torch.bool).triu(), -torch.inf)
    p = scores.softmax(1)
    return p


def divides_by_distances(x: Rows) -> Tensor:
    sq = ((x[:, None] - x) ** 2).sum(2)
    r = sq.sqrt()
    return r


def only_compares(x: Rows) -> Tensor:
    y = (x > 0).double()
    return y


def does_not_depend(x: Rows) -> Tensor:
    y = torch.zeros(3)
    return y


def wants_an_even_size(x: Rows) -> Tensor:
    y = x.view(-1, 2, 4)
    return y


def takes_the_name(x: Rows, dy: Rows) -> Tensor:
    y = x * dy
    return y


@pytest.mark.parametrize(
    ("forward", "line", "sentence"),
    [
        (loops, 1, "is not a step: `for _ in range(3):"),
        (returns_a_shape, 0, "returns n, which is no tensor."),
        (returns_whole_numbers, 0, "returns no floating-point tensor."),
        (draws_noise, 2, "`z = y + torch.randn_like(y)` gives another value when it runs again"),
        (changes_in_place, 2, "`z = y.add_(1)` changes y in place; a step makes a new tensor."),
        (rectifies_in_place, 1, "`y = x.relu_()` changes x in place"),
        (is_too_coarse, 1, "`y = x.half()` makes float16, whose rounding would look like mistakes"),
        (has_a_module, 1, "LINEAR has weights of its own: let them be inputs."),
        (is_annotated_with_nothing, 0, "cannot be read (name 'Nowhere' is not defined)."),
        (decides, 1, "is not a step: `if "),
        (draws_noise, 2, "what is random has to be an input."),
        (
            loops,
            1,
            "A forward program consists of lines `name = expression`, each name assigned once.",
        ),
        (adds_in_place, 2, "is not a step: `"),
        (without_gradients, 1, "is not a step: `with "),
        (asserts, 2, "is not a step: `assert y.dim() == 2`."),
        (raises, 2, "`z = y @ w` raised RuntimeError: "),
        (has_a_strange_shape, 0, "its inputs cannot be drawn from their annotations"),
        (wants_an_even_size, 1, "`y = x.view(-1, 2, 4)` raised RuntimeError: "),
        (takes_the_name, 0, "dy is the name of the gradient that arrives."),
        (makes_several, 2, "is not a step: `largest = y.max(1)` makes several tensors. Give each"),
        (is_complex, 0, "z is complex, and complex tensors cannot be explained."),
        (only_compares, 0, "returns nothing that passes a gradient to its inputs."),
        (does_not_depend, 0, "returns nothing that passes a gradient to its inputs."),
    ],
)
def test_a_forward_function_that_is_none(
    forward: Callable[..., Any], line: int, sentence: str
) -> None:
    with pytest.raises(UserError) as refusal:
        explain(forward, nothing)
    said = str(refusal.value)
    assert said.startswith(f"{forward.__name__}, line {forward.__code__.co_firstlineno + line}")
    assert sentence in said
    assert "\n" not in said.strip()


def nothing(x: Tensor) -> Tensor:
    return x


def asks_for_more(dout: Tensor, gian: Tensor) -> Tensor:
    return dout * gian


def changes_an_argument(dout: Tensor, gain: Tensor) -> tuple[Tensor, Tensor]:
    g = dout * gain
    dout *= 2
    return g, dout


def changes_at_the_end(dout: Tensor) -> Any:
    return dout.mul_(2), dout.sum(0)


def returns_three(dout: Tensor, gain: Tensor) -> tuple[Tensor, ...]:
    g = dout * gain
    return g, g, g


def returns_one(dout: Tensor, gain: Tensor) -> Tensor:
    g = dout * gain
    return g


def returns_a_strange_key(dout: Tensor) -> dict[str, Tensor]:
    return {"dgian": dout}


def assigns_nothing(dout: Tensor) -> None:
    dout.sum()


@pytest.mark.parametrize(
    ("backward", "line", "sentence"),
    [
        (asks_for_more, 0, "asks for gian; rms_norm has no input, step or size of that name"),
        (asks_for_more, 0, "Is it gain?"),
        (changes_an_argument, 2, "changes an argument in place"),
        (changes_at_the_end, 1, "changes an argument in place"),
        (returns_three, 2, "returns 3 gradients; rms_norm has 2 inputs, x, gain."),
        (returns_one, 2, "returns 1 gradient; rms_norm has 2 inputs, x, gain."),
        (returns_a_strange_key, 1, "returns 'dgian'; the gradients that it may return are"),
        (assigns_nothing, 0, "neither returns nor assigns a gradient of rms_norm."),
    ],
)
def test_a_backward_function_that_is_none(
    backward: Callable[..., Any], line: int, sentence: str
) -> None:
    with pytest.raises(UserError) as refusal:
        explain(rms_norm, backward)
    said = str(refusal.value)
    assert said.startswith(f"{backward.__name__}, line {backward.__code__.co_firstlineno + line}")
    assert sentence in said
    assert "\n" not in said.strip()


class Doubled(RMSNorm):
    @staticmethod
    def forward(ctx: Any, x: Tensor, gain: Tensor) -> Tensor:
        return 2 * RMSNorm.forward(ctx, x, gain)


class OfOne(RMSNorm):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:  # type: ignore[override]
        return x * 2


class WithTwoGradients(RMSNorm):
    @staticmethod
    def backward(ctx: Any, first: Tensor, second: Tensor) -> Any:  # type: ignore[override]
        return first, second


class WithOneOfTwo(RMSNorm):
    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> Any:
        return grad_out


class WritesToWhatIsSaved(RMSNorm):
    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> Any:
        x, gain, _ = ctx.saved_tensors
        x *= 2
        return grad_out * gain, (grad_out * x).sum(0)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (Doubled, "Doubled.apply gives another out than rms_norm"),
        (OfOne, "OfOne.apply raised TypeError"),
        (WithOneOfTwo, "returns 1 gradient; rms_norm has 2 inputs, x, gain."),
        (WritesToWhatIsSaved, "changes a saved tensor or an argument in place"),
        (WithTwoGradients, "takes 2 gradients; rms_norm returns out."),
        (3, "3 is neither a function nor a torch.autograd.Function."),
    ],
)
def test_a_custom_function_that_does_not_fit(function: Any, sentence: str) -> None:
    with pytest.raises(UserError) as refusal:
        explain(rms_norm, function)
    assert sentence in str(refusal.value)


def asks_for_width(width: int) -> dict[str, Tensor]:
    return {"x": torch.ones(width)}


def draws_another(n: int) -> dict[str, Tensor]:
    return {"z": torch.ones(n)}


def cannot_draw(n: int) -> dict[str, Tensor]:
    raise RuntimeError("no luck")


def draws_no_dictionary(n: int, d: int) -> Tensor:
    return torch.ones(n, d)


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        (asks_for_width, "asks for width; it can have n, d, generator."),
        (draws_another, "draws z; it gives a dictionary of tensors for x, or some of them."),
        (cannot_draw, "raised RuntimeError: no luck."),
        (
            draws_no_dictionary,
            "draws Tensor; it gives a dictionary of tensors for x, or some of them.",
        ),
    ],
)
def test_a_function_for_inputs_that_does_not_fit(inputs: Any, sentence: str) -> None:
    with pytest.raises(UserError) as refusal:
        explain(root, root_backward, inputs=inputs)
    line = inputs.__code__.co_firstlineno
    assert str(refusal.value) == f"{inputs.__name__}, line {line}, {sentence}"


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ({"width": 3}, "no input has a size width; the sizes are n, d."),
        ({"d": 0}, "The size d has to be a whole number from 1 on, not 0."),
        ({"d": 2.5}, "The size d has to be a whole number from 1 on, not 2.5."),
        ({"d": "3"}, "The size d has to be a whole number from 1 on, not '3'."),
    ],
)
def test_a_size_that_does_not_fit(sizes: Any, sentence: str) -> None:
    with pytest.raises(UserError) as refusal:
        explain(rms_norm, right, sizes=sizes)
    assert sentence in str(refusal.value)


def test_inputs_that_are_no_function() -> None:
    drawn: Any = {"x": torch.ones(2, 3)}
    with pytest.raises(UserError, match="is a function, not dict"):
        explain(root, root_backward, inputs=drawn)


def test_inputs_for_which_no_gradient_is_right() -> None:
    def root_of_numbers(x: Annotated[Tensor, "n"]) -> Tensor:
        y = x**0.5
        return y

    def backward(dy: Any, x: Any) -> Any:
        return dy * 0.5 * x**-0.5

    with pytest.raises(UserError) as refusal:
        explain(root_of_numbers, backward)
    said = "`y = x**0.5` gives NaN for some numbers: draw others, by a function for `inputs`."
    assert str(refusal.value).endswith(said)


@pytest.mark.parametrize(
    ("forward", "line", "sentence"),
    [
        (masks_a_row, 2, "`p = scores.softmax(1)` gives NaN for some numbers, because a row has"),
        (divides_by_distances, 2, "`r = sq.sqrt()`: autograd itself makes NaN here"),
    ],
)
def test_what_makes_nan_is_named(forward: Callable[..., Any], line: int, sentence: str) -> None:
    def backward(x: Any) -> Any:
        dx = torch.zeros_like(x)
        return dx

    with pytest.raises(UserError) as refusal:
        explain(forward, backward)
    start = f"{forward.__name__}, line {forward.__code__.co_firstlineno + line}: {sentence}"
    assert str(refusal.value).startswith(start)


def test_a_notebook_shows_the_sentence_alone() -> None:
    with pytest.raises(BadInput) as raised:
        explain(rms_norm, draws_noise)
    assert raised.value._render_traceback_() == [str(raised.value)]
