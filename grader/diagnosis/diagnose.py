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
"""In an exception's words: what was expanded is to be cloned, a mask is not a number, two stars
make a power, `math` takes no tensor, and a function is to be called."""

OF_INDICES = (Kind.WRONG_INDEX, Kind.HARD_CODED_SIZE, Kind.PARTIAL_ROWS, Kind.ONLY_THIS_BATCH)
"""Mistakes that may raise an exception at some sizes and give a wrong value at others."""

OF_SHAPE = (Kind.LOST_KEEPDIM, Kind.WRONG_SHAPE, Kind.TRANSPOSED)
"""Of these the values show the shape, and the sentence tells it."""

LONGEST_SEARCHED = 10_000
"""Characters of a gradient's own statements; in the longest right answer it is a third of that."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a gradient is wrong: the diagnosis, and where the mistake stands if that is known.

    `piece` is the wrong part of the statement at `place`, `nth` counts the places in the statement
    in which the same text stands, from 0.
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
    """Why a gradient is wrong; nothing rather than a guess.

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
    """True for what ran into a limit, is too large, or has code of its own: no edit helps.

    Nor where the type says all, since an array of numpy's may hold the right numbers; nor where
    the exception does.
    """
    if value.raised is not None:
        return value.raised.by_limit or any(words in value.raised.message for words in SAYS_ALL)
    no_formula = ("tensor of ", "object that raises ", "ndarray", "function", *FUNCTIONS)
    return (value.type_name or "").startswith(no_formula)


MOST_REMEMBERED = 4_096
"""Findings that a process keeps: a class makes the same mistakes."""

REMEMBERED: dict[object, tuple[int, Edit | Explanation | None]] = {}
"""Each with the place, among the gradient's own statements, of the one that is edited."""


def _found(search: Search, verdict: Verdict) -> Edit | Explanation | None:
    """What is found out about a gradient; of equal statements it is found out once."""
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
    # In this answer the same statement may have another place.
    return replace(found, own=search.statements[edited]) if isinstance(found, Edit) else found
