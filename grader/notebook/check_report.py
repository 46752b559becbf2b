"""What stands below a check cell: a card with a verdict for each gradient."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.pictures.gradient_error import GradientError, in_digits
from grader.printable import printable
from grader.reports import wording
from grader.reports.templates import make_environment
from grader.verdict import TO_MEND, Comparison, Diagnosis, Outcome, Verdict

OLD_VALUE = (
    "Your code gives the right value, but the notebook has another, or none. If an earlier line of"
    " the cell raised an exception, mend that line and run the cell again. Otherwise run your cells"
    " again from the top down: a later line may change the value, as a blank `dX = ...` does."
)

STALE = "stale"
"""The look of a section about the notebook's values, not about what was written."""


@dataclass(frozen=True, slots=True)
class Row:
    """One gradient: the verdict on its code, and its value in the notebook beside autograd's.

    `error` is the difference entry by entry, None where the two cannot be subtracted; `is_own` says
    that the value stands beside the gradient of the notebook's own forward pass, which is not the
    course's.
    """

    verdict: Verdict
    comparison: Comparison
    error: GradientError | None = None
    is_own: bool = False

    @property
    def is_wrong(self) -> bool:
        """Whether what was written is at fault: then the card says why."""
        return self.verdict.outcome in TO_MEND

    @property
    def is_stale(self) -> bool:
        """Whether the code is right, and the notebook's value is not what it gives."""
        is_pass = self.verdict.outcome is Outcome.PASS and not self.is_own
        # What differs as much when it runs anew is no older value.
        is_right_anew = bool(self.verdict.comparison.approximate)
        return is_pass and is_right_anew and not self.comparison.approximate

    @property
    def numbers(self) -> str:
        """Those of the lecture's line, where they say something of the line that was written."""
        # A wrong line has its largest error instead; a carried one inherits what it is handed.
        is_right = self.verdict.outcome is Outcome.PASS and not self.is_stale
        return self.comparison.numbers if is_right else ""

    @property
    def note(self) -> str:
        """What is to be said of a gradient that asks for no mending, if anything."""
        name, said = self.verdict.name, wording.note(self.verdict)
        if self.verdict.outcome is Outcome.TODO and self.comparison.exact is not None:
            return said or (
                f"{name} has a value, but no answer cell that you ran assigns it. Only cells that"
                " begin with `# answer:` are checked."
            )
        return f"{said} {OLD_VALUE}".lstrip() if self.is_stale else said


@dataclass(frozen=True, slots=True)
class Section:
    """What is to be said of one gradient, or of several alike.

    `look` is a verdict's word, or `STALE`; `numbers` are those of the lecture's line; `code` is the
    student's line, the mistake in its middle; `note` a sentence that no diagnosis makes
    superfluous; `facts` are the shapes and the largest difference; `call` draws the rest of it.
    """

    look: str
    sign: str
    word: str
    names: tuple[str, ...]
    where: str = ""
    numbers: str = ""
    code: tuple[str, str, str] = ("", "", "")
    note: str = ""
    diagnoses: tuple[Diagnosis, ...] = ()
    facts: tuple[str, ...] = ()
    call: str = ""

    @property
    def hints_are_folded(self) -> bool:
        """A hint may tell more than a student wants to know yet; what to run again does not."""
        return self.look != STALE

    @property
    def lines(self) -> Iterator[str]:
        """The section where there is no HTML: the verdict comes first."""
        head = f"{self.sign} {self.word}" + (f": {', '.join(self.names)}" if self.names else "")
        head += f" ({self.where})" if self.where else ""
        yield f"{head} | {self.numbers}" if self.numbers else head
        if any(self.code):
            before, piece, behind = self.code
            yield f"    {before}{piece}{behind}"
            if piece:
                yield f"    {' ' * len(before)}{'^' * len(piece)}"
        if self.note:
            yield f"  {printable(self.note)}"
        for number, diagnosis in enumerate(self.diagnoses):
            yield f"  {'Or: ' if number else ''}{printable(diagnosis.message)}"
            if diagnosis.hint:
                yield f"  {'Hint: ' * self.hints_are_folded}{printable(diagnosis.hint)}"
        if self.facts:
            yield f"  {' '.join(map(printable, self.facts))}"
        if self.call:
            yield f"  Draw the error: {self.call}"


def make_sections(
    rows: Sequence[Row],
    order: Sequence[str],
    stale: Diagnosis | None = None,
    has_heat_map: bool = True,
) -> list[Section]:
    """What the card says, the gradient nearest to the loss first.

    Args:
        rows: the gradients that were checked.
        order: the exercise's gradients, from the loss down.
        stale: what is to be said of the notebook's forward pass, if anything is.
        has_heat_map: whether the notebook has imported `heat_map`.
    """
    by_name = {row.verdict.name: row for row in rows}
    rows = [by_name[name] for name in order if name in by_name]
    sections = [
        _wrong(row, has_heat_map) if row.is_wrong else _not_wrong(row, stale is not None)
        for row in rows
    ]
    if stale is not None:
        sections.insert(0, Section(STALE, "↻", "forward pass", (), diagnoses=(stale,)))
    return _joined(sections)


def as_text(sections: Sequence[Section]) -> str:
    """The card where there is no HTML."""
    return "\n".join(line for section in sections for line in section.lines)


def as_html(sections: Sequence[Section]) -> str:
    """The card as a part of a page: no script, nothing from elsewhere, the student's text escaped.

    On a dark page it is dark where the page says so (JupyterLab, Colab, VS Code), else white.
    """
    template = make_environment(Path(__file__).parent).get_template("check_card.html.jinja")
    return template.render(sections=sections)


def _head(row: Row) -> Section:
    """The verdict, then the gradient's name."""
    verdict = row.verdict
    word = wording.word(verdict.outcome) + (", run again" if row.is_stale else "")
    return Section(str(verdict.outcome), wording.SIGNS[verdict.outcome], word, (verdict.name,))


def _not_wrong(row: Row, is_forward_stale: bool) -> Section:
    # Where the forward pass is old, the card says first what to run again.
    note = wording.note(row.verdict) if is_forward_stale and row.is_stale else row.note
    return replace(_head(row), numbers=row.numbers, note=note)


def _wrong(row: Row, has_heat_map: bool) -> Section:
    verdict, comparison = row.verdict, row.comparison
    note, facts = wording.note(verdict), tuple(_facts(row))
    says_shape = verdict.why == "shape"
    if any("shape" in diagnosis.tells for diagnosis in verdict.diagnosis):
        facts = ()
    elif says_shape and facts and comparison.shape == comparison.expected_shape:
        note = f"As the check runs it, {note}"
        facts = (f"In this notebook it has shape {comparison.shape}, as expected.", *facts[1:])
    elif says_shape:
        facts = ()
    return replace(
        _head(row),
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
        yield from filter(None, [comparison.problem])
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


def _joined(sections: Sequence[Section]) -> list[Section]:
    """Make one section of those that say the same, of one line or one cell."""
    groups: dict[object, list[Section]] = {}
    for section in sections:
        # What was measured is each gradient's own.
        own = section.names if section.facts or section.numbers else ()
        said = (section.look, section.word, section.where, section.note, section.diagnoses, own)
        groups.setdefault(said, []).append(section)
    return [
        replace(group[0], names=tuple(name for section in group for name in section.names))
        for group in groups.values()
    ]
