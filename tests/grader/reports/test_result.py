from __future__ import annotations

from pathlib import Path

import pytest

from grader.answer.parse import AnswerCell
from grader.program.compare import nothing_to_compare
from grader.reports.result import Graded, graded, quote
from grader.submission.read import Submission
from grader.verdict import Check, Flag, Outcome, Place, Report, Verdict


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (Place("ex1-softmax", 1), "# answer: ex1-softmax"),
        (Place("ex1-softmax", 8), "dlogits = logits.grad"),
        (Place("ex1-softmax", 9), ""),
        (Place("ex1-softmax", 0), ""),
        (Place("ex1-softmax", -1), ""),
        (Place("ex1-tanh", 1), ""),
        (None, ""),
    ],
)
def test_the_students_line(mixed: Graded, place: Place | None, line: str) -> None:
    assert mixed.line_at(place) == line


def test_nobody_wants_to_read_a_megabyte(mixed: Graded) -> None:
    long = Graded(mixed.path, mixed.report, [AnswerCell("ex1-x", f"dh = {'1 + ' * 250_000}1")])
    line = long.line_at(Place("ex1-x", 1))
    assert len(line) == 300
    assert line.endswith("…")


def test_a_statement_over_several_lines_is_quoted_as_one() -> None:
    source = "x = 1\ndh = (\n    dlogits\n    @ W2.T\n)\nfor i in range(3):\n    pass\n"
    cells = [AnswerCell("ex1-linear2", source)]
    assert quote(Place("ex1-linear2", 2), cells) == "dh = (dlogits @ W2.T)"
    assert quote(Place("ex1-linear2", 4), cells) == "@ W2.T"
    assert quote(Place("ex1-linear2", 6), cells) == "for i in range(3):"


def test_a_cell_that_is_not_python_is_quoted_by_its_line() -> None:
    cells = [AnswerCell("ex1-linear2", "dh = (\n    dlogits")]
    assert quote(Place("ex1-linear2", 1), cells) == "dh = ("


def test_what_was_read_beside_the_answers_is_added() -> None:
    first, second = (Flag(kind, "A sentence.", None) for kind in ("missing-answer", "denied"))
    others = (AnswerCell("cell 2", "def helper(d): return d"),)
    submission = Submission(Path("a.ipynb"), "01_atomic_backprop", (), (first,), others)
    nothing = nothing_to_compare("dh", None, (1,), "")
    note = "This line raised NameError: name 'helper' is not defined."
    verdict = Verdict("dh", Outcome.ERROR, nothing, Check.NOT_RUN, Check.NOT_RUN, note)
    report = graded(submission, Report("01_atomic_backprop", (verdict,), (second,))).report
    (found,) = report.verdicts
    assert found.note == (
        f"{note} Only answer cells count, and helper stands in cell 2: move it into one."
    )
    assert report.flags == (first, second)
