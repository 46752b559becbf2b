"""Edits: the small changes of a student's statements that may turn a wrong gradient right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from grader.answer.own_code import OwnStatement, Span
from grader.diagnosis.factors import Factor
from grader.diagnosis.kinds import Kind

LIKELIHOODS = ("first", "expected", "second", "likely", "possible", "last")
FIRST, EXPECTED, SECOND, LIKELY, POSSIBLE, LAST = range(6)
"""How soon an edit is thought of: how often people make the mistake, and how small it is."""

SLOPE = "slope_of_{}_"
"""The name by which an edit reads the slope of a step that works number by number."""

LONGEST_PIECE = 40
"""Characters of a student's own line that are quoted in a sentence."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of one statement: what becomes of its text, and what is said if it was needed.

    `piece` is where the text as it stands is wrong; `belongs` is for the hint. A `doubled` edit
    takes the piece twice: what that does to the value shows by which number it is to be taken.
    """

    likelihood: int
    kind: Kind
    own: OwnStatement
    piece: Span
    text: str
    message: str
    belongs: str = ""
    doubled: bool = False
    others: Mapping[int, str] = field(default_factory=dict)
    """New texts of other statements, by their numbers."""
    rule: object = None
    """That of the table of mistakes, if it comes from there."""
    factor: Factor | None = None
    """How many times what it should be the piece of a `doubled` edit is, else the whole result."""

    @property
    def texts(self) -> dict[int, str]:
        """The new text of each statement that changes."""
        return {self.own.number: self.text, **self.others}

    @property
    def source(self) -> str:
        """The piece as it stands."""
        return self.own.text[slice(*self.piece)]


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The names that an edit of one gradient's statements may use.

    They are found by the capitals that stand for them in the table of mistakes: `scope["NEAR"]`.
    `sizes` are those that the student sees.
    """

    gradient: str
    sizes: Mapping[str, int]
    names: Mapping[str, Sequence[str]]
    differences: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Of two names each, by the tensor in whose forward line they stand."""
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Those of the forward pass's tensors and of their gradients."""
    fits: bool = False
    """Whether the gradient has the right shape already."""
    reassigned: Set[str] = frozenset()
    """Names that the statements assign more than once."""

    def __getitem__(self, capitals: str) -> Sequence[str]:
        return self.names[capitals]

    def are_numbers(self, names: Set[str]) -> bool:
        """True if none of the names is a tensor's."""
        return names <= {"math", *self["SIZE"], *self["SCALAR"]}


def quoted(text: str) -> str:
    """A piece of a line for the middle of a sentence."""
    text = " ".join(text.split())
    return f"`{text}`" if len(text) <= LONGEST_PIECE else "this expression"


def capital(text: str) -> str:
    """The same for the beginning of one."""
    return text[:1].upper() + text[1:]
