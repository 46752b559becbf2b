"""Edits: the small changes of a student's statements that may turn a wrong gradient right."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader.answer.own_code import OwnStatement, Span
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

    @property
    def texts(self) -> dict[int, str]:
        """The new text of each statement that changes."""
        return {self.own.number: self.text, **self.others}

    def rivals(self, other: Edit) -> bool:
        """True if both are as likely and mend the same mistake in different places."""
        (start, end), (begin, stop) = self.piece, other.piece
        is_apart = self.own is not other.own or end <= begin or stop <= start
        is_same = (self.likelihood, self.kind) == (other.likelihood, other.kind)
        return is_apart and is_same and self.text != other.text


Edits = Iterator[Edit]


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The names that an edit of one gradient's statements may use.

    `forward` are the tensors of the forward pass, `near` those of them on the way from the tensor
    to the gradients that are read; `upstreams` the other gradients, `arriving` those of the
    tensor's readers; `slopes` the readers that work number by number, `alone` those of them that
    read nothing else; `own` is what the statements themselves assign. `lecture` are the sizes that
    the student sees.
    """

    gradient: str
    forward: Sequence[str]
    near: Sequence[str]
    upstreams: Sequence[str]
    arriving: Sequence[str]
    indices: Sequence[str]
    slopes: Sequence[str]
    alone: Sequence[str]
    own: Sequence[str]
    lecture: Mapping[str, int]
    scalars: Sequence[str] = ()
    """Numbers of the forward pass that are no sizes."""

    def is_number(self, node: ast.AST) -> bool:
        """True for what has no tensor in it."""
        names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        return names <= self.lecture.keys() | {"math", *self.scalars}


def quoted(text: str) -> str:
    """A piece of a line for the middle of a sentence."""
    text = " ".join(text.split())
    return f"`{text}`" if len(text) <= LONGEST_PIECE else "this expression"


def capital(text: str) -> str:
    """The same for the beginning of one."""
    return text[:1].upper() + text[1:]
