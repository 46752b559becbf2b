"""What stands below a check cell: the lecture's lines, and a card for each mistake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.pictures.gradient_error import GradientError, in_digits
from grader.printable import printable
from grader.reports import wording
from grader.reports.templates import make_environment
from grader.verdict import TO_MEND, Comparison, Diagnosis, Outcome, Verdict

OLD_VALUE = (
    "Your code gives the right value, and the notebook has another: run your cells again,"
    " from the top down; if one raises, mend what it says."
)

ONLY_IN_MORE_DIGITS = (
    "Your code is right with 64-bit numbers, as the check runs it. Run your cells again; if"
    " that does not help, a line divides by what 32 bits round to zero."
)

OVERWRITTEN = (
    "Your code gives the right value, but a line that ran after it has overwritten or deleted it,"
    " such as a blank, `{name} = ...`. Take that line out, and run yours again."
)

CHANGED = (
    "Your code gives the right value, but a line that ran after it has changed it: `{line}`. Take"
    " that line out, and run yours again."
)

NOT_REACHED = (
    "Your code gives the right value, but its cell stopped at an exception when it ran last. Run it"
    " again; if it stops again, mend the line that it names, or take it out."
)

STALE = "stale"
"""The look of a section about the notebook's values, not about what was written."""


@dataclass(frozen=True, slots=True)
class Row:
    """One gradient: the verdict on its code, and its value in the notebook beside autograd's.

    `error` is the difference entry by entry, None where the two cannot be subtracted; `unreached`
    says that its line did not run, for one before it raised; `changed_by` is the line of another
    cell that has changed the value since. One that `waits` runs once another line is mended.
    """

    verdict: Verdict
    comparison: Comparison
    error: GradientError | None = None
    unreached: bool = False
    changed_by: str = ""
    waits: bool = False

    @property
    def is_wrong(self) -> bool:
        """Whether what was written is at fault: then the card says why."""
        return self.verdict.outcome in TO_MEND

    @property
    def is_stale(self) -> bool:
        """Whether the code is right, and the notebook's value is not what it gives."""
        if self.waits:
            return False
        is_off = self.verdict.outcome is Outcome.PASS and not self.comparison.approximate
        # What differs as much when it runs anew is no older value.
        return is_off and (self.verdict.comparison.approximate or bool(self.comparison.problem))

    @property
    def line(self) -> str:
        """The lecture's line with the verdict at its end."""
        outcome = self.verdict.outcome
        if self.is_stale:  # what differs is an older value, and says nothing of the line
            return f"{self.verdict.name:15s} | {wording.word(outcome)}, run again"
        # After an exception the value is an earlier run's; without one there is nothing to show.
        has_numbers = self.comparison.exact is not None and outcome is not Outcome.ERROR
        shown = self.comparison.line if has_numbers else f"{self.verdict.name:15s}"
        return f"{shown} | {wording.word(outcome)}"

    @property
    def note(self) -> str:
        """What is to be said below its line, if anything."""
        outcome, has_value = self.verdict.outcome, self.comparison.exact is not None
        said = wording.note(self.verdict)
        if outcome is Outcome.TODO and has_value:
            return said or (
                f"{self.verdict.name} has a value, but no answer cell you ran assigns it: only"
                " cells that begin with `# answer:` are checked."
            )
        if self.is_stale:
            return f"{said} {self._why_stale}".lstrip()
        return "" if self.is_wrong else said

    @property
    def _why_stale(self) -> str:
        if self.unreached:
            return NOT_REACHED
        if self.changed_by:
            return CHANGED.format(line=self.changed_by)
        if self.comparison.exact is None:
            return OVERWRITTEN.format(name=self.verdict.name)
        if self.error is not None and self.error.broken:
            return f"{self.comparison.problem} {ONLY_IN_MORE_DIGITS}"
        return OLD_VALUE


@dataclass(frozen=True, slots=True)
class Section:
    """What is wrong with one gradient, or with several in the same way.

    `look` is a verdict's word, or `STALE`; `code` is the student's line, the mistake in its middle;
    `note` a sentence that no diagnosis makes superfluous; `facts` are the shapes and the largest
    difference; `call` draws the rest of it.
    """

    look: str
    sign: str
    word: str
    names: tuple[str, ...]
    where: str = ""
    code: tuple[str, str, str] = ("", "", "")
    note: str = ""
    diagnoses: tuple[Diagnosis, ...] = ()
    facts: tuple[str, ...] = ()
    call: str = ""

    @property
    def hints_are_folded(self) -> bool:
        """A hint may tell more than a student wants to know yet; what to run again does not."""
        return self.look != STALE


def describe(rows: Sequence[Row], stale_forward: bool = False) -> str:
    """The text below a check cell; what is wrong is left to the card.

    What is said of one gradient stands below its line; what is said of several alike stands once,
    at the end. With `stale_forward`, the card says what is the matter with values that are old.
    Beside a line that stopped its cell, nothing is to be done about those behind it.
    """
    stopped = any(row.verdict.outcome is Outcome.ERROR for row in rows)
    rows = [replace(row, waits=stopped and row.unreached) for row in rows]
    notes = {row.verdict.name: "" if stale_forward and row.is_stale else row.note for row in rows}
    said = Counter(note for note in notes.values() if note)
    lines = []
    for row in rows:
        lines.append(row.line)
        if (note := notes[row.verdict.name]) and said[note] == 1:
            lines.append(f"  {note}")
    for note, count in said.items():
        if count > 1:
            lines.append(f"{', '.join(name for name in notes if notes[name] == note)}:")
            lines.append(f"  {note}")
    return "\n".join(lines)


def make_sections(
    rows: Sequence[Row],
    order: Sequence[str],
    stale: Diagnosis | None = None,
    has_heat_map: bool = True,
    changing: tuple[str, ...] = (),
) -> list[Section]:
    """What the card says, the gradient nearest to the loss first; nothing where nothing is wrong.

    Args:
        rows: the gradients that were checked.
        order: the exercise's gradients, from the loss down.
        stale: what is to be said of the notebook's forward pass, if anything is.
        has_heat_map: whether the notebook has imported `heat_map`.
        changing: the gradients whose cells change the forward pass, if only for the next run.
    """
    by_name = {row.verdict.name: row for row in rows}
    rows = [by_name[name] for name in order if name in by_name]
    sections = [_section(row, has_heat_map) for row in rows if row.is_wrong]
    if stale is not None and (named := _out_of_date(rows) or changing):
        sections.insert(0, Section(STALE, "↻", "run again", named, diagnoses=(stale,)))
    return _joined(sections)


def as_text(sections: Sequence[Section]) -> str:
    """The card where there is no HTML."""
    lines = []
    for section in sections:
        head = f"{section.sign} {section.word}: {', '.join(section.names)}"
        lines.append(f"{head} ({section.where})" if section.where else head)
        if any(section.code):
            before, piece, behind = section.code
            lines.append(f"    {before}{piece}{behind}")
            if piece:
                lines.append(f"    {' ' * len(before)}{'^' * len(piece)}")
        if section.note:
            lines.append(f"  {printable(section.note)}")
        for number, diagnosis in enumerate(section.diagnoses):
            lines.append(f"  {'Or: ' if number else ''}{printable(diagnosis.message)}")
            if diagnosis.hint:
                label = "Hint: " if section.hints_are_folded else ""
                lines.append(f"  {label}{printable(diagnosis.hint)}")
        if section.facts:
            lines.append(f"  {' '.join(map(printable, section.facts))}")
        if section.call:
            lines.append(f"  Draw the error: {section.call}")
    return "\n".join(lines)


def as_html(sections: Sequence[Section]) -> str:
    """The card as a part of a page: no script, nothing from elsewhere, the student's text escaped.

    On a dark page it is dark where the page says so (JupyterLab, Colab, VS Code), else white.
    """
    template = make_environment(Path(__file__).parent).get_template("check_card.html.jinja")
    return template.render(sections=sections)


def _section(row: Row, has_heat_map: bool) -> Section:
    verdict, comparison = row.verdict, row.comparison
    note, facts = wording.note(verdict), tuple(_facts(row))
    says_shapes = verdict.why == "shape"
    if any("shape" in one.tells for one in verdict.diagnosis):
        facts = ()
        # What raised there raised for this shape, and the notebook knows nothing of it.
        note = "" if any(reason.code == "sizes" for reason in verdict.reasons) else note
    if facts and comparison.shape != comparison.expected_shape:
        # One of the two says the shapes, and the diagnosis, if there is one, what to make of them.
        note = "" if says_shapes and verdict.diagnosis else note
        facts = () if says_shapes and not verdict.diagnosis else facts
    elif facts and says_shapes:
        # There the batch may be another, and what arrives is right.
        note = f"As the check runs it, {note}"
        facts = (f"In this notebook it has shape {comparison.shape}, as expected.", *facts[1:])
    return Section(
        look=str(verdict.outcome),
        sign=wording.SIGNS[verdict.outcome],
        word=wording.word(verdict.outcome),
        names=(verdict.name,),
        where=wording.where(verdict.place),
        code=wording.in_pieces(verdict.code, verdict.piece),
        note=note,
        diagnoses=wording.diagnoses(verdict),
        facts=facts,
        call=_call(row, has_heat_map),
    )


def _call(row: Row, has_heat_map: bool) -> str:
    """What draws the error; nothing where there is none, or where it is an earlier run's."""
    error = row.error
    if error is None or error.is_right:
        return ""
    if row.verdict.outcome is not Outcome.FAIL and not error.broken:
        return ""
    call = f'heat_map("{row.verdict.name}")'
    return call if has_heat_map else f"from grader import heat_map; {call}"


def _facts(row: Row) -> Iterator[str]:
    """The shapes, then the largest difference with its place."""
    comparison, error = row.comparison, row.error
    # After an exception the value is an earlier run's; autograd's own value says nothing.
    if comparison.exact is None or row.verdict.outcome is not Outcome.FAIL:
        return
    if comparison.shape != comparison.expected_shape:
        yield f"Shape {comparison.shape}, expected {comparison.expected_shape}."
        return
    yield f"Shape {comparison.shape}, as expected."
    if error is None:
        yield comparison.problem
    elif error.is_right and not error.largest:
        yield "In this notebook its value is right; with other numbers it is not."
    elif error.is_right:  # by rounding, or by a small mistake: who knows?
        yield f"In this notebook it differs from autograd's by {in_digits(error.largest)} at most."
    elif error.broken:
        verb = "is" if error.broken == 1 else "are"
        yield f"{error.broken} of {error.error.size} values {verb} NaN or infinite."
    elif error.worst is not None:
        at = f" at [{', '.join(map(str, error.worst))}]" if error.worst else ""
        ours, theirs = (in_digits(side[error.worst]) for side in (error.student, error.reference))
        largest = in_digits(error.largest)
        yield f"Largest difference {largest}{at}: yours {ours}, autograd's {theirs}."


def _out_of_date(rows: Sequence[Row]) -> tuple[str, ...]:
    """The gradients whose values are old, or else those whose numbers on the card are."""
    old = [row.verdict.name for row in rows if row.is_stale]
    wrong = [
        row.verdict.name
        for row in rows
        if row.verdict.outcome is Outcome.FAIL and not row.comparison.approximate
    ]
    return tuple(old or wrong)


def _joined(sections: Sequence[Section]) -> list[Section]:
    """Make one section of those that say the same, of one line or one cell."""
    groups: dict[object, list[Section]] = {}
    for section in sections:
        # What was measured is each gradient's own.
        own = section.names if section.facts else ()
        said = (section.look, section.where, section.note, section.diagnoses, own)
        groups.setdefault(said, []).append(section)
    return [
        replace(group[0], names=tuple(name for section in group for name in section.names))
        for group in groups.values()
    ]
