"""Name the cell outside the answers in which something stands that a gradient lacks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from grader.answer.parse import AnswerCell, written_names
from grader.verdict import Verdict

UNDEFINED = re.compile(r"name '(\w+)' is not defined")


def say_where(verdicts: Iterable[Verdict], others: Sequence[AnswerCell]) -> Iterator[Verdict]:
    """The verdicts; one without points says which other cell has its line, or the name it lacks.

    Args:
        verdicts: those on the answer cells, which alone are graded.
        others: further code cells; a `grade_id` is what a sentence calls the cell.
    """
    for verdict in verdicts:
        undefined = UNDEFINED.search(verdict.note)
        name = undefined[1] if undefined else verdict.name
        stands = (c for c in others if not verdict.points and name in written_names(c.source))
        cell = next(stands, None)
        if cell is not None:
            where = f"{name} stands in {cell.grade_id}: move it into one."
            note = f"{verdict.note} Only answer cells count, and {where}"
            verdict = replace(verdict, note=note.strip())
        yield verdict
