"""Diagnosis: why a gradient is wrong, from the smallest change that makes it right."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from types import MappingProxyType

from grader.answer.parse import Answer
from grader.diagnosis.edit import Edit
from grader.diagnosis.findings import findings
from grader.diagnosis.kinds import Kind, hint
from grader.diagnosis.repair import Search
from grader.diagnosis.shown import Explanation
from grader.execution.ask import Allowance
from grader.execution.evidence import Observed, Value
from grader.execution.problems import NO_POWER
from grader.execution.runner import AnyRunner
from grader.program.compare import FUNCTIONS
from grader.program.exercises import Exercise
from grader.program.references import References
from grader.verdict import Diagnosis, Outcome, Place, Verdict

SAYS_ALL = (
    *("single memory location", "a bool tensor", "two bool", "to Python scalars", NO_POWER),
    *("'function'", "not function"),
)
"""Words of exceptions that already tell the mistake: an expanded tensor needs a clone, a mask is
not a number, a power needs two stars, `math` takes no tensor, and a function has to be called."""

OF_INDICES = (Kind.WRONG_INDEX, Kind.HARD_CODED_SIZE, Kind.PARTIAL_ROWS, Kind.ONLY_THIS_BATCH)
"""Mistakes that raise an exception at some sizes, and give a wrong value at others."""

OF_SHAPE = (Kind.LOST_KEEPDIM, Kind.WRONG_SHAPE, Kind.TRANSPOSED)
"""Mistakes of which the values show the shape, which the sentence tells."""

LONGEST_SEARCHED = 10_000
"""The most characters that a gradient's own statements may have. The longest right answer known has
a third of that."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a gradient is wrong: the diagnosis, and the place of the mistake if it is known.

    `piece` is the wrong part of the statement at `place`. If the statement contains the same text
    several times, `nth` says which of them it is, counted from 0.
    """

    diagnosis: Diagnosis
    place: Place | None = None
    piece: str = ""
    nth: int = 0


def find_reason(
    item: Observed,
    verdict: Verdict,
    answer: Answer,
    exercise: Exercise,
    references: References,
    runner: AnyRunner,
    allowance: Allowance,
    right: Mapping[str, Set[int]] = MappingProxyType({}),
) -> Cause | None:
    """Find out why a gradient is wrong; return None rather than a guess.

    `right` are the gradients whose own lines are right, with the numbers of these statements.
    """
    if item.broken is not None or any(map(_is_hopeless, (*item.local, *item.hidden))):
        return None
    search = Search(item, answer, exercise, references, runner, allowance, right)
    if sum(len(own.text) for own in search.statements) > LONGEST_SEARCHED:
        return None
    found = _found(search, verdict)
    if found is None:
        return None
    if not isinstance(found, Edit):
        kind, message = found
        tells = ("shape",) if kind in OF_SHAPE else ()
        return Cause(Diagnosis(kind, message, hint(kind, item.name), tells))
    own, (start, end) = found.own, found.piece
    piece = own.text[start:end]
    place = Place(answer.places[own.number].cell, own.line + own.text.count("\n", 0, start))
    raised = item.lecture.raised if verdict.outcome is Outcome.ERROR else None
    # What raises at the notebook's sizes alone has a wrong index, and no other line is to blame.
    is_index = raised and raised.place in (place, None) and found.kind in OF_INDICES
    if raised and not search.raises and not is_index:
        return None
    nth = own.text.count(piece, own.text.rfind("\n", 0, start) + 1, start)
    nudge = hint(found.kind, item.name, found.belongs)
    return Cause(Diagnosis(found.kind, found.message, nudge), place, piece, nth)


def _is_hopeless(value: Value) -> bool:
    """True if no edit can help: the value ran into a limit, is too large, or has code of its own.

    The same is true if the type says everything, since a numpy array may hold the right numbers,
    and if the exception does.
    """
    if value.raised is not None:
        return value.raised.by_limit or any(words in value.raised.message for words in SAYS_ALL)
    no_formula = ("tensor of ", "object that raises ", "ndarray", "function", *FUNCTIONS)
    return (value.type_name or "").startswith(no_formula)


MOST_REMEMBERED = 4_096
"""The findings that a process keeps, because the students of a class make the same mistakes."""

REMEMBERED: dict[object, tuple[int, Edit | Explanation | None]] = {}
"""Each with the position, among the gradient's own statements, of the edited one."""


def _found(search: Search, verdict: Verdict) -> Edit | Explanation | None:
    """Find out why a gradient is wrong, only once for equal statements."""
    item, comparison = search.item, verdict.comparison
    texts = "\0".join(own.text for own in (*search.statements, *search.settled))
    written = hashlib.sha256(texts.encode("utf-8", "surrogatepass")).digest()
    given = search.references, item.name, written, item.reads, item.writes
    seen = verdict.global_check, comparison.approximate, comparison.shape
    key = given, seen, search.raises, item.beside is None, len(search.settled)
    if key not in REMEMBERED or search.is_cut_short:
        found, numbers = (
            next(findings(search, verdict), None),
            [o.number for o in search.statements],
        )
        if search.is_cut_short:
            return found
        if len(REMEMBERED) >= MOST_REMEMBERED:
            REMEMBERED.clear()
        edited = numbers.index(found.own.number) if isinstance(found, Edit) else 0
        REMEMBERED[key] = edited, found
    edited, found = REMEMBERED[key]
    # In this answer, the same statement may be at another place.
    return replace(found, own=search.statements[edited]) if isinstance(found, Edit) else found
