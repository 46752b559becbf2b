"""Diagnosis: why a gradient is wrong, from the smallest change that makes it right."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from grader.answer.parse import Answer
from grader.diagnosis.code_clues import overwrites, replaces_in_loop, written_numbers
from grader.diagnosis.edits.edit import Edit, capital, quoted
from grader.diagnosis.kinds import Kind, hint
from grader.diagnosis.own_code import Span
from grader.diagnosis.repair import Repair, Search
from grader.diagnosis.shown import (
    Explanation,
    fit_picked,
    fit_routes,
    fit_rows,
    fit_shape,
    fit_slices,
    fit_steps,
    taken,
)
from grader.execution.evidence import GradientEvidence, Value
from grader.execution.runner import Runner
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
    runner: Runner,
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
    kind, message, belongs, where = found
    nudge = hint(kind, item.name)
    diagnosis = Diagnosis(kind, message, f"{nudge} {belongs} belongs here." if belongs else nudge)
    if where is None:
        return Reason(diagnosis)
    number, (start, end) = where
    own = search.statements[number]
    piece = own.text[start:end]
    line = own.line + own.text.count("\n", 0, start)
    nth = own.text.count(piece, own.text.rfind("\n", 0, start) + 1, start)
    return Reason(diagnosis, Place(answer.places[own.number].cell, line), piece, nth)


def _is_hopeless(value: Value) -> bool:
    """True for what ran into a limit, is too large, or has code of its own: no edit helps."""
    if value.raised is not None:
        return value.raised.by_limit
    return (value.type_name or "").startswith(("tensor of ", "object that raises "))


Found = tuple[Kind, str, str, tuple[int, Span] | None]
"""Kind, message, what belongs there, for the hint, and which piece of which own statement."""

MOST_REMEMBERED = 4_096
"""Findings that a process keeps: a class makes the same mistakes."""

_REMEMBERED: dict[object, Found | None] = {}


def _found(search: Search, verdict: Verdict) -> Found | None:
    """What is found out about a gradient; of equal statements it is found out once."""
    item, comparison = search.item, verdict.comparison
    texts = "\0".join(own.text for own in search.statements)
    written = hashlib.sha256(texts.encode("utf-8", "surrogatepass")).digest()
    given = search.references, item.name, written, item.reads, item.writes, item.fixed
    seen = verdict.global_check, comparison.approximate, comparison.shape
    key = given, seen, any(value.raised for value in item.local)
    if key in _REMEMBERED:
        return _REMEMBERED[key]
    found = next(_Diagnostician(item, verdict, search).explanations(), None)
    if not search.is_cut_short:
        if len(_REMEMBERED) >= MOST_REMEMBERED:
            _REMEMBERED.clear()
        _REMEMBERED[key] = found
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Diagnostician:
    """Explains one gradient's value, and failing that its shape."""

    item: GradientEvidence
    verdict: Verdict
    search: Search

    def explanations(self) -> Iterator[Found]:
        """What there is to say, the best first."""
        unfit = _unfit(self.item)
        if unfit is not None:
            yield *unfit, "", None
            return
        values, targets = _numbers(self.item.local), self.search.targets
        is_right = bool(values) and any(all(map(agrees, values, right)) for right in targets)
        if not is_right:
            likeliest, *others = self.search.batches()
            yield from self._repaired(likeliest)
            for kind, message in self._shown(values):
                yield kind, message, "", None
            for batch in others:
                yield from self._repaired(batch)
            for right in targets if values else ():
                for kind, message in fit_picked(self.item.name, values, right, self._references):
                    yield kind, message, "", None
            yield from map(self._said, self.search.near[:1])
            if self.search.reads_nothing:
                arriving = " and ".join(f"`{one}`" for one in self.search.scope.arriving)
                message = f"No line takes up what arrives: {arriving}."
                yield Kind.WRONG_UPSTREAM, message, "", None
        for kind, message in self._from_comparison():
            yield kind, message, "", None

    @property
    def _references(self) -> References:
        return self.search.references

    def _repaired(self, batch: Sequence[Edit]) -> Iterator[Found]:
        found = self.search.find(batch)
        if found is not None:
            yield self._said(found)

    def _said(self, repair: Repair) -> Found:
        edit, factor = repair.edit, repair.factor
        where = (self.search.statements.index(edit.own), edit.piece)
        if edit.doubled and factor is not None:
            start, end = edit.piece
            kind, message = taken(
                capital(quoted(edit.own.text[start:end])), factor, self.search.exercise.sizes
            )
            return kind, message, "", where
        message = edit.message
        if factor is not None:
            message += (
                " A minus is missing as well."
                if factor.text == "-1"
                else " A number is missing as well."
            )
        return edit.kind, message, edit.belongs, where

    def _shown(self, values: Sequence[Tensor]) -> Iterator[Explanation]:
        """What the values show, whatever they were made by."""
        name, references, search = self.item.name, self._references, self.search
        if not values:
            return
        if not any(bool(value.any()) for value in values):
            yield Kind.MISSING_BRANCH, f"`{name}` is zero: nothing that arrives is handed on."
        for given, right in [*zip(search.given, search.targets, strict=True)][: search.coarse]:
            for kind, message in fit_steps(name, values, given, references, search.exercise.sizes):
                if kind is Kind.MISSING_BRANCH and overwrites(self.item):
                    kind = Kind.OVERWRITTEN_BRANCH
                    message = f"{message} The last assignment replaces what was there."
                yield kind, message
            yield from fit_shape(name, values, right)
            yield from fit_rows(name, values, right)
        yield from fit_routes(name, values, references)
        for kind, message in fit_slices(name, values, references):
            yield (Kind.OVERWRITTEN_BRANCH if replaces_in_loop(self.item) else kind), message

    def _from_comparison(self) -> Iterator[Explanation]:
        """What the lecture's batch shows where nothing else does."""
        comparison, name = self.verdict.comparison, self.item.name
        shape, expected = comparison.shape, comparison.expected_shape
        if comparison.approximate and self.verdict.global_check is not Check.RIGHT:
            yield self._only_here()
        elif shape is not None and expected is not None and shape != expected:
            turned = len(shape) == 2 and shape == expected[::-1]
            kind = Kind.TRANSPOSED if turned else Kind.WRONG_SHAPE
            yield kind, describe_shape(f"`{name}`", shape, expected)

    def _only_here(self) -> Explanation:
        """A line that is right on the lecture's sizes, and there only."""
        name, sizes = self.item.name, _size_like(self.search.exercise)
        written = sorted(written_numbers(self.item.code) & sizes.keys(), reverse=True)
        if not written:
            message = f"`{name}` is right on the notebook's batch and wrong on others."
            return Kind.ONLY_THIS_BATCH, message
        listed = ", ".join(f"{number:g} ({sizes[number]})" for number in written)
        message = f"`{name}` is right at the notebook's sizes only: written out are {listed}."
        return Kind.HARD_CODED_SIZE, message


@cache
def _size_like(exercise: Exercise) -> Mapping[float, str]:
    """The numbers that a size of the lecture's may be written as, with what it is called."""
    sizes = exercise.sizes
    named: dict[float, str] = {}
    for (one, a), (other, b) in itertools.combinations(sizes.items(), 2):
        named[float(a * b)] = f"{one} * {other}"
    for name, length in sizes.items():
        named |= {float(length - 1): f"{name} - 1", 1.0 / length: f"1/{name}"}
    named |= {float(length): name for name, length in sizes.items()}
    # A 2 is a square's, seldom a size's.
    return {number: name for number, name in named.items() if number not in (0.0, 1.0, 2.0)}


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
            message = f"`{gradient}` has dtype {dtype}; `{gradient[1:]}` has another."
            return Kind.WRONG_DTYPE, message
        if describe_nonfinite(gradient, tensor):
            numbers = tensor.double()
            which = "NaN" if bool(numbers.isnan().any()) else "infinite numbers"
            share = "some" if bool(numbers.isfinite().any()) else "nothing but"
            return Kind.NAN, f"`{gradient}` has {share} {which} in it."
    return None


def _numbers(observed: Sequence[Value]) -> list[Tensor]:
    """The values of every instance; none if one of them cannot be compared."""
    usable = [
        v.tensor.double()
        for v in observed
        if v.tensor is not None and v.raised is None and v.interrupted is None
    ]
    return usable if len(usable) == len(observed) else []
