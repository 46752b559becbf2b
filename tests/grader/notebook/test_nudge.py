"""One number of a tensor, moved both ways."""

from collections.abc import Mapping
from typing import Annotated, Any

import pytest
import torch
from torch import Tensor

from corpus.readers.lecture_course import ATOMIC
from grader.notebook.nudge import Nudge, describe, move_number, own_slope, picture, read_index
from grader.notebook.running_notebook import NotInTheLesson
from grader.program.parse import parse_program
from grader.program.references import References, make_references, prepare

REFERENCES = prepare(ATOMIC)
INPUTS = {name: REFERENCES.lecture.values[name] for name in REFERENCES.program.inputs}


def nudge(gradient: str, *index: int) -> Nudge:
    return move_number(REFERENCES, INPUTS, gradient, index)


def middle(gradient: str) -> tuple[int, ...]:
    return tuple(length // 2 for length in REFERENCES.lecture_gradients[gradient[1:]].shape)


@pytest.mark.parametrize("gradient", ATOMIC.gradients)
def test_the_slope_found_is_autograds(gradient: str) -> None:
    moved = nudge(gradient, *middle(gradient))
    assert moved.found == pytest.approx(moved.autograd, rel=1e-4, abs=1e-9)
    reference = REFERENCES.lecture_gradients[gradient[1:]][middle(gradient)]
    assert moved.agrees(float(reference))
    assert "kink" not in describe(moved, float(reference))


def test_the_three_slopes_are_set_side_by_side() -> None:
    moved = nudge("dW2", 3, 5)
    first, *slopes, last = describe(moved, 2 * moved.autograd).splitlines()
    assert first == f"W2[3, 5] = {moved.number:.4g}, moved by ±1e-05".replace("-0", "−0", 1)
    assert [line[:12].strip() for line in slopes] == ["slope found", "autograd", "yours"]
    assert slopes[0].split()[-1] == slopes[1].split()[-1]
    assert last == "Yours is 2 times autograd's."
    assert describe(moved, moved.autograd).endswith("\nAll three agree.")
    nearly = describe(moved, 1.0003 * moved.autograd)
    assert nearly.endswith("\nYours is 1.0003 times autograd's.")
    assert describe(moved, -moved.autograd).endswith("\nYours is −1 times autograd's.")
    assert describe(moved, float("nan")).endswith("\nYours is no finite number.")
    assert len(describe(moved, None).splitlines()) == 3


def test_a_tensor_in_the_middle_is_moved_and_what_follows_is_computed_again() -> None:
    moved = nudge("dprobs", 2, int(INPUTS["Yb"][2]))
    probs = float(REFERENCES.lecture.values["probs"][2, INPUTS["Yb"][2]])
    assert moved.number == pytest.approx(probs, rel=1e-5)
    assert moved.found == pytest.approx(-1 / (32 * probs), rel=1e-4)


@pytest.mark.parametrize(
    ("gradient", "through"), [("db1", "hprebn"), ("dlogit_maxes", "norm_logits")]
)
def test_a_gradient_that_is_zero_by_structure_is_explained(gradient: str, through: str) -> None:
    moved = nudge(gradient, *(0 for _ in middle(gradient)))
    assert f"back to it through {through} cancels" in describe(moved, 0.0)
    assert describe(moved, 1.0).endswith("\nYours is not zero.")


def test_a_number_that_the_batch_does_not_read() -> None:
    inputs = INPUTS | {"Xb": INPUTS["Xb"].clamp(max=25)}
    said = describe(move_number(REFERENCES, inputs, "dC", (26, 0)), 0.0)
    assert said.endswith("\nOn this batch the loss does not depend on this number.")


Row = Annotated[Tensor, "n, d"]


def corner(x: Row, unused: Row) -> Tensor:
    loss = (x * x.detach()).sum()
    return loss


def of(function: Any, **changed: Tensor) -> tuple[References, Mapping[str, Tensor]]:
    references = make_references(parse_program(function), {"n": 3, "d": 4}, 1)
    drawn = references.program.instance({"n": 3, "d": 4}, 1, torch.float32).values
    return references, {name: drawn[name] for name in references.program.inputs} | changed


def test_where_autograd_and_moving_the_number_disagree() -> None:
    said = describe(move_number(*of(corner), "dx", (0, 0)), None)
    assert "Autograd gives another slope than moving the number" in said


def logarithm(x: Row) -> Tensor:
    loss = x.log().sum()
    return loss


def test_near_the_end_of_what_can_be_computed() -> None:
    inputs = {"x": torch.full((3, 4), 1e-6)}
    moved = move_number(of(logarithm)[0], inputs, "dx", (1, 1))
    assert moved.step < 1e-6
    assert moved.found == pytest.approx(1e6, rel=1e-3)


def test_a_loss_that_is_no_number_has_no_slope() -> None:
    with pytest.raises(NotInTheLesson, match="The loss is nan, so it has no slope"):
        move_number(of(logarithm)[0], {"x": -torch.ones(3, 4)}, "dx", (1, 1))


def scalar(t: Annotated[Tensor, ""], x: Row) -> Tensor:
    loss = (t * x).sum() ** 2
    return loss


def test_a_scalar_has_no_indices() -> None:
    assert read_index("dt", (), ()) == ()
    moved = move_number(*of(scalar), "dt", ())
    assert moved.place == "t"
    assert moved.agrees(moved.found)


@pytest.mark.parametrize("given", [(3, 5), ([3, 5],), ((-24, -5),), (torch.tensor(3), 5)])
def test_indices_as_torch_takes_them(given: tuple[Any, ...]) -> None:
    assert read_index("dC", (27, 10), given) == (3, 5)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((3,), 'dC has shape (27, 10), so one of its numbers has 2 indices: nudge("dC", 0, 0).'),
        ((3, 5, 0), "dC has shape (27, 10), so one of its numbers has 2 indices: "),
        ((27, 0), "index 27 is out of range in dimension 0, which goes from 0 to 26."),
        ((0, -11), "index -11 is out of range in dimension 1, which goes from 0 to 9."),
        ((1.5, 0), 'Indices are whole numbers; dC has shape (27, 10): nudge("dC", 0, 0).'),
        ((slice(None), 0), "Indices are whole numbers; "),
    ],
)
def test_indices_that_name_no_number(given: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(NotInTheLesson) as caught:
        read_index("dC", (27, 10), given)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("value", "slope", "problem"),
    [
        (None, None, "dW2 has no value yet, so there is no slope of yours."),
        (..., None, "dW2 has no value yet, so there is no slope of yours."),
        (2.0, None, "dW2 is a float, but a gradient is a tensor, here of shape (64, 27)."),
        (torch.ones(27, 64), None, "dW2 has shape (27, 64), but a gradient has its tensor's shape"),
        (torch.full((64, 27), 2.5), 2.5, ""),
    ],
)
def test_the_students_slope_or_why_there_is_none(
    value: object, slope: float | None, problem: str
) -> None:
    found, said = own_slope(nudge("dW2", 3, 5), value, (64, 27))
    assert found == slope
    assert said.startswith(problem) if problem else not said


@pytest.mark.slow
@pytest.mark.parametrize("yours", [None, 0.0, 1e9, float("nan")])
def test_the_picture_has_words_and_stays_readable(yours: float | None) -> None:
    moved = nudge("dW2", 3, 5)
    drawn = picture(moved, yours)
    assert "as W2[3, 5] moves, as a curve" in drawn.alt
    assert ("yours" in drawn.alt) is (yours is not None)
    # However wrong a slope is, the curve fills a good part of the picture.
    low, high = drawn.figure.axes[0].get_ylim()
    assert high - low <= 7 * max(map(abs, moved.losses))
    assert len(drawn.png()) > 5_000
