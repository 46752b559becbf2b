"""A trial: a student's piece runs beside the course's own, and beside wrong ones that are known."""

from __future__ import annotations

import inspect
import itertools
import sys
import tomllib
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

Part = Callable[..., Any]

N_HIDDEN, BLOCK_SIZE = 7, 3
MOST_CALLS = 300
"""How often a piece may ask for gradients or predictions. No trial needs more than 70 calls."""
TOLERANCE = 1e-4
"""How far a float32 result may be off, as a share of the largest number of its tensor."""
NEARER = 0.1
"""A mistake is recognised only if its numbers fit this much better than a right answer must."""

HERE = Path(__file__).parent
PIECES: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    (HERE / "mistakes.toml").read_text(encoding="utf-8")
)
"""For each part the known mistakes, as edits of the course's own lines."""


class Endless(BaseException):
    """Raised inside a piece that does not end, so that no `except Exception` there stops it."""


class Misused(BaseException):
    """Raised inside a piece that hands a wrong argument to a recorder; the message says which."""


class RaisedByPiece(Exception):
    """What a piece raised, as its `__cause__`; any other exception is the checker's own."""


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """One thing that a piece was seen to do.

    Args:
        what: the subject of a sentence about it, such as "the mean". The keys of a dictionary are
            subjects themselves.
        value: a tensor, number or string, or a list or dictionary of these. A bool says whether
            a rule was kept.
        sentence: what is said if the value is wrong. By default the first wrong number is named.
        tolerance: how far numbers may be off, as a share of the largest of their tensor.
        noise: how far a number may be off that is zero apart from rounding.
    """

    what: str
    value: Any
    sentence: str = ""
    tolerance: float = TOLERANCE
    noise: float = 0.0

    def is_as(self, due: Any, nearer: float = 1.0) -> bool:
        """True if the value is the other, apart from rounding."""
        return is_same(self.value, due, nearer * self.tolerance, self.noise)


def rule(is_kept: bool, sentence: str) -> Fact:
    """A rule that every right piece keeps, and what is said of one that breaks it."""
    return Fact("", bool(is_kept), sentence)


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """How one part of the training is tried.

    Args:
        own: the course's own piece.
        facts: runs a piece on small data, and yields what it did. Each fact may suppose that all
            facts before it are right.
    """

    own: Part
    facts: Callable[[Part], Iterator[Fact]]


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """What a piece was seen to do up to its first wrong fact, and a sentence about that one."""

    seen: Sequence[Fact]
    sentence: str


def find_difference(trial: Trial, piece: Part) -> Difference | None:
    """Run a piece beside the course's own, up to the first fact in which they differ.

    Raises:
        RaisedByPiece: the piece raised an exception.
        Endless: the piece does not end.
        Misused: the piece gave a wrong argument to a function that was handed to it.
    """
    seen: list[Fact] = []
    for mine, due in zip(trial.facts(_watched(piece)), trial.facts(trial.own), strict=True):
        seen.append(mine)
        if not mine.is_as(due.value):
            return Difference(seen, mine.sentence or _name_difference(mine, due))
    return None


def _watched(piece: Part) -> Part:
    """The piece; what it raises can be told from what the trial raises."""

    def watched(*args: Any, **kwargs: Any) -> Any:
        try:
            return piece(*args, **kwargs)
        except (Exception, SystemExit) as error:
            _, *inner = traceback.extract_tb(error.__traceback__)
            if any(Path(frame.filename).parent == HERE for frame in inner):
                raise  # by a recorder of ours, which the piece has called
            raise RaisedByPiece from error

    return watched


def explain(part: str, trial: Trial, difference: Difference) -> str:
    """The sentences of the fewest known mistakes that do all that was seen, or its own sentence."""
    if isinstance(difference.seen[-1].value, bool):  # too little to recognise a mistake by
        return difference.sentence
    rows = list(mistakes(part))
    for count in range(1, PIECES[part].get("together", 1) + 1):
        for together in itertools.combinations(rows, count):
            edits = [edit for _, edits in together for edit in edits]
            wrong = edited(part, trial.own, edits)
            if wrong and _does(wrong, trial, difference.seen):
                return " ".join(dict.fromkeys(sentence for sentence, _ in together))
    return difference.sentence


def _does(wrong: Part, trial: Trial, seen: Sequence[Fact]) -> bool:
    """True if a wrong piece does what was seen."""
    try:
        facts = zip(seen, trial.facts(wrong), strict=False)
        return all(mine.is_as(theirs.value, NEARER) for mine, theirs in facts)
    except (Exception, Endless, Misused):  # two mistakes need not go together
        return False


Edits = Sequence[tuple[str, str]]


def mistakes(part: str) -> Iterator[tuple[str, Edits]]:
    """Each known mistake of a part: its sentence, and the edits that make it.

    A row of the table may end in a list: each entry's words take the place of {0}, {1}, ...
    """
    for sentence, *pieces in PIECES[part]["mistakes"]:
        for words in pieces.pop() if isinstance(pieces[-1], list) else [None]:
            texts = [sentence, *pieces]
            if words is not None:
                texts = [text.format(*words.split(" ")) for text in texts]
            yield texts[0], list(zip(texts[1::2], texts[2::2], strict=True))


def edited(part: str, own: Part, edits: Edits) -> Part | None:
    """The course's own piece with other words in it; None if an edit finds no place any more."""
    own = inspect.unwrap(own)
    source = PIECES[part].get("piece") or _source(own)
    for old, new in edits:
        if old not in source:
            return None
        source = source.replace(old, new)
    scope = dict(vars(sys.modules[own.__module__]))
    try:
        exec(f"from __future__ import annotations\n{source}", scope)
    except SyntaxError:
        return None
    made: Part = scope[own.__name__]
    return made


_source = cache(inspect.getsource)


def is_same(value: Any, due: Any, tolerance: float = TOLERANCE, noise: float = 0.0) -> bool:
    """True if two values are the same apart from rounding.

    NaN is the same as NaN, so that a mistake that gives NaN is recognised. A right piece has none.
    """
    if isinstance(due, dict):
        return value.keys() == due.keys() and all(
            is_same(value[key], due[key], tolerance, noise) for key in due
        )
    if isinstance(due, bool | str | list):  # a list of indices
        return type(value) is type(due) and value == due
    found, wanted = as_numbers(value), as_numbers(due)
    if found is None or wanted is None or found.shape != wanted.shape:
        return False
    allowed = max(tolerance * float(wanted.nan_to_num().abs().max()), noise)
    return torch.allclose(found, wanted, rtol=0, atol=allowed, equal_nan=True)


def as_numbers(value: Any) -> Tensor | None:
    """The value in float64, or None if it is neither a number nor a tensor of numbers."""
    try:
        return torch.as_tensor(value, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        return None


def _name_difference(mine: Fact, due: Fact) -> str:
    """Name the first number, of all that a fact holds, that is not as it should be."""
    what, value, wanted = mine.what, mine.value, due.value
    if isinstance(wanted, dict):
        what = next(
            key
            for key in wanted
            if not is_same(value[key], wanted[key], mine.tolerance, mine.noise)
        )
        value, wanted = value[what], wanted[what]
    return f"{what[:1].upper()}{what[1:]} {_compare(value, wanted, mine.tolerance)}"


def _compare(value: Any, wanted: Any, tolerance: float) -> str:
    """The rest of a sentence whose subject is what has the value."""
    if value is None:
        return "is None. Is a line missing, or a `return`?"
    found, due = as_numbers(value), as_numbers(wanted)
    if due is None:
        return f"is {value!r}, but it should be {wanted!r}."
    if found is None:
        return f"is {kind_of(value)}, but it should be {kind_of(wanted)}."
    if found.shape != due.shape:
        is_flat = is_same(found.flatten(), due.flatten(), tolerance)
        why = " Is a `keepdim=True` missing?" if is_flat and found.dim() < due.dim() else ""
        return f"has the shape {tuple(found.shape)}, but it should have {tuple(due.shape)}.{why}"
    if bool(found.isnan().any()):
        return "has NaN in it." if due.numel() > 1 else "is NaN."
    worst = (found - due).abs().argmax()
    number, right = float(found.flatten()[worst]), float(due.flatten()[worst])
    if due.numel() == 1:
        return f"is {number:.5g}, but it should be {right:.5g}."
    times = float((found * due).sum() / (due * due).sum())
    if not found.any():
        return "is zero everywhere."
    if is_same(found, -due, tolerance):
        return "has the wrong sign."
    if is_same(found, times * due, tolerance):
        return f"is {times:.5g} times what it should be."
    return f"has the number {number:.5g} where it should have {right:.5g}."


def kind_of(value: object) -> str:
    """What a value is, with its article."""
    if isinstance(value, Tensor):
        return f"a tensor of the shape {tuple(value.shape)}"
    if isinstance(value, int | float):
        return "a number"
    return "nothing" if value is None else f"a {type(value).__name__}"
