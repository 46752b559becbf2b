"""One-fault variants of right answers to programs that the course does not contain."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from corpus.readers.other_programs import OTHER_EXERCISES
from corpus.readers.places import ANSWERS, MISTAKES
from grader.diagnosis.kinds import Kind
from grader.program.exercises import Exercise

FILE = MISTAKES / "other_exercises.toml"
BY_PREFIX: Mapping[str, Exercise] = {exercise.prefix: exercise for exercise in OTHER_EXERCISES}


@dataclass(frozen=True, slots=True)
class Variant:
    """A right answer with `right` replaced by `wrong`; `kinds` are those that truly name it."""

    prefix: str
    style: str
    gradient: str
    right: str
    wrong: str
    kinds: frozenset[Kind]
    why: str

    def __post_init__(self) -> None:
        if right_answers(self.prefix)[self.style].count(self.right) != 1:
            raise ValueError(f"{self.key}: what is exchanged does not stand there once")
        if len(self.kinds) != 1 and not self.why:
            raise ValueError(f"{self.key}: several kinds without a reason")

    @property
    def source(self) -> str:
        """The answer's text with the mistake in it."""
        return right_answers(self.prefix)[self.style].replace(self.right, self.wrong)

    @property
    def key(self) -> str:
        return f"{self.prefix} {self.style} {self.gradient}: {self.right!r} -> {self.wrong!r}"


@cache
def right_answers(prefix: str) -> Mapping[str, str]:
    """Every right answer to a program, by its style."""
    files = sorted((ANSWERS / prefix / "right").glob("*.py"))
    return {path.stem: path.read_text(encoding="utf-8") for path in files}


@cache
def variants(prefix: str) -> tuple[Variant, ...]:
    """The mistakes written down for a program."""
    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["mistake"]
    return tuple(
        Variant(
            prefix=prefix,
            style=entry["style"],
            gradient=entry["gradient"],
            right=entry["right"],
            wrong=entry["wrong"],
            kinds=frozenset(map(Kind, entry["kinds"])),
            why=entry.get("why", ""),
        )
        for entry in entries
        if entry["prefix"] == prefix
    )
