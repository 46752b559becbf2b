"""The forward program: steps, references, VJPs."""

from typing import Annotated, Any

import pytest
import torch
from torch import Tensor

from grader.program.exercises import ATOMIC
from grader.program.forward_program import NotAForwardProgram, body_source, parse_program
from grader.program.instances import make_hidden_instances

Row = Annotated[Tensor, "n, width"]


def squares(x: Row, scale: Annotated[Tensor, "width"]) -> Tensor:
    """Twice read: `x` reaches the loss directly and through its mean."""
    n = x.shape[0]
    mean = x.sum(0, keepdim=True) / n
    # a comment between two steps
    difference = x - mean
    loss = (scale * difference**2).sum()
    return loss


def test_steps_know_what_they_read() -> None:
    program = parse_program(squares)
    assert program.inputs == ("x", "scale")
    assert [step.name for step in program.steps] == ["n", "mean", "difference", "loss"]
    assert [step.reads for step in program.steps] == [
        ("x",),
        ("x", "n"),
        ("x", "mean"),
        ("scale", "difference"),
    ]
    assert program.loss == "loss"
    assert program.readers("x") == ("n", "mean", "difference")


def test_body_source_is_the_text_of_the_function() -> None:
    text = body_source(squares)
    assert text.splitlines()[0] == "n = x.shape[0]"
    assert "# a comment between two steps" in text
    assert text.endswith("loss = (scale * difference**2).sum()")


@pytest.fixture
def values() -> dict[str, Any]:
    torch.manual_seed(1)
    inputs = {"x": torch.randn(4, 3).double(), "scale": torch.randn(3).double()}
    return parse_program(squares).run(inputs)


def test_gradients_are_autograds(values: dict[str, Any]) -> None:
    gradients = parse_program(squares).gradients({name: values[name] for name in ("x", "scale")})
    expected = 2 * values["scale"] * values["difference"]
    torch.testing.assert_close(gradients["difference"], expected)
    # The mean is subtracted from every row, and the rows' differences sum to zero.
    torch.testing.assert_close(gradients["mean"], torch.zeros(1, 3).double())
    torch.testing.assert_close(gradients["x"], expected)
    assert gradients["loss"] == 1
    assert "n" not in gradients


def test_gradients_do_not_depend_on_the_callers_grad_mode(values: dict[str, Any]) -> None:
    """A notebook's cell may call `check` under `torch.no_grad()`."""
    program = parse_program(squares)
    expected, local = program.gradients(values), program.vjp(values, "x", {})
    with torch.no_grad():
        torch.testing.assert_close(program.gradients(values)["x"], expected["x"])
        torch.testing.assert_close(program.vjp(values, "x", {}), local)


def test_vjp_stops_at_the_gradients_that_are_given(values: dict[str, Any]) -> None:
    program = parse_program(squares)
    given = torch.randn(4, 3).double()
    both = {"difference": given, "mean": torch.ones(1, 3).double()}
    torch.testing.assert_close(program.vjp(values, "x", both), given + 1 / 4)
    # Where only one is given, the path through the mean is followed until it meets that one.
    only_difference = program.vjp(values, "x", {"difference": given})
    torch.testing.assert_close(only_difference, given - given.mean(0))
    torch.testing.assert_close(program.vjp(values, "x", {}), program.gradients(values)["x"])


def test_branches_add_up_to_the_vjp(values: dict[str, Any]) -> None:
    program = parse_program(squares)
    upstream = {name: torch.randn(values[name].shape).double() for name in ("difference", "mean")}
    branches = [program.vjp(values, "x", upstream, through) for through in ("difference", "mean")]
    torch.testing.assert_close(branches[0], upstream["difference"])
    torch.testing.assert_close(sum(branches), program.vjp(values, "x", upstream))


def test_every_local_vjp_composes_to_the_gradient() -> None:
    """With the true gradients as upstreams, each local VJP is the true gradient."""
    program = parse_program(ATOMIC.forward)
    for instance in make_hidden_instances(program, seed=3):
        gradients = program.gradients({name: instance.values[name] for name in program.inputs})
        for gradient in ATOMIC.gradients:
            tensor = gradient[1:]
            upstream = {reader: gradients[reader] for reader in program.readers(tensor)}
            found = program.vjp(instance.values, tensor, upstream)
            torch.testing.assert_close(found, gradients[tensor], rtol=1e-9, atol=1e-12)


def test_the_function_itself_computes_the_loss() -> None:
    program = parse_program(ATOMIC.forward)
    instance = make_hidden_instances(program, seed=3)[0]
    inputs = [instance.values[name] for name in program.inputs]
    assert torch.equal(ATOMIC.forward(*inputs), instance.values["loss"])


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


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (two_targets, "two_targets, line 2, is not a step: `a, b = x, x`."),
        (same_name_twice, "same_name_twice, line 3, is not a step: `y = y + 1`."),
        (returns_another, "returns_another must end by returning the name its last step assigns"),
        (loops, "loops, line 2, is not a step"),
        (without_shape, "without_shape must annotate its input x with its shape"),
    ],
)
def test_what_is_not_straight_line_code_is_refused(function: Any, sentence: str) -> None:
    with pytest.raises(NotAForwardProgram) as refusal:
        parse_program(function)
    assert sentence in str(refusal.value)
