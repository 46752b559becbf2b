"""Equal wrong values are known as equal, whatever code they come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import pytest
import torch
from torch import Tensor

from corpus.readers.exercise_text import right_answers
from corpus.readers.lecture_course import ATOMIC
from grader.execution.evidence import Observed, Value
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.grading.judge import judge
from grader.grading.wrong_value import LEVELS, MOST_CELLS, wrong_value
from grader.program.parse import parse_program
from grader.program.references import SEED, References, make_references, prepare
from grader.verdict import Outcome, WrongValue, unpack_map
from tests.helpers.verdicts import answer_cells

LECTURE = right_answers()["lecture"]
LINES = {
    "dbnvar": "dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv",
    "dlogits": "dlogits = dnorm_logits.clone()",
}
REFERENCES = prepare(ATOMIC)

Found = Callable[..., WrongValue | None]
Index = tuple[int, int]


@pytest.fixture
def found(runner: Runner) -> Found:
    """What is kept of a gradient whose line in the lecture's answer is replaced."""

    def find(
        line: str, name: str = "dbnvar", before: str = LECTURE, seed: int = SEED
    ) -> WrongValue | None:
        assert LINES[name] in before
        source = before.replace(LINES[name], line)
        verdicts, _ = grade_exercise(ATOMIC, answer_cells(source), runner, seed, wary=True)
        (verdict,) = (verdict for verdict in verdicts if verdict.name == name)
        return verdict.wrong

    return find


def digest(wrong: WrongValue | None) -> str:
    assert wrong is not None
    return wrong.digest


FORGOTTEN_HALF = (
    "dbnvar = -((bnvar + 1e-5) ** -1.5) * dbnvar_inv",
    "dbnvar = -bnvar_inv**3 * dbnvar_inv",
    "dbnvar = -dbnvar_inv / (torch.sqrt(bnvar + 1e-5) * (bnvar + 1e-5))",
    "t = torch.exp(-1.5 * torch.log(bnvar + 1e-5))\ndbnvar = 0 - t * dbnvar_inv",
)
FORGOTTEN_SIGN = "dbnvar = 0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv"


def test_equal_values_of_different_code_have_one_digest(found: Found) -> None:
    digests = {digest(found(line)) for line in FORGOTTEN_HALF}
    assert len(digests) == 1
    assert digests.pop().startswith("value:")


def test_other_values_have_others(found: Found) -> None:
    assert digest(found(FORGOTTEN_HALF[0])) != digest(found(FORGOTTEN_SIGN))


def test_another_hidden_network_has_another_digest(found: Found) -> None:
    assert digest(found(FORGOTTEN_SIGN)) != digest(found(FORGOTTEN_SIGN, seed=7))


def test_what_is_handed_down_makes_no_difference(found: Found) -> None:
    wrong_above = LECTURE.replace("dh = dlogits @ W2.T", "dh = 3 * dlogits @ W2.T")
    assert wrong_above != LECTURE
    assert digest(found(FORGOTTEN_SIGN)) == digest(found(FORGOTTEN_SIGN, before=wrong_above))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("dbnvar = torch.full_like(bnvar, float('nan'))", "nan"),
        ("dbnvar = bnvar / 0", "nan"),
        ("dbnvar = (dbnvar_inv * bnvar).squeeze(0)", "shape:64"),
        ("dbnvar = [1, 2]", "type:list"),
        ("dbnvar = dbnvar_inv.long()", "dtype:int64"),
        ("dbnvar = bnvar.to(torch.complex64)", "type:tensor of dtype torch.complex64"),
        ("dbnvar = bnvar.sum()", "shape:"),
    ],
)
def test_what_is_no_value_says_what_it_is(line: str, said: str, found: Found) -> None:
    assert digest(found(line)) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("dbnvar + float('nan')", "nan"),
        ("torch.where(dbnvar > 0, torch.inf, dbnvar)", "nan"),
        ("None", "missing"),
        ("dbnvar.tolist()", "type:list"),
        ("dbnvar.long()", "dtype:int64"),
        ("dbnvar.view(64)", "shape:64"),
        ("2 * dbnvar", ""),
    ],
)
def test_what_is_no_value_on_the_notebooks_batch_alone_says_so_too(
    value: str, said: str, found: Found
) -> None:
    line = f"{LINES['dbnvar']}\nif n == 32:\n    dbnvar = {value}"
    assert digest(found(line)) == said


def test_what_raises_and_what_is_right_have_none(found: Found) -> None:
    assert found(LINES["dbnvar"]) is None
    assert found("dbnvar = dbnvar_inv @ bnvar") is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", ["dbnvar = (", "dbnvar = 1 / 0", "dbnvar = bnvar.expand(10**9, 64)"]
)
def test_what_has_no_value_is_known_by_what_was_said(line: str, found: Found) -> None:
    assert found(line) is None


def test_numbers_too_large_to_add_up_are_numbers(found: Found) -> None:
    assert digest(found("dbnvar = 1e308 * (bnvar + 1)")).startswith("value:")


def test_nothing_is_kept_where_no_class_is_graded(runner: Runner) -> None:
    source = LECTURE.replace(LINES["dbnvar"], FORGOTTEN_SIGN)
    verdicts, _ = grade_exercise(ATOMIC, answer_cells(source), runner)
    assert [v.name for v in verdicts if v.outcome is Outcome.FAIL] == ["dbnvar"]
    assert all(verdict.wrong is None for verdict in verdicts)


def map_of(
    change: Callable[[Tensor], Tensor],
    name: str = "dlogits",
    references: References = REFERENCES,
) -> list[str]:
    """The map of a value that is the right one, changed."""
    tensor = name[1:]
    readers = frozenset(references.program.readers(tensor))
    item = Observed(
        name,
        Value(change(references.lecture_gradients[tensor])),
        tuple(Value(change(right)) for right in references.gradients(tensor)),
        tuple(Value(change(right)) for right in references.local_vjps(tensor, readers)),
        reads=readers,
    )
    (verdict,) = judge([item], references)
    wrong = wrong_value(item, verdict, references)
    assert wrong is not None
    return unpack_map(wrong.map)


def test_the_map_shows_where_and_on_which_side() -> None:
    def change(right: Tensor) -> Tensor:
        moved = right.clone()
        moved[2] += 1.0
        moved[3, 0] -= 0.2  # a fifth of the largest error: one shade of four
        moved[4, 1] = float("nan")
        return moved

    # NaN beside numbers: the verdict is an error, the map is there all the same
    cells = map_of(change)
    assert (len(cells), {len(row) for row in cells}) == (32, {27})
    assert cells[2] == str(2 * LEVELS) * 27
    assert cells[3] == str(LEVELS - 1) + str(LEVELS) * 26
    assert cells[4] == str(LEVELS) + "9" + str(LEVELS) * 25
    assert {row for number, row in enumerate(cells) if number not in (2, 3, 4)} == {
        str(LEVELS) * 27
    }


def test_rounding_has_no_shade() -> None:
    def change(right: Tensor) -> Tensor:
        moved = right * (1 + 1e-7)
        moved[0] += 0.01
        return moved

    cells = map_of(change)
    assert set(cells[0]) == {str(2 * LEVELS)}
    assert set("".join(cells[1:])) == {str(LEVELS)}


def scaled(x: Annotated[Tensor, "n, width"], gain: Annotated[Tensor, "width"]) -> Tensor:
    """A program whose gradients can be as large as one likes."""
    y = x * gain
    loss = (y**2).sum()
    return loss


@pytest.mark.parametrize("place", [(0, 0), (123, 7), (199, 9)])
def test_a_large_gradient_has_a_smaller_map_with_its_largest_errors(place: Index) -> None:
    references = make_references(parse_program(scaled), {"n": 200, "width": 10}, 7)

    def change(right: Tensor) -> Tensor:
        moved = right.clone()
        at = place if len(right) == 200 else (0, 0)  # the hidden networks have other sizes
        moved[at] -= 1000.0
        return moved

    cells = map_of(change, "dx", references)
    assert (len(cells), {len(row) for row in cells}) == (MOST_CELLS, {10})
    off = [(r, c) for r, row in enumerate(cells) for c, cell in enumerate(row) if cell != "4"]
    assert off == [(place[0] * MOST_CELLS // 200, place[1])]
    assert cells[off[0][0]][off[0][1]] == "0"


def test_axes_before_the_last_are_rows() -> None:
    cells = map_of(lambda right: right + 1.0, "demb")
    assert cells == ["8" * 10] * 96


def test_another_shape_has_no_map() -> None:
    assert map_of(lambda right: right.sum(-1)) == []


def test_one_digit_more_or_less_of_float64_changes_no_digest() -> None:
    """Noise of the size of rounding, many times: no entry may lie on an edge."""
    generator = torch.Generator().manual_seed(3)
    tensor = "logits"
    readers = frozenset(REFERENCES.program.readers(tensor))

    def digest_of(noise: float) -> str:
        def noisy(right: Tensor) -> Value:
            # Halves, quarters and zeros: values that plain rounding to some digits would split.
            grid = (2 * right).mul(8).round().div(8)
            return Value(grid * (1 + noise * torch.randn(grid.shape, generator=generator)))

        item = Observed(
            "dlogits",
            Value(),
            tuple(map(noisy, REFERENCES.gradients(tensor))),
            tuple(map(noisy, REFERENCES.local_vjps(tensor, readers))),
            reads=readers,
        )
        (verdict,) = judge([item], REFERENCES)
        return digest(wrong_value(item, verdict, REFERENCES))

    assert len({digest_of(1e-14) for _ in range(200)}) == 1
    assert digest_of(0.0) != digest_of(1e-2)
