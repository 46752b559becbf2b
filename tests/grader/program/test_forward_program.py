"""The forward program: steps, references, VJPs."""

from typing import Annotated, Any

import pytest
import torch
from torch import Tensor

from corpus.readers.lecture_course import ATOMIC
from grader.program.forward_program import NotAForwardProgram, weighed
from grader.program.parse import parse_program, read_function
from grader.program.references import make_reference
from tests.helpers.written_programs import write_program

Row = Annotated[Tensor, "n, width"]


def squares(x: Row, scale: Annotated[Tensor, "width"]) -> Tensor:
    """Twice read: `x` reaches the loss directly and through its mean."""
    n = x.shape[0]
    mean = x.sum(0, keepdim=True) / n
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
    # `n` has the shape of `x` alone.
    assert program.passes == {
        "n": (),
        "mean": ("x",),
        "difference": ("x", "mean"),
        "loss": ("scale", "difference"),
    }
    assert program.readers("x") == ("mean", "difference")


def test_what_follows_from_another_value_is_computed_again() -> None:
    program = parse_program(squares)
    values = program.run({"x": torch.tensor([[1.0], [3.0]]), "scale": torch.ones(1)})
    again = program.rerun(values, "mean", torch.zeros(1, 1))
    assert again["difference"].tolist() == [[1.0], [3.0]]
    assert float(again["loss"]) == 10.0
    assert again["x"] is values["x"]
    assert float(values["loss"]) == 2.0


EPSILON = 1e-3


def test_numbers_from_outside_are_known() -> None:
    def shifted(x: Row, scale: float = 2.0, name: str = "x") -> Tensor:
        y = scale * x + EPSILON
        loss = y.sum() + len(name)
        return loss

    assert parse_program(shifted).numbers() == {"EPSILON": 1e-3, "scale": 2.0}
    assert parse_program(squares).numbers() == {}


@pytest.fixture
def values() -> dict[str, Any]:
    torch.manual_seed(1)
    inputs = {"x": torch.randn(4, 3).double(), "scale": torch.randn(3).double()}
    return parse_program(squares).run(inputs)


@pytest.mark.slow
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
    for instance in program.hidden_instances(seed=3):
        gradients = program.gradients({name: instance.values[name] for name in program.inputs})
        for gradient in ATOMIC.gradients:
            tensor = gradient[1:]
            upstream = {reader: gradients[reader] for reader in program.readers(tensor)}
            found = program.vjp(instance.values, tensor, upstream)
            torch.testing.assert_close(found, gradients[tensor], rtol=1e-9, atol=1e-12)


def masked(x: Annotated[Tensor, "n, n"]) -> Tensor:
    """A mask of ones and zeros is not part of what autograd follows; nor is what is detached."""
    mask = torch.ones(x.shape[0], x.shape[0], dtype=x.dtype).tril()
    largest = x.max().detach()
    shown = mask * (x - largest)
    loss = (shown**2).sum()
    return loss


def test_a_constant_has_the_gradient_of_its_own_branches() -> None:
    program = parse_program(masked)
    x = torch.randn(3, 3).double()
    values, gradients = program.run({"x": x}), program.gradients({"x": x})
    shown = 2 * values["shown"]
    torch.testing.assert_close(gradients["mask"], shown * (x - x.max()))
    torch.testing.assert_close(gradients["largest"], -(shown * values["mask"]).sum())
    torch.testing.assert_close(gradients["x"], shown * values["mask"])


def flat(x: Annotated[Tensor, "n, d"], w: Annotated[Tensor, "d, n"]) -> Tensor:
    turned = x.reshape(w.shape)
    product = turned * w
    loss = product.sum()
    return loss


def test_a_shape_that_is_read_hands_no_gradient_back() -> None:
    program = parse_program(flat)
    assert program.readers("w") == ("product",)
    assert program.descendants("w") == {"product", "loss"}
    assert program.descendants("x") == {"turned", "product", "loss"}
    assert program.between("w", {"product"}) == ["product", "turned", "w"]


def test_the_function_itself_computes_the_loss() -> None:
    program = parse_program(ATOMIC.forward)
    instance = program.hidden_instances(seed=3)[0]
    inputs = [instance.values[name] for name in program.inputs]
    assert torch.equal(ATOMIC.forward(*inputs), instance.values["loss"])


@pytest.mark.parametrize(
    "expression",
    ["x.chunk(2, 1)", "x.max(1)", "[x, 2 * x]", "(len(x), x)", "{'half': x / 2}"],
)
def test_a_step_that_is_several_tensors_is_refused(expression: str) -> None:
    """Each would have a gradient of its own, and a step has one."""
    program = write_program(f"y = x * 2\nparts = {expression}\nloss = y.sum()", {"x": "n, width"})
    x = torch.randn(4, 3).double()
    sentence = (
        f"written, line 2, is not a step: `parts = {expression}` makes several tensors."
        " Give each tensor a line of its own, such as `a = x.chunk(2, 1)[0]` or `a = x[:, :2]`."
    )
    for use in (program.run, program.gradients):
        with pytest.raises(NotAForwardProgram) as refusal:
            use({"x": x})
        assert str(refusal.value) == sentence


def test_a_step_may_be_several_numbers() -> None:
    program = write_program(
        "shape = x.shape\naxes = [0, 1]\nloss = x.sum(axes) / shape[0]", {"x": "n, m"}
    )
    assert program.run({"x": torch.ones(4, 3)})["loss"] == 3


def scaled(x: Row, scale: float = 2.0) -> Any:
    y = x * scale
    z = y.exp()
    return y, z


def test_a_program_may_end_in_what_it_returns_weighed() -> None:
    program, returned = read_function(scaled)
    ends = weighed(program, {name: f"d{name}" for name in returned})
    instance = ends.instance({"n": 4, "width": 3}, 1, torch.float64)
    x, dy, dz = (instance.values[name] for name in ends.inputs)
    assert ends.arriving == {"dy": "y", "dz": "z"}
    assert ends.readers("z") == ("loss",)
    gradients = ends.gradients({"x": x, "dy": dy, "dz": dz})
    torch.testing.assert_close(gradients["x"], 2 * dy + 2 * (2 * x).exp() * dz)
    # For a local check, what arrives is what the backward pass is handed.
    reference = make_reference(ends, instance, 2)
    assert reference.cotangents["y"] is instance.values["dy"]
