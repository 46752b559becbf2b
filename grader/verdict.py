"""The result types: the verdict on a gradient, and a notebook's report."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

FORMAT_VERSION = 1
"""The version of the JSON that `grader check --json` prints."""


class Outcome(StrEnum):
    """The possible verdicts on a gradient. The table in the design says when each is given."""

    PASS = "pass"
    """right"""
    CARRIED = "carried"
    """this line is right, but its upstream gradient is wrong"""
    FAIL = "fail"
    """this line is wrong"""
    TODO = "todo"
    """still `...`"""
    ERROR = "error"
    """this line raised an exception, gave NaN or took too long"""
    REFUSED = "refused"
    """autograd was used"""


class Check(StrEnum):
    """The result of one of the two checks of a gradient."""

    RIGHT = "right"
    WRONG = "wrong"
    NOT_RUN = "not run"
    """There was no value to compare: the line is to do, raised, gave NaN or was too slow."""


EARNS_POINTS = frozenset({Outcome.PASS, Outcome.CARRIED})
"""`carried` earns full points, because a mistake is paid for only once, where it was made."""

AT_FAULT = frozenset({Outcome.FAIL, Outcome.ERROR})
"""The outcomes of a mistake, for which a reason is looked for."""

TO_MEND = AT_FAULT | {Outcome.REFUSED}
"""The outcomes that ask the student to mend something."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place: an answer cell, and a line in it, counted from 1."""

    cell: str
    line: int


Code = (
    Literal["zeros", "left-out", "idle-branch", "only-these-gradients", "another-way", "not-alone"]
    | Literal["almost", "on-the-way", "right-although", "slip", "size-written"]
    | Literal["shape-accepted", "changed-by-nothing"]
    | Literal["carried", "waiting", "kept-from-running"]
    | Literal["true-zero", "not-the-gradient", "shape", "value", "only-on-other-sizes"]
    | Literal["only-on-this-size", "only-on-this-size-of", "written-in", "at-the-wrong-time"]
    | Literal["raised", "raised-in-line", "raised-in-cell", "stopped", "refused"]
    | Literal["meant", "not-yet", "unbound", "unbound-parameter", "belongs-to", "known-here-as"]
    | Literal["called-here", "sizes", "drawn-size", "shape-of-this-batch"]
    | Literal["not-assigned", "mistyped", "returns-nothing"]
    | Literal["in-another-cell", "named-in-another", "no-first-line", "lost-first-line"]
    | Literal["helper", "not-returned", "from-outside", "summed-by-pytorch"]
    | Literal["returned-nothing", "not-its-gradient"]
)
"""What can be said about a gradient besides its outcome; `reports/reasons.toml` has the words."""

RAISED: frozenset[Code] = frozenset({"raised", "raised-in-line", "raised-in-cell"})
"""The codes for an exception in the verdict's line or in another."""

GUESSES: frozenset[Code] = frozenset({"meant", "unbound"})
"""The codes for guesses at an undefined name, which are dropped once the mistake is known."""

Argument = str | tuple[str, ...]
"""A name, a number or somebody else's words, or several of them."""

LONGEST_SENTENCE = 1_000
"""The most characters of a sentence, or of what a student's code puts into one."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason as data: a code, and the arguments of its sentence, by name."""

    code: Code
    arguments: tuple[tuple[str, Argument], ...] = ()

    def __getitem__(self, name: str) -> Argument:
        return dict(self.arguments)[name]


def because(code: Code, **arguments: Argument) -> Reason:
    """The reason with this code and these arguments."""
    return Reason(code, tuple((name, said[:LONGEST_SENTENCE]) for name, said in arguments.items()))


def two_digits(maxdiff: float) -> str:
    """A difference with two digits, since readers need no more: `2.8e-17`, `0.0035`, `0.0`."""
    if maxdiff == 0:
        return "0.0"
    return f"{maxdiff:.1e}" if maxdiff < 1e-3 else f"{maxdiff:.2g}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of a gradient with a reference, as the lecture's line shows it.

    `exact`, `approximate` and `maxdiff` are None if there is nothing to compare (`problem` says
    why), and `shape` is None if the student's value is not a tensor. `maxdiff` is in the
    units of the gradient (nats per unit of the tensor), `relative` in those of the reference's
    largest value.
    """

    name: str
    exact: bool | None
    approximate: bool | None
    maxdiff: float | None
    shape: tuple[int, ...] | None
    expected_shape: tuple[int, ...] | None
    problem: str = ""
    relative: float | None = None

    @property
    def numbers(self) -> str:
        """The part of the lecture's line after the name; "" if there is nothing to compare."""
        if self.exact is None:
            return ""
        maxdiff = "-" if self.maxdiff is None else two_digits(self.maxdiff)
        return (
            f"exact: {self.exact!s:5s} | approximate: {self.approximate!s:5s} | maxdiff: {maxdiff}"
        )

    @property
    def line(self) -> str:
        """The lecture's line, `name | exact: True | approximate: True | maxdiff: 0.0`."""
        return f"{self.name:15s} | {self.numbers or self.problem}"

    def _ipython_display_(self) -> None:
        """Show nothing below a cell that ends in `cmp(...)`, because the line was printed."""

    def __str__(self) -> str:
        if self.exact is None or not self.problem:
            return self.line
        return f"{self.line}\n{'':15s} | {self.problem}"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One likely reason why a gradient is wrong: its kind, a message and a hint.

    `tells` is what the message mentions although it is said elsewhere too: "shape", or gradients.
    """

    kind: str
    message: str
    hint: str
    tells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Flag:
    """Something that a human should see, whatever the points are."""

    kind: str
    message: str
    place: Place | None


HAPPENED = frozenset({"time-limit", "memory-limit", "ended-process", "denied"})
"""The kinds of flags that say how a statement ended, which its author should know in any case."""


@dataclass(frozen=True, slots=True)
class WrongValue:
    """What to keep of a wrong value when a class is graded.

    Two students with the same `digest` of a gradient have the same wrong value, whatever their
    code looks like. It is "value:" and some digits for numbers of the right shape. Otherwise it
    says what is wrong with the value as a whole ("nan", "missing", "shape:27x32", "type:list",
    "dtype:int64"), and it is "" if this is unknown.
    `map` is where it is wrong on the lecture's batch, by `unpack_map`; "" if there is no map.
    """

    digest: str
    map: str = ""


def pack_map(rows: Sequence[str]) -> str:
    """A map of digits in a few characters of ASCII."""
    packed = zlib.compress("\n".join(rows).encode("ascii"), 9)
    return base64.b64encode(packed).decode("ascii")


def unpack_map(text: str) -> list[str]:
    """The rows of a map, a digit for each cell.

    4 is right, 0 the most below and 8 the most above the right value, 9 is NaN or infinite.

    >>> unpack_map(pack_map(["4448", "4044"]))
    ['4448', '4044']
    """
    return zlib.decompress(base64.b64decode(text)).decode("ascii").split("\n") if text else []


@dataclass(frozen=True, slots=True)
class Verdict:
    """One gradient judged.

    `comparison` is the lecture's comparison on a float32 instance of the lecture's sizes;
    `outcome` comes from the float64 hidden instances. `reasons` say why it is this outcome: the
    first is the reason, others add to it; a plain `pass` has none, and mostly `todo`. `code` is the
    student's own line at `place`, as it is quoted; `piece` is where in it the diagnosis sees the
    mistake. `wrong` is there when a class is graded, for what fails or errs.
    """

    name: str
    outcome: Outcome
    comparison: Comparison
    global_check: Check
    local_check: Check
    reasons: tuple[Reason, ...] = ()
    place: Place | None = None
    diagnosis: tuple[Diagnosis, ...] = ()
    max_points: int = 1
    code: str = ""
    piece: tuple[int, int] | None = None
    wrong: WrongValue | None = None

    @property
    def why(self) -> Code | None:
        """The code of its reason."""
        return self.reasons[0].code if self.reasons else None

    @property
    def points(self) -> int:
        """What it earns of `max_points`."""
        return self.max_points if self.outcome in EARNS_POINTS else 0


@dataclass(frozen=True, slots=True)
class Report:
    """One notebook judged: a verdict for each gradient, in the exercise's order, and the flags.

    `notebook` is the course's name for it, `path` the file if it was read from one; `unit` is what
    a sentence says that it has so many of.
    """

    notebook: str
    verdicts: tuple[Verdict, ...]
    flags: tuple[Flag, ...] = ()
    path: Path = Path()
    unit: str = "points"

    @property
    def score(self) -> int:
        """The points of all gradients."""
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def max_score(self) -> int:
        """The points that all gradients could earn."""
        return sum(verdict.max_points for verdict in self.verdicts)

    @property
    def passed(self) -> bool:
        """True if every gradient passes: neither carried nor to do."""
        return all(verdict.outcome is Outcome.PASS for verdict in self.verdicts)


def count_outcomes(verdicts: Sequence[Verdict]) -> dict[Outcome, int]:
    """How many verdicts have each outcome, in the order of `Outcome`, zeros left out."""
    counts = {outcome: sum(v.outcome is outcome for v in verdicts) for outcome in Outcome}
    return {outcome: count for outcome, count in counts.items() if count}
