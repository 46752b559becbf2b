"""Edits: small changes of a student's statements that may make a wrong gradient right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from grader.answer.own_code import OwnStatement, Span
from grader.diagnosis.factors import Factor
from grader.diagnosis.kinds import Kind

LIKELIHOODS = ("first", "expected", "second", "likely", "possible", "last")
FIRST, EXPECTED, SECOND, LIKELY, POSSIBLE, LAST = range(6)
"""The order in which edits are tried, by how common the mistake is and how small the edit."""

SLOPE = "slope_of_{}_"
"""The name by which an edit reads the slope of a step that works element by element."""

LONGEST_PIECE = 40
"""The most characters of a student's own line that a sentence quotes."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of one statement: its new text, and the sentence to say if the change was needed.

    `piece` is the wrong part of the present text, and `belongs` is for the hint. A `doubled` edit
    takes the piece twice, and the effect on the value shows by which number the piece must be
    multiplied.
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
    """The new texts of other statements, by their numbers."""
    rule: object = None
    """The rule of the table of mistakes from which the edit comes, if any."""
    factor: Factor | None = None
    """How many times too large the piece of a `doubled` edit is, or otherwise the whole result."""

    @property
    def texts(self) -> dict[int, str]:
        """The new text of each statement that changes."""
        return {self.own.number: self.text, **self.others}

    @property
    def source(self) -> str:
        """The text of the piece."""
        return self.own.text[slice(*self.piece)]


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The names that an edit of one gradient's statements may use.

    The table of mistakes writes them as words in capitals, and so they are found: `scope["NEAR"]`.
    `sizes` are those that the student sees.
    """

    gradient: str
    sizes: Mapping[str, int]
    names: Mapping[str, Sequence[str]]
    differences: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Expressions of two names each, by the tensor in whose forward line they occur."""
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """The shapes of the forward pass's tensors and of their gradients."""
    fits: bool = False
    """Whether the gradient already has the right shape."""
    reassigned: Set[str] = frozenset()
    """The names that the statements assign more than once."""

    def __getitem__(self, capitals: str) -> Sequence[str]:
        return self.names[capitals]

    def are_numbers(self, names: Set[str]) -> bool:
        """True if none of the names is a tensor's."""
        return names <= {"math", *self["SIZE"], *self["SCALAR"]}


def quoted(text: str) -> str:
    """Quote a piece of a line in the middle of a sentence."""
    text = " ".join(text.split())
    return f"`{text}`" if len(text) <= LONGEST_PIECE else "this expression"


def capital(text: str) -> str:
    """Quote a piece of a line at the beginning of a sentence."""
    return text[:1].upper() + text[1:]
