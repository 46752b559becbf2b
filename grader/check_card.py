"""The card below a check cell: what is wrong, one section for each mistake."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from grader.answer import AnswerCell
from grader.check_text import Row
from grader.gradient_error import in_digits
from grader.marked import marked
from grader.printable import printable, visible
from grader.reports import wording
from grader.reports.result import quote
from grader.verdict import Diagnosis, Outcome

if TYPE_CHECKING:
    import jinja2

TEMPLATE = "check_card.html.jinja"

STALE = "stale"
"""The look of a section about the notebook's values, not about what was written."""


@dataclass(frozen=True, slots=True)
class Section:
    """What is wrong with one gradient, or with several in the same way.

    `look` is a verdict's word, or `STALE`; `note` a sentence that no diagnosis makes superfluous;
    `facts` are the shapes and the largest difference; `call` draws the rest of it.
    """

    look: str
    sign: str
    word: str
    names: tuple[str, ...]
    where: str = ""
    code: str = ""
    note: str = ""
    diagnoses: tuple[Diagnosis, ...] = ()
    facts: tuple[str, ...] = ()
    call: str = ""

    @property
    def hints_are_folded(self) -> bool:
        """A hint may tell more than a student wants to know yet; what to run again does not."""
        return self.look != STALE


def make_sections(
    rows: Sequence[Row],
    order: Sequence[str],
    cells: Sequence[AnswerCell],
    stale: Diagnosis | None = None,
    has_heat_map: bool = True,
) -> list[Section]:
    """What the card says, the gradient nearest to the loss first; nothing where nothing is wrong.

    Args:
        rows: the gradients that were checked.
        order: the exercise's gradients, from the loss down.
        cells: the answer cells, for the student's own lines.
        stale: what is to be said of the notebook's forward pass, if anything is.
        has_heat_map: whether the notebook has imported `heat_map`.
    """
    by_name = {row.verdict.name: row for row in rows}
    rows = [by_name[name] for name in order if name in by_name]
    sections = [_section(row, cells, has_heat_map) for row in rows if row.is_wrong]
    if stale is not None and (named := _out_of_date(rows)):
        sections.insert(0, Section(STALE, "↻", "run again", named, diagnoses=(stale,)))
    return list(_joined(sections))


def as_text(sections: Sequence[Section]) -> str:
    """The card where there is no HTML."""
    return "\n".join(line for section in sections for line in _lines(section))


def as_html(sections: Sequence[Section]) -> str:
    """The card as a part of a page: no script, nothing from elsewhere, the student's text escaped.

    On a dark page it is dark where the page says so (JupyterLab, Colab, VS Code), else near-white.
    """
    return _template().render(sections=sections)


@cache
def _template() -> jinja2.Template:
    # Only who has made a mistake waits for it.
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"marked": marked, "printable": printable, "visible": visible}
    return environment.get_template(TEMPLATE)


def _section(row: Row, cells: Sequence[AnswerCell], has_heat_map: bool) -> Section:
    verdict, comparison = row.verdict, row.comparison
    note, facts = wording.note(verdict), tuple(_facts(row))
    if facts and comparison.shape != comparison.expected_shape:
        # One of the two says the shapes, and the diagnosis, if there is one, what to make of them.
        says_shapes = note.startswith(f"{verdict.name} has shape ")
        note = "" if says_shapes and verdict.diagnosis else note
        facts = () if says_shapes and not verdict.diagnosis else facts
    return Section(
        look=str(verdict.outcome),
        sign=wording.SIGNS[verdict.outcome],
        word=wording.word(verdict.outcome),
        names=(verdict.name,),
        where=wording.where(verdict.place),
        code=quote(verdict.place, cells),
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
    elif error.is_right:
        yield "In this notebook its value is right."
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


def _joined(sections: Sequence[Section]) -> Iterator[Section]:
    """Sections that say the same, of one line or one cell, as one."""
    joined: dict[tuple[object, ...], Section] = {}
    for section in sections:
        said = (section.look, section.where, section.note, section.diagnoses)
        # What was measured is each gradient's own.
        key = (*said, section.names) if section.facts else said
        if key in joined:
            names = (*joined[key].names, *section.names)
            joined[key] = replace(joined[key], names=names)
        else:
            joined[key] = section
    yield from joined.values()


def _lines(section: Section) -> Iterator[str]:
    head = f"{section.sign} {section.word}: {', '.join(section.names)}"
    yield f"{head} ({section.where})" if section.where else head
    if section.code:
        yield f"    {visible(section.code)}"
    if section.note:
        yield f"  {printable(section.note)}"
    for number, diagnosis in enumerate(section.diagnoses):
        yield f"  {'Or: ' if number else ''}{printable(diagnosis.message)}"
        if diagnosis.hint:
            label = "Hint: " if section.hints_are_folded else ""
            yield f"  {label}{printable(diagnosis.hint)}"
    if section.facts:
        yield f"  {' '.join(map(printable, section.facts))}"
    if section.call:
        yield f"  Draw the error: {section.call}"
