"""How a forward function's source is read, and which functions are refused."""

from typing import Annotated, Any

import pytest
import torch
from torch import Tensor

from grader.program.forward_program import NotAForwardProgram
from grader.program.parse import body_source, parse_program, read_function

Row = Annotated[Tensor, "n, width"]


def centred(x: Row) -> Tensor:
    """A docstring is not a step."""
    mean = x.mean(0, keepdim=True)
    # a comment between two steps
    difference = x - mean
    loss = (difference**2).sum()
    return loss


def test_body_source_is_the_text_of_the_function() -> None:
    text = body_source(centred)
    assert text.splitlines()[0] == "mean = x.mean(0, keepdim=True)"
    assert "# a comment between two steps" in text
    assert text.endswith("loss = (difference**2).sum()")


def two_targets(x: Row) -> Tensor:
    a, b = x, x
    loss = (a + b).sum()
    return loss


def same_name_twice(x: Row) -> Tensor:
    y = x * 2
    y = y + 1
    return y


def returns_another(x: Row) -> Tensor:
    y = x * 2
    loss = y.sum()  # noqa: F841 - the mistake this example is about
    return y


def loops(x: Row) -> Tensor:
    for _ in range(3):
        x = x * 2
    return x


def without_shape(x: Tensor) -> Tensor:
    loss = x.sum()
    return loss


def returns_an_expression(x: Row) -> Tensor:
    y = x * 2
    return y.sum()


@pytest.mark.parametrize(
    ("function", "line", "sentence"),
    [
        (two_targets, 1, "is not a step: `a, b = x, x` assigns several names. Give each tensor a"),
        (same_name_twice, 2, "is not a step: `y = y + 1` assigns y again."),
        (loops, 1, "is not a step: `for _ in range(3):"),
        (without_shape, 0, "must annotate its input x with its shape"),
        (returns_an_expression, 2, "a forward function ends by returning the name of its last"),
    ],
)
def test_what_is_not_straight_line_code_is_refused_with_its_line_in_the_file(
    function: Any, line: int, sentence: str
) -> None:
    where = f"{function.__name__}, line {function.__code__.co_firstlineno + line}"
    with pytest.raises(NotAForwardProgram) as refusal:
        parse_program(function)
    assert str(refusal.value).startswith(where)
    assert sentence in str(refusal.value)


def step_like_a_gradient(p: Row) -> Tensor:
    dp = p * 2
    loss = dp.sum()
    return loss


def input_like_a_gradient(p: Row, dp: Row) -> Tensor:
    loss = (p * dp).sum()
    return loss


def gradient_arrives(p: Row, dy: Row) -> Tensor:
    y = p * 2
    loss = (dy * y).sum()
    return loss


@pytest.mark.parametrize(
    ("forward", "line", "what"),
    [(step_like_a_gradient, 1, "step"), (input_like_a_gradient, 0, "input")],
)
def test_a_name_is_no_name_of_another_ones_gradient(forward: Any, line: int, what: str) -> None:
    with pytest.raises(NotAForwardProgram) as refusal:
        read_function(forward)
    assert str(refusal.value) == (
        f"{forward.__name__}, line {forward.__code__.co_firstlineno + line}: dp is the name of the "
        f"gradient of p, so give the {what} dp another name."
    )
    assert parse_program(gradient_arrives).arrivals() == {"dy": "y"}


def test_an_exercise_ends_in_its_loss() -> None:
    with pytest.raises(NotAForwardProgram, match=r"_another, line \d+: the last step has to"):
        parse_program(returns_another)


def scaled(x: Row, scale: float = 2.0) -> Any:
    y = x * scale
    z = y.exp()
    return y, z


def test_a_function_may_return_several_names_and_have_constants() -> None:
    program, returned = read_function(scaled)
    assert returned == ("y", "z")
    assert program.inputs == ("x",)
    value = torch.randn(3, 2).double()
    assert torch.equal(program.run({"x": value})["y"], 2 * value)
