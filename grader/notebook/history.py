"""The cells that a notebook's kernel has run."""

from __future__ import annotations

import ast
import math
import re
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import itemgetter
from typing import Any

from grader.answer.assigned import first_assignments
from grader.answer.cell_source import hide_magics, parsed
from grader.answer.parse import AnswerCell, prefix_of
from grader.answer.quote import LONGEST_QUOTE
from grader.submission.answer_cells import answer_id, role_comments
from grader.submission.copies import graded_copies, overrules
from grader.submission.notebook_file import Cell


@dataclass(frozen=True, slots=True)
class RunCell:
    """A cell as it ran, with its id if it is an answer cell ("ex1-softmax").

    Runs with the same `key` are one cell; None says that nobody knows. `raised` is the line that
    raised, and ended the run; 0 if it did not begin.
    """

    cell: Cell
    grade_id: str | None
    key: str | int | None
    raised: int | None = None


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

        def end(result: Any) -> None:
            if self.runs and not result.success:
                line = _line_that_raised(result.error_in_exec, shell.user_ns)
                self.runs[-1] = replace(self.runs[-1], raised=line)

        shell.events.register("pre_run_cell", note)
        shell.events.register("post_run_cell", end)

    def note(self, source: str, request: Any) -> None:
        """Add a cell that runs at the `request` of a front end, a Jupyter message.

        JupyterLab and VS Code send a cell's metadata and its id, JupyterLab also the ids of the
        cells that were deleted. Colab sends an id in a place of its own. A program that runs a
        whole notebook sends nothing and lets nobody type: there every run is another cell.
        """
        metadata, content = (request.get(part) or {} for part in ("metadata", "content"))
        deleted = metadata.get("deletedCells") or ()
        self.runs[:] = [run for run in self.runs if run.key is None or run.key not in deleted]
        number, nbgrader = len(self.runs), metadata.get("nbgrader")
        cell = Cell(number, "code", source, nbgrader if isinstance(nbgrader, dict) else {})
        colab = metadata.get("colab")
        known = metadata.get("cellId") or (isinstance(colab, dict) and colab.get("cell_id"))
        self._add(cell, known or (None if content.get("allow_stdin", True) else number))

    def _add(self, cell: Cell, key: str | int | None) -> None:
        self.runs.append(RunCell(cell, answer_id(cell), key))

    def cells(self) -> list[Cell]:
        """The cells in the order in which they ran, numbered as IPython does."""
        return [replace(run.cell, number=n) for n, run in enumerate(self.runs)]

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
            for other in self._replaced(run, latest, gradients):
                del latest[other]
            if run.grade_id is not None:
                latest[run.grade_id, run.key] = run.cell
        found = [(grade_id, cell) for (grade_id, _), cell in latest.items()]
        own = [(name, cell) for name, cell in found if prefix_of(name) == prefix]
        answers, _ = graded_copies(own, gradients)
        return in_order(answers, gradients)

    def _replaced(
        self,
        run: RunCell,
        latest: Mapping[tuple[str, str | int | None], Cell],
        gradients: tuple[str, ...],
    ) -> list[tuple[str, str | int | None]]:
        """The answer cells that a run takes the place of: a cell may have got another first line.

        Where nobody knows which cell ran, that is one all of whose names the run binds afresh.
        """
        source = run.cell.source or ""
        return [
            (grade_id, key)
            for (grade_id, key), cell in latest.items()
            if (key == run.key and isinstance(key, str))
            or (grade_id == run.grade_id and key in (run.key, None))
            or (run.grade_id and key is None and overrules(source, cell.source or "", gradients))
        ]

    def lost(self, gradients: tuple[str, ...]) -> Mapping[str, str]:
        """The gradients that an answer cell assigned, and then this cell without its first line.

        Each with the cell's id. Where nobody knows which cell ran, it may be another that is no
        answer cell.
        """
        answers: dict[str, RunCell] = {}
        lost: dict[str, str] = {}
        for run in self.runs:
            for name in first_assignments(run.cell.source or "", gradients):
                if run.grade_id is not None:
                    answers[name] = run
                    lost.pop(name, None)
                elif name in answers and run.key in (answers[name].key, None):
                    lost[name] = answers[name].grade_id or ""
        return lost

    def unreached(self, gradients: tuple[str, ...]) -> frozenset[str]:
        """The gradients that a cell assigns behind the line at which its latest run ended.

        Where they have a value, it is an earlier run's.
        """
        unreached: set[str] = set()
        for run in self.runs:
            for name, line in first_assignments(run.cell.source or "", gradients).items():
                is_reached = run.raised is None or line < run.raised
                (unreached.discard if is_reached else unreached.add)(name)
        return frozenset(unreached)

    def has_failed(self, function: str) -> bool:
        """True if the latest cell that defines a function ended before it did."""
        start = re.compile(rf"^[ \t]*def {re.escape(function)}\b", re.MULTILINE)
        for run in reversed(self.runs):
            source = run.cell.source or ""
            if found := start.search(source):
                line = source.count("\n", 0, found.start()) + 1
                return run.raised is not None and run.raised <= line
        return False

    def statements(self) -> Iterator[ast.stmt]:
        """What ran in cells that are no answers, in order, each down to a line that raised."""
        for run in self.runs:
            end = math.inf if run.raised is None else run.raised
            if run.grade_id is None:
                lines = _statements(run.cell.source or "")
                yield from (line for line in lines if (line.end_lineno or 0) < end)

    def others(self) -> tuple[AnswerCell, ...]:
        """The cells that are no answers, as they ran last, each called by its first line."""
        latest = {run.key or run.cell.source: run for run in self.runs}
        sources = [run.cell.source or "" for run in latest.values() if not run.grade_id]
        lines = [source.strip().partition("\n")[0][:LONGEST_QUOTE] for source in sources]
        named = [f"the cell that begins with `{line}`" for line in lines]
        return tuple(map(AnswerCell, named[::-1], sources[::-1]))


@lru_cache(maxsize=256)  # a notebook that runs is asked at every check
def _statements(source: str) -> Sequence[ast.stmt]:
    tree = parsed(hide_magics(source))
    return tree.body if tree else ()


def _line_that_raised(error: BaseException | None, namespace: Mapping[str, Any]) -> int:
    """The line of a cell, which runs in the notebook's namespace; 0 where none has run."""
    frames = traceback.walk_tb(error.__traceback__ if error else None)
    return next((line for frame, line in frames if frame.f_globals is namespace), 0)


def in_order(cells: Iterable[AnswerCell], gradients: tuple[str, ...]) -> tuple[AnswerCell, ...]:
    """Answer cells as they stand in the notebook: by the first gradient that each assigns.

    The order in which they ran says nothing: a student may begin with any section, or go back to
    one. Cells that assign no gradient come first, where they may define what the others need; but
    a later piece of a split cell stays behind the piece before it. Pieces are numbered anew.

    A gradient that a cell before it has assigned, and that it changes, says nothing either.
    """
    places: dict[str, int] = {}
    first: dict[str, str] = {}
    numbers: Counter[str] = Counter()
    placed = []
    for cell in cells:
        grade_id = cell.grade_id.partition("#")[0]
        assigned = first_assignments(cell.source, gradients)
        own = [name for name in assigned if first.setdefault(name, grade_id) == grade_id]
        wheres = map(gradients.index, own or assigned)
        places[grade_id] = min(wheres, default=places.get(grade_id, -1))
        numbers[grade_id] += 1
        name = grade_id if numbers[grade_id] == 1 else f"{grade_id}#{numbers[grade_id]}"
        placed.append((places[grade_id], AnswerCell(name, cell.source)))
    return tuple(cell for _, cell in sorted(placed, key=itemgetter(0)))
