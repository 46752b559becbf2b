"""The words that all reports share."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files

from grader.printable import listed, visible
from grader.verdict import (
    HAPPENED,
    LONGEST_SENTENCE,
    TO_MEND,
    Diagnosis,
    Flag,
    Outcome,
    Place,
    Reason,
    Report,
    Verdict,
    count_outcomes,
    two_digits,
)

SIGNS = {
    Outcome.PASS: "✓",
    Outcome.CARRIED: "↓",
    Outcome.FAIL: "✗",
    Outcome.TODO: "…",
    Outcome.ERROR: "!",
    Outcome.REFUSED: "⊘",
}
"""A sign for each outcome, because colour alone tells some readers nothing."""

ABSENT = "–"
"""The dash to show when there is nothing to compare."""


def word(outcome: Outcome) -> str:
    """The outcome in words: "to do", or its own."""
    return "to do" if outcome is Outcome.TODO else str(outcome)


def points(report: Report) -> str:
    """`18 of 26 points`."""
    return f"{report.score} of {report.max_score} {report.unit}"


def counts(verdicts: Sequence[Verdict]) -> dict[Outcome, str]:
    """Count the outcomes that occur: `{Outcome.PASS: "18 pass", ...}`."""
    return {
        outcome: f"{number} {word(outcome)}" for outcome, number in count_outcomes(verdicts).items()
    }


def truth(value: bool | None) -> str:
    """`True`, `False`, or a dash if there is nothing to compare."""
    return ABSENT if value is None else str(value)


def difference(maxdiff: float | None) -> str:
    """Shorten a maxdiff (nats per unit of the tensor) for a column."""
    return ABSENT if maxdiff is None else two_digits(maxdiff)


def shape(dimensions: tuple[int, ...] | None) -> str:
    """`(32, 27)`, or a dash if there is no tensor."""
    return ABSENT if dimensions is None else str(tuple(dimensions))


def where(place: Place | None) -> str:
    """Name a place: `ex1-softmax, line 7`; "" if there is none.

    >>> where(Place("ex1-softmax#2", 7))
    'ex1-softmax (cell 2), line 7'
    """
    if place is None:
        return ""
    grade_id, _, number = place.cell.partition("#")
    return f"{grade_id}{f' (cell {number})' if number else ''}, line {place.line}"


ROWS: Mapping[str, str] = tomllib.loads(
    files(__package__).joinpath("reasons.toml").read_text(encoding="utf-8")
)
"""The sentence for each code of a reason."""


def say(reason: Reason) -> str:
    """Put a reason into words."""
    said = reason.arguments
    given = {name: listed(each) if isinstance(each, tuple) else each for name, each in said}
    return ROWS[reason.code].format(**given)[:LONGEST_SENTENCE]


def note(verdict: Verdict) -> str:
    """All reasons of a verdict in words; "" for a plain `pass`."""
    return " ".join(map(say, verdict.reasons))


MOST_DIAGNOSES = 2
"""A student reads this many likely reasons: a third would be guessing."""


def diagnoses(verdict: Verdict) -> tuple[Diagnosis, ...]:
    """The reasons worth telling, the likeliest first."""
    return verdict.diagnosis[:MOST_DIAGNOSES]


def sentences(verdict: Verdict) -> list[str]:
    """Everything worth telling: the note, then each likely reason with its hint."""
    said = (f"{one.message} {one.hint}".strip() for one in diagnoses(verdict))
    return [sentence for sentence in (note(verdict), *said) if sentence]


def in_short(verdict: Verdict) -> str:
    """The most important sentence alone; "" if there is nothing to say."""
    return note(verdict) or next((each.message for each in verdict.diagnosis), "")


def wrong(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts that ask the student to mend something, in the exercise's order."""
    return [v for v in verdicts if v.outcome in TO_MEND]


def worth_knowing(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The other verdicts with something to say, in the exercise's order."""
    return [v for v in verdicts if v.reasons and v.outcome not in TO_MEND]


def together(verdicts: Sequence[Verdict]) -> list[list[Verdict]]:
    """Group the verdicts that say the same, in the order of the first of each group."""
    groups: dict[object, list[Verdict]] = {}
    for verdict in verdicts:
        said = verdict.outcome, verdict.reasons, verdict.diagnosis
        groups.setdefault(said, []).append(verdict)
    return [*groups.values()]


def further_flags(report: Report) -> list[Flag]:
    """The flags that no verdict repeats, so that a refused line is shown only once."""
    said = {
        (verdict.place, reason["kind"])
        for verdict in report.verdicts
        for reason in verdict.reasons
        if reason.code == "refused"
    }
    errors = {verdict.place for verdict in report.verdicts if verdict.outcome is Outcome.ERROR}
    return [
        flag
        for flag in report.flags
        if (flag.place, flag.kind) not in said
        and not (flag.kind in HAPPENED and flag.place in errors)
    ]


def flagged(flag: Flag) -> str:
    """A flag's sentence, followed by its place in brackets."""
    return f"{flag.message} ({where(flag.place)})" if flag.place else flag.message


def in_pieces(code: str, piece: tuple[int, int] | None) -> tuple[str, str, str]:
    """Split a student's line into the part before the mistake, the mistake, and the rest."""
    start, end = piece or (len(code), len(code))
    return visible(code[:start]), visible(code[start:end]), visible(code[end:])
