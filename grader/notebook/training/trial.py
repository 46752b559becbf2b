"""A trial runs a student's piece of the training beside the course's own and records both."""

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
"""How often a piece may ask for gradients or predictions. A right piece needs at most 70 calls."""
TOLERANCE = 1e-4
"""How far a float32 result may be off, as a share of the largest number of its tensor."""
NEARER = 0.1
"""A mistake is recognised only if its numbers fit this much better than a right answer must."""

HERE = Path(__file__).parent
PIECES: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    (HERE / "mistakes.toml").read_text(encoding="utf-8")
)
"""For each part of the training, the known mistakes as edits of the course's own lines."""
TRIAL_FILES = {str(path) for path in HERE.glob("*_trials.py")}
"""The files of the recorders, which a piece calls. What fails there is the checker's own."""


class Endless(BaseException):
    """Ends a piece that would run forever. An `except Exception` in it does not catch this."""


class Misused(BaseException):
    """Ends a piece that gave a recorder a wrong argument. The message tells the student which."""


class RaisedByPiece(Exception):
    """Has as its `__cause__` what a piece raised. Any other exception is the checker's own."""


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """What a piece was seen to do at one point of its trial.

    Args:
        values: tensors, numbers, strings or lists of indices, each by the subject of a sentence
            about it, such as "the mean".
        sentence: what the student is told if a value is wrong. By default the sentence names the
            first wrong number.
        noise: how far off a number may be that is zero apart from rounding.
    """

    values: Mapping[str, Any]
    sentence: str = ""
    noise: float = 0.0

    def wrong(self, expected: Fact, nearer: float = 1.0) -> list[str]:
        """List the subjects whose values are not the expected ones, apart from rounding."""
        return [
            what
            for what, value in expected.values.items()
            if not is_same(self.values[what], value, nearer * TOLERANCE, self.noise)
        ]


RULE = "the rule"
"""The subject of a fact that is true or false, from which no known mistake can be recognised."""


def rule(is_kept: bool, sentence: str) -> Fact:
    """Make a fact of a rule that right pieces keep, with the sentence for one that breaks it."""
    return Fact({RULE: bool(is_kept)}, sentence)


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """How one part of the training is tried.

    Args:
        own: the course's own piece.
        facts: runs a piece on small data and yields what it did. The first wrong fact ends the
            trial, so each fact may rely on those before it.
    """

    own: Part
    facts: Callable[[Part], Iterator[Fact]]


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """What a piece did up to its first wrong fact, and a sentence to the student about it."""

    seen: Sequence[Fact]
    sentence: str


def find_difference(trial: Trial, piece: Part) -> Difference | None:
    """Run a piece beside the course's own, up to the first fact in which the two differ.

    Raises:
        RaisedByPiece: the piece raised an exception.
        Endless: the piece does not end.
        Misused: the piece gave a wrong argument to a function that was handed to it.
    """
    seen: list[Fact] = []
    for mine, due in zip(trial.facts(_watched(piece)), trial.facts(trial.own), strict=True):
        seen.append(mine)
        for what in mine.wrong(due):
            named = f"{what[:1].upper()}{what[1:]} {_compare(mine.values[what], due.values[what])}"
            return Difference(seen, mine.sentence or named)
    return None


def _watched(piece: Part) -> Part:
    """Wrap a piece so that what it raises can be told from what the trial raises."""

    def watched(*args: Any, **kwargs: Any) -> Any:
        try:
            return piece(*args, **kwargs)
        except (Exception, SystemExit) as error:
            frames = traceback.extract_tb(error.__traceback__)
            if any(frame.filename in TRIAL_FILES for frame in frames):
                raise
            raise RaisedByPiece from error

    return watched


def recognise(part: str, trial: Trial, difference: Difference) -> str:
    """Find the fewest known mistakes that together do exactly what the piece did.

    Returns:
        Their sentences, or if there are no such mistakes, the sentence about the wrong fact.
    """
    if RULE in difference.seen[-1].values:
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
    """True if a wrong piece does the same as the student's did."""
    try:
        facts = zip(seen, trial.facts(wrong), strict=False)
        return not any(mine.wrong(theirs, NEARER) for mine, theirs in facts)
    except (Exception, Endless, Misused):  # two mistakes may not go together
        return False


Edits = Sequence[tuple[str, str]]


def mistakes(part: str) -> Iterator[tuple[str, Edits]]:
    """Yield each known mistake of a part: its sentence and the edits that make it.

    If a row of the table ends in a list, it stands for one mistake per entry: the words of the
    entry take the place of {0}, {1}, ...
    """
    for sentence, *pieces in PIECES[part]["mistakes"]:
        for words in pieces.pop() if isinstance(pieces[-1], list) else [None]:
            texts = [sentence, *pieces]
            if words is not None:
                texts = [text.format(*words.split(" ")) for text in texts]
            yield texts[0], list(zip(texts[1::2], texts[2::2], strict=True))


def edited(part: str, own: Part, edits: Edits) -> Part | None:
    """Edit the course's own piece; return None if an edit finds nothing to replace."""
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

    NaN equals NaN, so that a mistake whose result is NaN can be recognised. The course's own
    results never hold NaN, so a wrong piece cannot pass because of this.
    """
    if isinstance(due, bool | str | list):  # a list of indices
        return type(value) is type(due) and value == due
    found, wanted = as_numbers(value), as_numbers(due)
    if found is None or wanted is None or found.shape != wanted.shape:
        return False
    allowed = max(tolerance * float(wanted.nan_to_num().abs().max()), noise)
    return torch.allclose(found, wanted, rtol=0, atol=allowed, equal_nan=True)


def as_numbers(value: Any) -> Tensor | None:
    """Convert a value to float64; None if it is neither a number nor a tensor of numbers."""
    try:
        return torch.as_tensor(value, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        return None


def _compare(value: Any, wanted: Any) -> str:
    """Say how a value differs, in a sentence that lacks only its subject."""
    if value is None:
        return "is None. Is a line missing, or a `return`?"
    found, due = as_numbers(value), as_numbers(wanted)
    if due is None:
        return f"is {value!r}, but it should be {wanted!r}."
    if found is None:
        return f"is {kind_of(value)}, but it should be {kind_of(wanted)}."
    if found.shape != due.shape:
        is_flat = is_same(found.flatten(), due.flatten())
        why = " Is a `keepdim=True` missing?" if is_flat and found.dim() < due.dim() else ""
        units = (
            f", one column for each of the {N_HIDDEN} hidden units of the check's smaller network"
            if due.shape[-1:] == (N_HIDDEN,)
            else ""
        )
        expected = f"{tuple(due.shape)}{units}"
        return f"has the shape {tuple(found.shape)}, but it should have {expected}.{why}"
    if bool(found.isnan().any()):
        return "has NaN in it." if due.numel() > 1 else "is NaN."
    worst = (found - due).abs().argmax()
    number, right = float(found.flatten()[worst]), float(due.flatten()[worst])
    if due.numel() == 1:
        return f"is {number:.5g}, but it should be {right:.5g}."
    times = float((found * due).sum() / (due * due).sum())
    if not found.any():
        return "is zero everywhere."
    if is_same(found, -due):
        return "has the wrong sign."
    if is_same(found, times * due):
        return f"is {times:.5g} times what it should be."
    return f"has the number {number:.5g} where it should have {right:.5g}."


def kind_of(value: object) -> str:
    """Name the kind of a value, with its article."""
    if isinstance(value, Tensor):
        return f"a tensor of the shape {tuple(value.shape)}"
    if isinstance(value, int | float):
        return "a number"
    return "nothing" if value is None else f"a {type(value).__name__}"
