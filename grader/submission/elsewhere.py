"""Name the cell outside the answers in which something stands that a gradient lacks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from grader.answer.parse import AnswerCell, parse_answer
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
        cell = next((c for c in others if not verdict.points and name in _written(c.source)), None)
        if cell is not None:
            where = f"{name} stands in {cell.grade_id}: move it into one."
            note = f"{verdict.note} Only answer cells count, and {where}"
            verdict = replace(verdict, note=note.strip())
        yield verdict


@lru_cache(maxsize=512)  # a notebook that runs is asked at every check
def _written(source: str) -> frozenset[str]:
    """The names that a cell binds or changes."""
    effects = parse_answer([AnswerCell("", source)]).effects.values()
    return frozenset[str]().union(*(effect.binds | effect.changes for effect in effects))
