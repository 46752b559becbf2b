"""The lecture's `cmp`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from corpus.readers.places import PROJECT
from grader.program.compare import (
    FLOAT64_TOLERANCE,
    NO_GRAD,
    NO_TENSOR,
    SWAPPED,
    agrees,
    cmp,
    compare,
    describe_type,
    relative_difference,
    relative_differences,
)

REFERENCE = torch.tensor([[1.0, -2.0], [0.5, 4.0]])


def tensor_with_grad(grad: Tensor = REFERENCE) -> Tensor:
    tensor = torch.zeros_like(grad, requires_grad=True)
    tensor.grad = grad.clone()
    return tensor


def test_the_lectures_line(capsys: pytest.CaptureFixture[str]) -> None:
    comparison = cmp("logits", REFERENCE.clone(), tensor_with_grad())
    line = "logits          | exact: True  | approximate: True  | maxdiff: 0.0\n"
    assert capsys.readouterr().out == line
    assert (comparison.exact, comparison.approximate, comparison.maxdiff) == (True, True, 0.0)


def test_maxdiff_is_the_largest_absolute_difference() -> None:
    comparison = compare(
        "logits", REFERENCE + torch.tensor([[0.0, -0.25], [0.125, 0.0]]), REFERENCE
    )
    assert (comparison.exact, comparison.approximate) == (False, False)
    assert comparison.maxdiff == 0.25


def test_rounding_is_approximate_and_not_exact() -> None:
    comparison = compare("logits", REFERENCE * (1 + 1e-6), REFERENCE)
    assert (comparison.exact, comparison.approximate) == (False, True)


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("value", "line", "sentence"),
    [
        (..., "to do", ""),
        (None, "to do", ""),
        (
            3.0,
            "this gradient is a float, but a gradient is a tensor, here of shape (2, 2).",
            "",
        ),
        (
            [1, 2],
            "this gradient is a list, but a gradient is a tensor, here of shape (2, 2).",
            "",
        ),
        (
            REFERENCE[0],
            "exact: False | approximate: False | maxdiff: -",
            "this gradient has shape (2,), but a gradient has its tensor's shape, (2, 2).",
        ),
        (
            REFERENCE[:1],
            "exact: False | approximate: False | maxdiff: -",
            "this gradient has shape (1, 2), but a gradient has its tensor's shape, (2, 2).",
        ),
        (
            torch.tensor([[NAN, INF], [NAN, 4.0]]),
            "exact: False | approximate: False | maxdiff: -",
            "this gradient has 2 NaN and 1 infinite among its 4 values; a right gradient has none.",
        ),
        (
            torch.tensor([[1, -2], [0, 4]]),
            "exact: False | approximate: False | maxdiff: -",
            "this gradient has dtype torch.int64,"
            " but a gradient has its tensor's floating-point dtype.",
        ),
        (
            REFERENCE.to(torch.complex64),
            "exact: False | approximate: False | maxdiff: -",
            "this gradient has dtype torch.complex64,"
            " but a gradient has its tensor's floating-point dtype.",
        ),
    ],
)
def test_what_is_wrong_is_said(
    value: object, line: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    comparison = cmp("x", value, tensor_with_grad())
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == f"x               | {line}"
    assert [text.strip(" |") for text in rest] == ([sentence] if sentence else [])
    assert not comparison.exact
    assert not comparison.approximate


@pytest.mark.parametrize("value", [NAN, INF])
def test_what_is_no_number_agrees_with_nothing(value: float) -> None:
    tensor = torch.tensor([1.0, value], dtype=torch.float64)
    assert not agrees(tensor, tensor)
    assert not agrees(torch.ones_like(tensor), tensor)
    assert not agrees(tensor, torch.ones_like(tensor))


@pytest.mark.parametrize("odd", [torch.ones(2), torch.ones(2, 2).double(), torch.ones(0).double()])
def test_side_by_side_values_agree_as_each_does_alone(odd: Tensor) -> None:
    right = torch.tensor([2.0, -8.0], dtype=torch.float64)
    values = [right, right + 7e-6, right + 9e-6, right * NAN, right * INF, right.flip(0)]
    pairs = [(value, right, floor) for value in values for floor in (0.0, 10.0)]
    pairs += [(right, right * INF, 0.0), (right * INF, right * INF, 0.0)]
    for some in ([], pairs, [*pairs, (odd, right, 0.0), (odd, odd.double(), 0.0)]):
        assert relative_differences(some) == [relative_difference(*pair) for pair in some]
    near = [apart <= FLOAT64_TOLERANCE for apart in relative_differences(pairs)]
    assert [near.count(agree) for agree in (True, False)] == [5, 9]


def test_nan_on_both_sides_is_no_match() -> None:
    nothing = torch.full((2, 2), NAN)
    assert compare("x", nothing, nothing).approximate is False
    assert compare("x", REFERENCE, nothing).approximate is False


def test_a_transposed_gradient_is_recognised() -> None:
    comparison = compare("W", torch.zeros(3, 2), torch.zeros(2, 3))
    assert comparison.problem.endswith("Is it transposed?")


@pytest.mark.filterwarnings("error")
def test_without_a_gradient_of_autograd_the_reason_is_said_in_one_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    leaf = torch.zeros(2, requires_grad=True)
    inner = leaf * 2
    ours = inner * 3  # made from the notebook's tensors, it needs a gradient as they do
    for value, tensor, said in (
        (ours, inner, NO_GRAD),
        (ours.detach(), inner, NO_GRAD),
        (ours, leaf, NO_GRAD),
        (ours, 5, NO_TENSOR.format(kind="an int")),
        (ours, "inner", NO_TENSOR.format(kind="a str")),
        (inner, ours.detach(), SWAPPED),
    ):
        cmp("inner", value, tensor)  # type: ignore[arg-type]
        assert capsys.readouterr().out == f"inner           | {said}\n"
    inner.retain_grad()
    inner.sum().backward()  # type: ignore[no-untyped-call]
    cmp("inner", inner, ours)
    assert SWAPPED in capsys.readouterr().out


@pytest.mark.parametrize(("value", "approximate"), [(-8, True), (-8.0, True), (7, False)])
def test_a_number_stands_for_a_tensor_of_a_single_number(value: float, approximate: bool) -> None:
    comparison = cmp("ds", value, tensor_with_grad(torch.tensor(-8.0)))
    assert comparison.approximate is approximate
    assert comparison.problem == ""


@pytest.mark.parametrize(("value", "grad"), [(-8, torch.tensor([-8.0])), (True, torch.tensor(1.0))])
def test_elsewhere_a_number_is_no_gradient(value: object, grad: Tensor) -> None:
    assert "but a gradient is a tensor" in cmp("ds", value, tensor_with_grad(grad)).problem


def test_a_small_gradient_is_no_noise_where_it_is_not_zero_by_structure() -> None:
    reference = torch.tensor([1e-12, -3e-12])
    for factor, approximate in ((1.0, True), (1.0001, True), (0.0, False), (2.0, False)):
        found = compare("x", factor * reference, reference, may_be_zero=False)
        assert found.approximate is approximate


def test_a_gradient_of_rounding_noise_is_right_when_it_is_as_small() -> None:
    noise = torch.randn(64) * 3e-9
    assert compare("b1", torch.randn(64) * 3e-9, noise).approximate
    assert not compare("b1", torch.randn(64) * 3e-3, noise).approximate


@pytest.mark.parametrize("empty", [(0,), (0, 3)])
def test_an_empty_gradient(empty: tuple[int, ...]) -> None:
    assert compare("x", torch.zeros(empty), torch.zeros(empty)).exact


RIGHT_GRADIENTS = PROJECT / "tests" / "helpers" / "right_gradients.py"


def train_with_right_gradients(project: Path, steps: int, **environment: str) -> list[str]:
    """The last line of that script: comparisons, false alarms, CPU capability."""
    result = subprocess.run(
        [sys.executable, RIGHT_GRADIENTS, str(steps)],
        env={**os.environ, "PYTHONPATH": str(project), **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    return result.stdout.splitlines()[-1].split(", ")


@pytest.mark.slow
@pytest.mark.parametrize("capability", ["default", "avx2", "avx512"])
def test_right_gradients_are_approximate_at_any_cpu_capability(
    capability: str, project: Path
) -> None:
    """tanh's backward rounds differently with and without fused multiply-add."""
    comparisons, alarms, used = train_with_right_gradients(
        project, 20, ATEN_CPU_CAPABILITY=capability
    )
    assert (comparisons, alarms) == ("180 comparisons", "0 false alarms")
    # A machine that lacks the wider instructions falls back; every machine has the default.
    assert capability != "default" or used == "DEFAULT"


@pytest.mark.slow
def test_two_thousand_training_steps_of_right_gradients_raise_no_alarm(project: Path) -> None:
    comparisons, alarms, _ = train_with_right_gradients(project, 2000)
    assert (comparisons, alarms) == ("18000 comparisons", "0 false alarms")


@pytest.mark.parametrize("value", [len, "".join, str.join, lambda: 0])
def test_a_function_is_called_so_whoever_wrote_it(value: object) -> None:
    said = describe_type("dh", type(value).__name__)
    assert said == (
        "dh is a function, but a gradient is a tensor. Brackets behind its name call it."
    )
