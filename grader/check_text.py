"""What a check cell prints: the lecture's lines with the verdicts, and what is no mistake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.comparison import Comparison
from grader.gradient_error import GradientError
from grader.verdict import Outcome, Verdict

STALE = (
    "Your code is right, but the value in the notebook is not what it gives now: run the answer"
    " cells again, from the top down."
)


@dataclass(frozen=True, slots=True)
class Row:
    """One gradient: the verdict on its code, and its value in the notebook beside autograd's.

    `error` is the difference entry by entry, None where the two cannot be subtracted.
    """

    verdict: Verdict
    comparison: Comparison
    error: GradientError | None = None

    @property
    def is_wrong(self) -> bool:
        """Whether what was written is at fault: then the card says why."""
        return self.verdict.outcome in (Outcome.FAIL, Outcome.ERROR, Outcome.REFUSED)

    @property
    def is_stale(self) -> bool:
        """Whether the code is right, and the notebook's value is not what it gives."""
        return self.verdict.outcome is Outcome.PASS and not self.comparison.approximate

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
        """What is to be said below its line, if anything."""
        outcome, has_value = self.verdict.outcome, self.comparison.exact is not None
        if outcome is Outcome.TODO and has_value:
            return (
                f"{self.verdict.name} has a value, but no answer cell you ran assigns it: only"
                " cells that begin with `# answer:` are checked."
            )
        if self.is_stale:
            return STALE
        return "" if self.is_wrong else self.verdict.note


def describe(rows: Sequence[Row], stale_forward: bool = False) -> str:
    """The text below a check cell; what is wrong is left to the card.

    What is said of one gradient stands below its line; what is said of several alike stands once,
    at the end. With `stale_forward`, the card says what is the matter with values that are old.
    """
    return "\n".join(_lines(rows, stale_forward))


def _lines(rows: Sequence[Row], stale_forward: bool) -> Iterator[str]:
    notes = {row.verdict.name: "" if stale_forward and row.is_stale else row.note for row in rows}
    said = Counter(note for note in notes.values() if note)
    for row in rows:
        yield row.line
        if (note := notes[row.verdict.name]) and said[note] == 1:
            yield f"  {note}"
    for note, count in said.items():
        if count > 1:
            yield f"{', '.join(name for name in notes if notes[name] == note)}:"
            yield f"  {note}"
