"""The result of one file: a report, or the sentence why there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.submission.elsewhere import say_where
from grader.verdict import Report

if TYPE_CHECKING:
    from grader.submission.read import Submission


@dataclass(frozen=True, slots=True)
class Ungraded:
    """A file that was not graded, with the sentence for its owner."""

    path: Path
    sentence: str


Result = Report | Ungraded


def complete(submission: Submission, report: Report) -> Report:
    """The report of a file: with what was flagged as it was read, and what other cells explain."""
    verdicts = tuple(say_where(report.verdicts, submission.others))
    flags = (*submission.flags, *report.flags)
    return replace(report, verdicts=verdicts, flags=flags, path=submission.path)
