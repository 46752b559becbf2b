"""How the verdicts on mistakes fare: who is blamed, and whether the first reason is right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from corpus.verdicts import BY_PREFIX, Case, Row
from grader.diagnosis.kinds import Kind

BLAMED, EARNED = frozenset("fe"), frozenset("pc")


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer with one mistake, and the line that the file has about it."""

    case: Case
    row: Row

    @property
    def outcomes(self) -> dict[str, str]:
        """The letter of each gradient."""
        return dict(zip(BY_PREFIX[self.case.prefix].gradients, self.row.outcomes, strict=True))

    @property
    def is_blamed_alone(self) -> bool:
        """True if the wrong gradient is blamed, and all others earn their points."""
        others = {o for name, o in self.outcomes.items() if name != self.case.wrong}
        return self.outcomes[self.case.wrong] in BLAMED and others <= EARNED

    @property
    def said(self) -> str:
        """The kind of the wrong gradient's first diagnosis; empty if nothing was said."""
        return dict(one.split(":") for one in self.row.diagnoses.split()).get(self.case.wrong, "")

    @property
    def is_named(self) -> bool:
        """True if the diagnosis names the mistake."""
        return self.said in self.case.kinds

    @property
    def is_misnamed(self) -> bool:
        """True if it names another; a wrong shape is wrong, whatever the mistake is called."""
        return self.said not in ("", Kind.WRONG_SHAPE, *self.case.kinds)


@dataclass(frozen=True, slots=True)
class Shares:
    """How the diagnosis fares: answers, those with a name to be found, and how many it finds."""

    answers: int
    asked: int
    named: int
    misnamed: int

    @property
    def share_named(self) -> float:
        """Of the mistakes that have a name."""
        return self.named / self.asked

    @property
    def share_misnamed(self) -> float:
        """Of all mistakes."""
        return self.misnamed / self.answers


def mistakes(every: Iterable[Case], rows: Mapping[str, Row]) -> Iterator[Judged]:
    """The answers with one mistake, with what is said of them."""
    yield from (Judged(case, rows[case.key]) for case in every if case.wrong)


def shares(judged: Iterable[Judged]) -> Shares:
    """Count."""
    each = [*judged]
    asked = [one for one in each if one.case.is_named]
    named, misnamed = sum(one.is_named for one in asked), sum(one.is_misnamed for one in each)
    return Shares(len(each), len(asked), named, misnamed)
