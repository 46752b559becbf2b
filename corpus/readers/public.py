"""Mistakes of real people: what stands in public copies of the lecture's notebook.

Each was restated in the lecture's names; its source is a repository and a commit. A repository is
in one half of the corpus or in the other, by a hash of its name, so that nobody's second mistake
is in the half that is kept apart.
"""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

from corpus.readers.people import Part, answer_with
from corpus.readers.places import PUBLIC
from grader.diagnosis.kinds import Kind


@dataclass(frozen=True, slots=True)
class PublicMistake:
    """What somebody wrote for one gradient.

    `kinds` are the names that are true of it, the one that a teacher would choose first. Without
    `is_named` nobody asks for one: the exception says enough, or the list has no name for it.
    `repositories` counts the copies in which it was seen. `statements_of` names the gradient whose
    statements the code takes the place of, where another one comes out wrong: a change through an
    alias.
    """

    exercise: str
    gradient: str
    code: str
    kinds: tuple[str, ...]
    repository: str
    commit: str
    repositories: int = 1
    is_named: bool = True
    reason: str = ""
    statements_of: str = ""

    def __post_init__(self) -> None:
        if not {*self.kinds} <= {*Kind}:
            raise ValueError(f"{self.key}: unknown kinds")
        if not self.reason and (len(self.kinds) != 1 or not self.is_named):
            raise ValueError(f"{self.key}: several kinds, or no name, without a reason")

    @property
    def key(self) -> str:
        """What reports call it."""
        text = "\n".join((self.exercise, self.gradient, self.code))
        return (
            f"{self.exercise} | {self.gradient} | {hashlib.sha256(text.encode()).hexdigest()[:8]}"
        )

    @property
    def source(self) -> str:
        """The whole answer: a right one, with this code in the place of one gradient's."""
        return answer_with(self.exercise, self.statements_of or self.gradient, self.code)


def part_of(repository: str) -> Part:
    """The half in which a repository's mistakes are."""
    digest = hashlib.sha256(repository.encode()).digest()
    return Part.KEPT if digest[-1] % 2 else Part.OPEN


@cache
def mistakes(*parts: Part) -> tuple[PublicMistake, ...]:
    """The corpus, or a half of it."""
    return tuple(
        _mistake(entry)
        for part in parts or Part
        for entry in tomllib.loads((PUBLIC / f"{part}.toml").read_text(encoding="utf-8"))["mistake"]
    )


def _mistake(entry: dict[str, Any]) -> PublicMistake:
    repository, _, commit = entry.pop("source").partition("@")
    kinds = tuple(entry.pop("kinds"))
    return PublicMistake(**entry, kinds=kinds, repository=repository, commit=commit)
