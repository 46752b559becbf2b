"""Diagnosis: why a gradient is wrong, from the smallest change that makes it right."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from grader.answer.own_code import Span
from grader.answer.parse import Answer
from grader.diagnosis import shown
from grader.diagnosis.edit import capital, quoted
from grader.diagnosis.kinds import Kind, hint
from grader.diagnosis.repair import Repair, Search
from grader.diagnosis.shown import Explanation, Wrong, seen_on_each, taken
from grader.execution.evidence import GradientEvidence, Value
from grader.execution.runner import AnyRunner
from grader.execution.variants import Patience
from grader.program.compare import agrees, describe_nonfinite, describe_shape
from grader.program.exercises import Exercise
from grader.program.references import References
from grader.verdict import Check, Diagnosis, Outcome, Place, Verdict

COARSE = (torch.float16, torch.bfloat16)
"""Dtypes in which a right formula gives a wrong value."""

LONGEST_SEARCHED = 10_000
"""Characters of a gradient's own statements; in the longest right answer it is a third of that."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a gradient is wrong: the diagnosis, and where the mistake stands if that is known.

    `piece` is the wrong part of the statement at `place`, `nth` counts the places in the statement
    in which the same text stands, from 0.
    """

    diagnosis: Diagnosis
    place: Place | None = None
    piece: str = ""
    nth: int = 0


def find_reason(
    item: GradientEvidence,
    verdict: Verdict,
    answer: Answer,
    exercise: Exercise,
    references: References,
    runner: AnyRunner,
    patience: Patience,
) -> Reason | None:
    """Why a gradient is wrong; nothing rather than a guess."""
    if verdict.diagnosis or verdict.outcome not in (Outcome.FAIL, Outcome.ERROR):
        return None
    if any(map(_is_hopeless, (*item.local, *item.hidden))):
        return None
    search = Search(item, answer, exercise, references, runner, patience)
    if sum(len(own.text) for own in search.statements) > LONGEST_SEARCHED:
        return None
    found = _found(search, verdict)
    if found is None:
        return None
    nudge = hint(found.kind, item.name)
    nudge = f"{nudge} {found.belongs} belongs here." if found.belongs else nudge
    diagnosis = Diagnosis(found.kind, found.message, nudge)
    if found.piece is None:
        return Reason(diagnosis)
    own, (start, end) = search.statements[found.number], found.piece
    piece = own.text[start:end]
    line = own.line + own.text.count("\n", 0, start)
    nth = own.text.count(piece, own.text.rfind("\n", 0, start) + 1, start)
    return Reason(diagnosis, Place(answer.places[own.number].cell, line), piece, nth)


def _is_hopeless(value: Value) -> bool:
    """True for what ran into a limit, is too large, or has code of its own: no edit helps."""
    if value.raised is not None:
        return value.raised.by_limit
    return (value.type_name or "").startswith(("tensor of ", "object that raises "))


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found out: `belongs` is for the hint, `piece` of own statement `number` is wrong."""

    kind: Kind
    message: str
    belongs: str = ""
    number: int = 0
    piece: Span | None = None


MOST_REMEMBERED = 4_096
"""Findings that a process keeps: a class makes the same mistakes."""

_REMEMBERED: dict[object, _Found | None] = {}


def _found(search: Search, verdict: Verdict) -> _Found | None:
    """What is found out about a gradient; of equal statements it is found out once."""
    item, comparison = search.item, verdict.comparison
    texts = "\0".join(own.text for own in search.statements)
    written = hashlib.sha256(texts.encode("utf-8", "surrogatepass")).digest()
    given = search.references, item.name, written, item.reads, item.writes, item.fixed
    seen = verdict.global_check, comparison.approximate, comparison.shape
    key = given, seen, any(value.raised for value in item.local)
    if key not in _REMEMBERED or search.is_cut_short:
        found = next(_findings(search, verdict), None)
        if search.is_cut_short:
            return found
        if len(_REMEMBERED) >= MOST_REMEMBERED:
            _REMEMBERED.clear()
        _REMEMBERED[key] = found
    return _REMEMBERED[key]


def _findings(search: Search, verdict: Verdict) -> Iterator[_Found]:
    """What there is to say, the best first."""
    if (unfit := _unfit(search.item)) is not None:
        yield _Found(*unfit)
        return
    values = search.values
    if not (values and any(all(map(agrees, values, right)) for right in search.targets)):
        repairs = map(search.find, search.batches())
        yield from _said(search, next(repairs))
        yield from (_Found(*one) for one in _shown(search))
        for repair in repairs:
            yield from _said(search, repair)
        for repair in search.near[:1]:
            yield from _said(search, repair)
        outside = search.references.program.arriving
        arriving = " and ".join(f"`{one}`" for one in search.scope["ARRIVING"] or outside)
        names = frozenset[str]().union(*(own.names for own in search.statements))
        if arriving and names.isdisjoint(search.scope["UPSTREAM"]):
            has_tensor = any(name[1:] in names for name in search.scope["ARRIVING"])
            kind = Kind.MISSING_D if has_tensor else Kind.WRONG_UPSTREAM
            yield _Found(kind, f"What arrives is not used: {arriving}.")
    yield from (_Found(*one) for one in _compared(search, verdict))


def _said(search: Search, repair: Repair | None) -> Iterator[_Found]:
    if repair is None:
        return
    edit, factor, rival = repair.edit, repair.factor, repair.rival
    kind, message = edit.kind, edit.message
    if edit.doubled and factor is not None:
        where = capital(quoted(edit.own.text[slice(*edit.piece)]))
        kind, message = taken(where, factor, search.exercise.sizes)
    elif factor is not None:
        what = "The sign" if factor.text == "-1" else "A constant factor"
        message += f" {what} is wrong as well."
    if rival is not None and rival.message not in (edit.message, ""):
        message += f" Or else: {rival.message}"
    # A sum that is copied again leaves the shape as it should be.
    fits = [v.shape == t.shape for v, t in zip(search.values, search.targets[0], strict=False)]
    kind = Kind.OPERATOR if kind is Kind.WRONG_SHAPE and any(fits) else kind
    number = search.statements.index(edit.own)
    yield _Found(kind, message, edit.belongs, number, edit.piece)


def _shown(search: Search) -> Iterator[Explanation]:
    """What the values show, whatever they were made by."""
    name, values, hidden = search.item.name, search.values, search.references.hidden
    if not (values and search.coarse):
        return
    fits = [value.shape for value in values] == [right.shape for right in search.targets[0]]
    if fits and not any(bool(value.any()) or not value.numel() for value in values):
        yield Kind.MISSING_BRANCH, f"`{name}` is zero: nothing that arrives is handed on."
    wrong = [
        [Wrong(name, *one) for one in zip(values, right, hidden, strict=True)]
        for right in search.targets[: search.coarse]
    ]
    for given, one in zip(search.given, wrong, strict=False):
        yield from shown.through_steps(one, given, search.exercise.sizes)
        yield from seen_on_each(shown.other_shape, one)
        yield from seen_on_each(shown.misplaced, one)
    yield from seen_on_each(shown.misrouted, wrong[0])
    replaces = any(name in own.assigned_in_loops for own in search.statements)
    for kind, message in seen_on_each(shown.only_some, wrong[0]):
        yield Kind.OVERWRITTEN_BRANCH if replaces else kind, message


def _compared(search: Search, verdict: Verdict) -> Iterator[Explanation]:
    """What the lecture's batch shows where nothing else does."""
    comparison, name = verdict.comparison, search.item.name
    shape, expected = comparison.shape, comparison.expected_shape
    if comparison.approximate and verdict.global_check is not Check.RIGHT:
        nodes = [node for own in search.statements for node in ast.walk(own.top)]
        numbers = {node.value for node in nodes if isinstance(node, ast.Constant)}
        sizes = [(length, size) for size, length in search.exercise.sizes.items() if length > 2]
        sizes += [(length - 1, f"{size} - 1") for length, size in sizes if length > 3]
        written = [f"{length} ({size})" for length, size in sizes if length in numbers]
        if written:
            message = f"`{name}` is right at the notebook's sizes only: it has "
            yield Kind.HARD_CODED_SIZE, f"{message}{', '.join(written)} written out."
        message = f"`{name}` is right on the notebook's batch and wrong on others."
        yield Kind.ONLY_THIS_BATCH, message
    elif shape is not None and expected is not None and shape != expected:
        turned = len(shape) == 2 and shape == expected[::-1]
        kind = Kind.TRANSPOSED if turned else Kind.WRONG_SHAPE
        yield kind, describe_shape(f"`{name}`", shape, expected)


def _unfit(item: GradientEvidence) -> Explanation | None:
    """What is no floating-point number: NaN, infinity, another dtype."""
    gradient = item.name
    for value in item.local:
        if value.raised is not None and "ZeroDivisionError" in value.raised.message:
            return Kind.NAN, "This line divides by zero."
        tensor = value.tensor
        if tensor is None:
            continue
        if not tensor.is_floating_point() or tensor.dtype in COARSE:
            dtype = str(tensor.dtype).removeprefix("torch.")
            message = f"`{gradient}` has dtype {dtype}, `{gradient[1:]}` has another."
            return Kind.WRONG_DTYPE, message
        if describe_nonfinite(gradient, tensor):
            numbers = tensor.double()
            which = "NaN" if numbers.isnan().any() else "infinite numbers"
            share = "some" if numbers.isfinite().any() else "nothing but"
            return Kind.NAN, f"`{gradient}` has {share} {which} in it."
    return None
