"""A notebook graded again and again, of which only what has changed is run."""

from __future__ import annotations

from collections.abc import Sequence

from grader.answer import AnswerCell
from grader.exercises import NOTEBOOKS
from grader.grading import grade_exercise
from grader.runner import Runner
from grader.verdict import Flag, Outcome, Report, Verdict


class Regrader:
    """Grades notebooks as `grader.grading.grade` does.

    An exercise whose answer cells have the text of the last time keeps its verdicts, unless one
    is an error: what ended the worker, or took too long, need not do so again.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._last: dict[str, tuple[list[AnswerCell], list[Verdict], list[Flag]]] = {}

    def grade(self, notebook: str, cells: Sequence[AnswerCell]) -> Report:
        """Judge every gradient of one notebook."""
        verdicts: list[Verdict] = []
        flags: list[Flag] = []
        for exercise in NOTEBOOKS[notebook]:
            own = [cell for cell in cells if cell.grade_id.startswith(f"{exercise.prefix}-")]
            last, judged, noticed = self._last.get(exercise.prefix, (None, [], []))
            if own != last or any(verdict.outcome is Outcome.ERROR for verdict in judged):
                judged, noticed = grade_exercise(exercise, own, self._runner)
                self._last[exercise.prefix] = own, judged, noticed
            verdicts += judged
            flags += noticed
        return Report(notebook, tuple(verdicts), tuple(flags))
