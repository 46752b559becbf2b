"""The answer cells a student has run in a notebook's kernel."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.answer import AnswerCell
from grader.assigned import first_assignments

ANSWER_COMMENT = re.compile(r"\A\s*#\s*answer\s*:\s*([A-Za-z0-9_-]+)\s*$", re.MULTILINE)


EXERCISE_COMMENT = re.compile(r"\A\s*#\s*(?:answer|check)\s*:\s*([A-Za-z0-9]+)-")


@dataclass(frozen=True, slots=True)
class History:
    """The sources of the cells that ran, as they were typed.

    IPython's own input history would do, but for front ends that run cells without storing them
    there, as nbval does.
    """

    sources: list[str] = field(default_factory=list)

    def follow(self, shell: Any) -> None:
        """Begin with what an IPython shell has stored, and note what it runs from now on."""
        self.sources.extend(shell.history_manager.input_hist_raw)
        shell.events.register("pre_run_cell", self._note)

    def _note(self, info: Any) -> None:
        self.sources.append(info.raw_cell)


def latest_answers(sources: Iterable[str]) -> tuple[AnswerCell, ...]:
    """The answer cells among executed sources: of each its last text, in order of first run."""
    answers: dict[str, AnswerCell] = {}
    for source in sources:
        if match := ANSWER_COMMENT.match(source):
            answers[match[1]] = AnswerCell(match[1], source)
    return tuple(answers.values())


def latest_prefix(sources: Sequence[str]) -> str | None:
    """The exercise of the answer or check cell that ran last ("ex1"), if any has."""
    found = (EXERCISE_COMMENT.match(source) for source in reversed(sources))
    return next((match[1] for match in found if match), None)


def in_order(cells: Iterable[AnswerCell], gradients: Sequence[str]) -> tuple[AnswerCell, ...]:
    """Answer cells as they stand in the notebook: by the first gradient that each assigns.

    The order in which they ran says nothing: a student may begin with any section, or go back to
    one. Cells that assign no gradient come first, where they may define what the others need.
    """

    def place(cell: AnswerCell) -> int:
        assigned = first_assignments(cell.source, gradients)
        return min(map(gradients.index, assigned), default=-1)

    return tuple(sorted(cells, key=place))
