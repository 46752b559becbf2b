"""Mistakes as people write them: each in a line of its own style, not in a derived formula.

A mistake's code makes one gradient; the others come from a right answer. Its kinds were given by
hand, by what a teacher would call the mistake, before any grader saw it. Some are kept apart: a
grader that is mended with the open ones has not met them. What was looked at once is open.
"""

from __future__ import annotations

import ast
import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from corpus.readers.one_fault import right_answer
from corpus.readers.places import PEOPLE
from grader.diagnosis.kinds import Kind

REST: Mapping[str, str] = {
    "ex1": "lecture",
    "ex2": "lecture",
    "ex2s": "one_expression",
    "ex3": "derivation",
    "ex4": "notebook",
}
"""The right answer from which the other gradients come, by exercise."""


PLACES = {2: "two places", 3: "three places"}
"""What a note says of a piece that stands in the code more than once."""


class Part(StrEnum):
    """One part is there to learn from, the other to measure with, once; each is a folder."""

    OPEN = "open"
    KEPT = "kept"


@dataclass(frozen=True)
class Mistake:
    """What a person wrote for one gradient, and what the mistake in it is called.

    `kinds` are its true names; without any, silence is right, for the `reason`. `piece` is the
    part of the code that is wrong, empty where something is missing everywhere; `belongs` says
    what should stand there. `statements_of` names the gradient whose statements the code takes
    the place of, where that is not the gradient that comes out wrong: a change through an alias.
    """

    exercise: str
    gradient: str
    code: str
    kinds: tuple[str, ...]
    piece: str
    belongs: str
    reason: str = ""
    note: str = ""
    statements_of: str = ""

    def __post_init__(self) -> None:
        many = next((count for count, said in PLACES.items() if said in self.note), 1)
        if not {*self.kinds} <= {*Kind} or (len(self.kinds) > 1 and not self.reason):
            raise ValueError(f"{self.key}: unknown kinds, or several without a reason")
        if not self.belongs or (self.piece and len(self.places) != many):
            raise ValueError(f"{self.key}: nothing belongs here, or the piece is not in the code")

    @cached_property
    def digest(self) -> str:
        """A hash of what was written; it says nothing about the mistake."""
        text = "\n".join((self.exercise, self.gradient, self.code))
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def meaning(self) -> str:
        """What was written, with a number in the place of each name that the code makes."""
        tree = ast.parse(self.code)
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        made = dict.fromkeys(n.id for n in nodes if isinstance(n.ctx, ast.Store))
        own = {name: f"own_{i}" for i, name in enumerate(made) if name != self.gradient}
        for node in nodes:
            node.id = own.get(node.id, node.id)
        return f"{self.exercise} {self.gradient} {ast.unparse(tree)}"

    @property
    def key(self) -> str:
        """What reports call it."""
        return f"{self.exercise} | {self.gradient} | {self.digest[:8]}"

    @property
    def places(self) -> list[tuple[int, int]]:
        """Where the piece stands in the code, as a whole word if it is one."""
        if not self.piece:
            return []
        before = r"(?<!\w)" if self.piece[0].isidentifier() or self.piece[0].isdigit() else ""
        after = r"(?!\w)" if self.piece[-1].isidentifier() or self.piece[-1].isdigit() else ""
        found = re.finditer(before + re.escape(self.piece) + after, self.code)
        return [match.span() for match in found]

    @property
    def source(self) -> str:
        """The whole answer: a right one, with this code in the place of one gradient's."""
        return answer_with(self.exercise, self.statements_of or self.gradient, self.code)


@cache
def mistakes(*parts: Part) -> tuple[Mistake, ...]:
    """The corpus, or some parts of it."""
    return tuple(
        Mistake(**_with_tuple(entry))
        for part in parts or Part
        for path in sorted((PEOPLE / part).glob("ex*.toml"))
        for entry in _entries(path, "mistake")
    )


@cache
def true_names() -> Mapping[str, frozenset[str]]:
    """The kinds that are true of a mistake, by what it says when its own names are of no account.

    Some wrote the same line and called it by different names, without knowing of each other: what
    either called it is true of it.
    """
    names: dict[str, frozenset[str]] = {}
    for one in mistakes():
        names[one.meaning] = names.get(one.meaning, frozenset()) | {*one.kinds}
    return names


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A right answer for one gradient, or for several, in an unusual style."""

    exercise: str
    gradient: str
    code: str
    why: str

    @property
    def source(self) -> str:
        return answer_with(self.exercise, self.gradient, self.code)


def shortcuts() -> tuple[Shortcut, ...]:
    """Right answers of which nothing may be said."""
    return tuple(Shortcut(**entry) for entry in _entries(PEOPLE / "right.toml", "right"))


def _entries(path: Path, table: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))[table]
    return entries


def _with_tuple(entry: dict[str, Any]) -> dict[str, Any]:
    return entry | {"kinds": tuple(entry["kinds"])}


# --- whole answers


def answer_with(exercise: str, gradient: str, code: str) -> str:
    """A right answer in which `code` makes the gradient, where its last statement stood."""
    right = right_answer(exercise, REST[exercise])
    makers = [s for s in ast.parse(right).body if gradient in _made_by(s)]
    assert makers, (exercise, gradient)
    lines = right.split("\n")
    for maker in reversed(makers):
        assert maker.end_lineno is not None
        lines[maker.lineno - 1 : maker.end_lineno] = (
            [code.strip("\n")] if maker is makers[-1] else []
        )
    return "\n".join(lines)


def _made_by(statement: ast.stmt) -> set[str]:
    """The names that a statement of a right answer assigns or adds to."""
    targets: list[ast.expr] = []
    for node in ast.walk(statement):
        match node:
            case ast.Assign(targets=several):
                targets += several
            case ast.AugAssign(target=target):
                targets.append(target)
    roots = [t.value if isinstance(t, ast.Subscript) else t for t in targets]
    return {root.id for root in roots if isinstance(root, ast.Name)}
