"""What a check cell prints: the lecture's lines with the verdicts, then what is to be said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.answer import AnswerCell
from grader.compare import Comparison
from grader.verdict import Outcome, Place, Verdict

STALE = (
    "Your code is right, but the value in the notebook is not what it gives now: run the answer"
    " cells again, from the top down."
)


@dataclass(frozen=True, slots=True)
class Row:
    """One gradient: the verdict on its code, and the comparison of its value in the notebook."""

    verdict: Verdict
    comparison: Comparison

    @property
    def line(self) -> str:
        """The lecture's line with the verdict at its end."""
        outcome = self.verdict.outcome
        # After an exception the value is an earlier run's; without one there is nothing to show.
        has_numbers = self.comparison.exact is not None and outcome is not Outcome.ERROR
        if not has_numbers:
            word = "to do" if outcome is Outcome.TODO else outcome.value
            return f"{self.verdict.name:15s} | {word}"
        return f"{self.comparison.line} | {'to do' if outcome is Outcome.TODO else outcome.value}"

    @property
    def note(self) -> str:
        """What is to be said of it, if anything."""
        outcome, has_value = self.verdict.outcome, self.comparison.exact is not None
        if outcome is Outcome.TODO and has_value:
            return (
                f"{self.verdict.name} has a value, but no answer cell you ran assigns it: only"
                " cells that begin with `# answer:` are checked."
            )
        if outcome is Outcome.PASS and not self.comparison.approximate:
            return STALE
        return self.verdict.note


def describe(rows: Sequence[Row], cells: Sequence[AnswerCell]) -> str:
    """The text below a check cell.

    What is said of one gradient stands below its line, with the student's own code where it is at
    fault; what is said of several alike stands once, at the end.
    """
    return "\n".join(_lines(rows, {cell.grade_id: cell.source for cell in cells}))


def _lines(rows: Sequence[Row], sources: dict[str, str]) -> Iterator[str]:
    said = Counter(row.note for row in rows if row.note)
    for row in rows:
        yield row.line
        if row.note and said[row.note] == 1:
            place = row.verdict.place
            if row.verdict.outcome in (Outcome.FAIL, Outcome.ERROR, Outcome.REFUSED) and place:
                yield f"  {place.cell}, line {place.line}: {_code(place, sources)}"
            yield f"  {row.note}"
    for note, count in said.items():
        if count > 1:
            names = ", ".join(row.verdict.name for row in rows if row.note == note)
            yield f"{names}:"
            yield f"  {note}"


def _code(place: Place, sources: dict[str, str]) -> str:
    lines = sources.get(place.cell, "").splitlines()
    return lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""
