"""The words every report uses for the same thing."""

from __future__ import annotations

from collections.abc import Sequence

from grader.verdict import Diagnosis, Flag, Outcome, Place, Report, Verdict, count_outcomes

SIGNS = {
    Outcome.PASS: "✓",
    Outcome.CARRIED: "↓",
    Outcome.FAIL: "✗",
    Outcome.TODO: "…",
    Outcome.ERROR: "!",
    Outcome.REFUSED: "⊘",
}
"""One sign an outcome: colour alone tells some readers nothing."""

ABSENT = "–"
"""Where there is nothing to compare."""


def word(outcome: Outcome) -> str:
    return "to do" if outcome is Outcome.TODO else str(outcome)


def points(report: Report) -> str:
    return f"{report.score} of {report.max_score} points"


def counts(verdicts: Sequence[Verdict]) -> dict[Outcome, str]:
    """`{Outcome.PASS: "18 pass", ...}`, outcomes that do not occur left out."""
    return {
        outcome: f"{number} {word(outcome)}" for outcome, number in count_outcomes(verdicts).items()
    }


def truth(value: bool | None) -> str:
    return ABSENT if value is None else str(value)


def difference(maxdiff: float | None) -> str:
    """A maxdiff (nats per unit of the tensor) short enough for a column."""
    if maxdiff is None:
        return ABSENT
    if maxdiff == 0:
        return "0.0"
    return f"{maxdiff:.1e}" if maxdiff < 1e-3 else f"{maxdiff:.2g}"


def shape(dimensions: tuple[int, ...] | None) -> str:
    return ABSENT if dimensions is None else str(tuple(dimensions))


def where(place: Place | None) -> str:
    """`ex1-softmax, line 7`."""
    return "" if place is None else f"{place.cell}, line {place.line}"


MOST_DIAGNOSES = 2
"""Likely reasons that are told to a student: a third would be guessing."""


def diagnoses(verdict: Verdict) -> tuple[Diagnosis, ...]:
    """The reasons worth telling, the likeliest first."""
    return verdict.diagnosis[:MOST_DIAGNOSES]


def note(verdict: Verdict) -> str:
    """The judge's sentence, but a vague one where a diagnosis says more."""
    vague = "This is not the gradient of the loss with respect to "
    return "" if verdict.diagnosis and verdict.note.startswith(vague) else verdict.note


def reason(verdict: Verdict) -> str:
    """The one sentence where there is room for one; "" for a gradient that needs none."""
    return next(filter(None, (note(verdict), *(each.message for each in verdict.diagnosis))), "")


def wrong(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts that need the student's hand, in the exercise's order."""
    return [v for v in verdicts if v.outcome in {Outcome.FAIL, Outcome.ERROR, Outcome.REFUSED}]


def worth_knowing(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The other verdicts with something to say, in the exercise's order."""
    return [v for v in verdicts if v.note and v not in wrong(verdicts)]


def further_flags(report: Report) -> list[Flag]:
    """The flags that no verdict has said already; a refused line is both, and read once."""
    said = {(verdict.note, verdict.place) for verdict in report.verdicts}
    return [flag for flag in report.flags if (flag.message, flag.place) not in said]
