"""The cells that a notebook's kernel has run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from grader.answer.assigned import first_assignments
from grader.answer.parse import LONGEST_QUOTE, AnswerCell, prefix_of
from grader.submission.answer_cells import answer_id, role_comments
from grader.submission.copies import graded_copies
from grader.submission.notebook_file import Cell


@dataclass(frozen=True, slots=True)
class RunCell:
    """A cell as it ran, with its id if it is an answer cell ("ex1-softmax").

    Runs with the same `key` are one cell; None says that nobody knows.
    """

    cell: Cell
    grade_id: str | None
    key: str | int | None


@dataclass(frozen=True, slots=True)
class History:
    """What ran, in order, as it was typed.

    IPython's own input history would do, but for front ends that run cells without storing them
    there, as nbval does.
    """

    runs: list[RunCell] = field(default_factory=list)

    def follow(self, shell: Any) -> None:
        """Begin with what an IPython shell has stored, and note what it runs from now on."""
        for source in shell.history_manager.input_hist_raw:
            self._add(Cell(len(self.runs), "code", source, {}), None)

        def note(info: Any) -> None:
            get_parent = getattr(shell, "get_parent", dict)  # a shell without a kernel has none
            self.note(info.raw_cell, get_parent())

        shell.events.register("pre_run_cell", note)

    def note(self, source: str, request: Any) -> None:
        """Add a cell that runs at the `request` of a front end, a Jupyter message.

        JupyterLab sends a cell's metadata, its id, and the ids of the cells that were deleted. A
        program that runs a whole notebook sends nothing and lets nobody type: there every run is
        another cell.
        """
        metadata, content = (request.get(part) or {} for part in ("metadata", "content"))
        deleted = metadata.get("deletedCells") or ()
        self.runs[:] = [run for run in self.runs if run.key is None or run.key not in deleted]
        number, nbgrader = len(self.runs), metadata.get("nbgrader")
        cell = Cell(number, "code", source, nbgrader if isinstance(nbgrader, dict) else {})
        key = metadata.get("cellId") or (None if content.get("allow_stdin", True) else number)
        self._add(cell, key)

    def _add(self, cell: Cell, key: str | int | None) -> None:
        self.runs.append(RunCell(cell, answer_id(cell), key))

    def latest_prefix(self) -> str | None:
        """The exercise of the answer or check cell that ran last ("ex1"), if any has."""
        for run in reversed(self.runs):
            roles = role_comments(run.cell.source or "")
            named = (name for role, name in roles if role in ("answer", "check"))
            if grade_id := run.grade_id or next(named, None):
                return prefix_of(grade_id)
        return None

    def answers(self, prefix: str, gradients: tuple[str, ...]) -> tuple[AnswerCell, ...]:
        """The answer cells of an exercise as they ran last, in the notebook's order.

        Of several with one id those are left out that `grader check` would leave out.
        """
        latest: dict[tuple[str, str | int | None], Cell] = {}
        for run in self.runs:
            if run.grade_id is not None:
                for key in (run.key, None):
                    latest.pop((run.grade_id, key), None)
                latest[run.grade_id, run.key] = run.cell
        found = [(grade_id, cell) for (grade_id, _), cell in latest.items()]
        answers, _ = graded_copies([(n, c) for n, c in found if prefix_of(n) == prefix], gradients)
        return in_order(answers, gradients)

    def others(self) -> tuple[AnswerCell, ...]:
        """The cells that are no answers, as they ran last, each called by its first line."""
        latest = {run.key or run.cell.source: run for run in self.runs}
        sources = [run.cell.source or "" for run in latest.values() if not run.grade_id]
        lines = [source.strip().partition("\n")[0][:LONGEST_QUOTE] for source in sources]
        named = [f"the cell that begins with `{line}`" for line in lines]
        return tuple(map(AnswerCell, named[::-1], sources[::-1]))


def in_order(cells: Iterable[AnswerCell], gradients: tuple[str, ...]) -> tuple[AnswerCell, ...]:
    """Answer cells as they stand in the notebook: by the first gradient that each assigns.

    The order in which they ran says nothing: a student may begin with any section, or go back to
    one. Cells that assign no gradient come first, where they may define what the others need; but
    a later piece of a split cell stays behind the piece before it. Pieces are numbered anew.
    """
    places: dict[str, int] = {}
    numbers: Counter[str] = Counter()
    placed = []
    for cell in cells:
        grade_id = cell.grade_id.partition("#")[0]
        assigned = first_assignments(cell.source, gradients)
        places[grade_id] = min(map(gradients.index, assigned), default=places.get(grade_id, -1))
        numbers[grade_id] += 1
        name = grade_id if numbers[grade_id] == 1 else f"{grade_id}#{numbers[grade_id]}"
        placed.append((places[grade_id], AnswerCell(name, cell.source)))
    return tuple(cell for _, cell in sorted(placed, key=itemgetter(0)))
