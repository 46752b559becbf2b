"""A notebook that is watched: what its last check found, what has changed since the one before."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

from grader.answer import AnswerCell
from grader.exercises import NOTEBOOKS
from grader.notebook_file import UnreadableNotebook, cells_in, read_bytes, shown
from grader.reports.result import Graded
from grader.submission import Submission, find_answers
from grader.verdict import Outcome, Report, Verdict

Changes = Mapping[Outcome, tuple[str, ...]]
"""The gradients whose verdict is another than before, by the new one."""


class Grade(Protocol):
    """Judges the answer cells of a notebook."""

    def __call__(self, notebook: str, cells: Sequence[AnswerCell]) -> Report: ...


@dataclass(frozen=True, slots=True)
class Board:
    """What there is to show of a watched notebook.

    `checked` says when `result` was found, and it took `seconds`; `saved` when the file was saved
    later than that with the same answers. `trouble` is a sentence: why the file cannot be checked
    at the moment.
    """

    path: Path
    result: Graded | None = None
    changes: Changes = field(default_factory=dict)
    checked: datetime | None = None
    seconds: float = 0.0
    saved: datetime | None = None
    trouble: str = ""
    checking: bool = False


class Watch:
    """Looks at a file and keeps the board of it.

    Args:
        path: the notebook's file.
        grade: judges its answers.
        now: the time of day.
        explain: the sentence for a mistake of the grader's own.
    """

    def __init__(
        self,
        path: Path,
        grade: Grade,
        now: Callable[[], datetime],
        explain: Callable[[Exception], str],
    ) -> None:
        self.board = Board(path)
        self._grade = grade
        self._now = now
        self._explain = explain
        self._signature: object = None
        self._submission: Submission | None = None
        self._graded: Submission | None = None

    def look(self, saved: bool) -> bool:
        """Read the file if it was saved, or else looks other than before.

        Returns:
            True if it has answers to check.
        """
        path = self.board.path
        signature = _signature(path)
        if not saved and signature == self._signature:
            return False
        another, self._signature = signature != self._signature, signature
        try:
            submission = find_answers(path, cells_in(read_bytes(path), path), NOTEBOOKS)
        except UnreadableNotebook as error:
            trouble = f"Waiting for a whole file: {error}"
            if signature is None:
                trouble = f"{shown(path)} is not there at the moment: waiting for it."
            self.board = replace(self.board, trouble=trouble)
            return False
        if submission == self._graded and not _has_error(self.board):
            if another:  # a save is often announced more than once
                self.board = replace(self.board, trouble="", saved=self._now())
            return False
        self._submission = submission
        self.board = replace(self.board, trouble="", checking=True)
        return True

    def check(self) -> None:
        """Judge the answers found by `look`."""
        submission, before = self._submission, self.board.result
        assert submission is not None
        start = time.perf_counter()
        try:
            report = self._grade(submission.notebook, submission.cells)
        except Exception as error:  # the next save may fare better
            self._graded = None
            self.board = replace(self.board, trouble=self._explain(error), checking=False)
            return
        report = replace(report, flags=(*submission.flags, *report.flags))
        self._graded = submission
        self.board = Board(
            path=self.board.path,
            result=Graded(self.board.path, report, submission.cells),
            changes=changed(before.report, report) if before else {},
            checked=self._now(),
            seconds=time.perf_counter() - start,
        )


def changed(before: Report, after: Report) -> Changes:
    """What became of the gradients whose verdict is not what it was, in the exercise's order."""
    if before.notebook != after.notebook:
        return {}
    was = {verdict.name: verdict.outcome for verdict in before.verdicts}
    moved = [v for v in after.verdicts if was.get(v.name) is not v.outcome]
    return {
        outcome: names
        for outcome in Outcome
        if (names := tuple(verdict.name for verdict in moved if verdict.outcome is outcome))
    }


def _has_error(board: Board) -> bool:
    verdicts: Sequence[Verdict] = board.result.report.verdicts if board.result else ()
    return any(verdict.outcome is Outcome.ERROR for verdict in verdicts)


def _signature(path: Path) -> object:
    """What tells two saves apart at a glance; None where there is no file."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
