"""A helper line is blamed where it is wrong, and left alone where it is right."""

from __future__ import annotations

import pytest

from corpus.readers.lecture_course import FUSED_BATCHNORM, TRAINING
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.program.exercises import Exercise
from grader.verdict import Check, Outcome, Verdict

LINES = {
    "dbnraw": "dbnraw = bngain * dhpreact",
    "dbnvar_inv": "dbnvar_inv = (dbnraw * (hprebn - bnmean)).sum(0, keepdim=True)",
    "dbnvar": "dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv",
    "dbnmean": "dbnmean = -bnvar_inv * dbnraw.sum(0, keepdim=True)",
    "dhprebn": (
        "dhprebn = dbnraw * bnvar_inv + dbnmean / n + dbnvar * 2 / (n - 1) * (hprebn - bnmean)"
    ),
}
"""The three terms of a batch normalisation, by way of gradients that nobody asks for."""


def judged(runner: Runner, exercise: Exercise, gradient: str, code: str) -> Verdict:
    cell = AnswerCell(f"{exercise.prefix}-cell", code)
    verdicts, _ = grade_exercise(exercise, [cell], runner)
    return next(verdict for verdict in verdicts if verdict.name == gradient)


@pytest.mark.parametrize(
    ("changes", "line", "said"),
    [
        (
            {"dbnvar": "dbnvar = 0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv"},
            3,
            "`0.5` has the wrong sign here.",
        ),
        (
            {"dbnmean": "dbnmean = bnvar_inv * dbnraw.sum(0, keepdim=True)"},
            4,
            "`dbnmean` has the wrong sign.",
        ),
        (
            {"dbnvar": "dbnvar = -((bnvar + 1e-5) ** -1.5) * dbnvar_inv"},
            3,
            "`dbnvar` is 2 times what it should be.",
        ),
        (
            {"dbnvar_inv": "dbnvar_inv = (dbnraw * (bnmean - hprebn)).sum(0, keepdim=True)"},
            2,
            "The two sides of `bnmean - hprebn` stand in the wrong order.",
        ),
        # No edit is known that mends it; it is this line all the same.
        (
            {"dbnmean": "dbnmean = -bnvar_inv * (dbnraw.cos() + dbnraw**3).sum(0, keepdim=True)"},
            4,
            "`dbnmean` is not the gradient of `bnmean`.",
        ),
        # Of two wrong helpers the first is to be mended first.
        (
            {
                "dbnraw": "dbnraw = bngain + dhpreact",
                "dbnmean": "dbnmean = bnvar_inv * dbnraw.sum(0, keepdim=True)",
            },
            1,
            "`+` is not what should join the two sides of `bngain + dhpreact`.",
        ),
        # Where the last line is the wrong one, none of the helpers is.
        (
            {"dhprebn": LINES["dhprebn"].replace("(n - 1)", "n")},
            5,
            "`n` is not quite the number that belongs here.",
        ),
    ],
)
def test_the_line_that_is_wrong_is_named(
    changes: dict[str, str], line: int, said: str, runner: Runner
) -> None:
    found = judged(runner, TRAINING, "dhprebn", "\n".join({**LINES, **changes}.values()))
    assert found.outcome is Outcome.FAIL
    assert found.place is not None
    assert (found.place.line, found.diagnosis[0].message) == (line, said)


@pytest.mark.slow
def test_a_helper_line_is_named_beside_another_mistake(runner: Runner) -> None:
    wrong = {"dbnvar": "dbnvar = 0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv"}
    wrong["dhprebn"] = LINES["dhprebn"].replace("dbnmean / n", "dbnmean.cos()")
    found = judged(runner, TRAINING, "dhprebn", "\n".join({**LINES, **wrong}.values()))
    assert found.place is not None
    assert (found.place.line, found.diagnosis[0].message) == (3, "`0.5` has the wrong sign here.")


def test_a_helper_of_another_meaning_is_not_blamed(runner: Runner) -> None:
    """A name is no promise: what is right under it is not said to be wrong."""
    lines = {**LINES, "dbnmean": "dbnmean = -bnvar_inv * dbnraw.mean(0, keepdim=True)"}
    lines["dhprebn"] = LINES["dhprebn"].replace("dbnmean / n", "dbnmean")
    right = judged(runner, TRAINING, "dhprebn", "\n".join(lines.values()))
    assert right.local_check is Check.RIGHT
    lines["dhprebn"] = lines["dhprebn"].replace("+ dbnvar", "- dbnvar")
    found = judged(runner, TRAINING, "dhprebn", "\n".join(lines.values()))
    assert found.place is not None
    assert found.place.line == 5
    assert "sign" in found.diagnosis[0].message


@pytest.mark.parametrize("end", ["", "; t = dvar * 2 / (n - 1) * (mu - hprebn)"])
def test_a_difference_the_wrong_way_round_is_no_wrong_sign(end: str, runner: Runner) -> None:
    last = "t" if end else "dvar * 2 / (n - 1) * (mu - hprebn)"
    source = f"s = dxhat * (var + 1e-5) ** -0.5{end}\ndhprebn = s + dmu / n + {last}"
    found = judged(runner, FUSED_BATCHNORM, "dhprebn", source)
    said = "The two sides of `mu - hprebn` stand in the wrong order."
    assert [one.message for one in found.diagnosis] == [said]


def test_a_branch_that_carries_nothing_is_not_missed(runner: Runner) -> None:
    found = judged(runner, FUSED_BATCHNORM, "dmu", "dmu = -n * (var + 1e-5) ** -0.5")
    assert [one.message for one in found.diagnosis] == ["What arrives is not used: `dxhat`."]
