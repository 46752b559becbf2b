from __future__ import annotations

from pathlib import Path

from grader.answer.parse import AnswerCell
from grader.program.compare import nothing_to_compare
from grader.reports.result import complete
from grader.submission.read import Submission
from grader.verdict import Check, Flag, Outcome, Report, Verdict


def test_what_was_read_beside_the_answers_is_added() -> None:
    first, second = (Flag(kind, "A sentence.", None) for kind in ("missing-answer", "denied"))
    others = (AnswerCell("cell 2", "def helper(d): return d"),)
    submission = Submission(Path("a.ipynb"), "01_atomic_backprop", (), (first,), others)
    nothing = nothing_to_compare("dh", None, (1,), "")
    note = "This line raised NameError: name 'helper' is not defined."
    verdict = Verdict("dh", Outcome.ERROR, nothing, Check.NOT_RUN, Check.NOT_RUN, note)
    report = complete(submission, Report("01_atomic_backprop", (verdict,), (second,)))
    (found,) = report.verdicts
    assert found.note == (
        f"{note} Only answer cells count, and helper stands in cell 2: move it into one."
    )
    assert report.flags == (first, second)
