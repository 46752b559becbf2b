"""A student's page: what was handed in, what is right, and why the rest is not."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from markupsafe import Markup, escape

from grader.classroom.course_facts import exercises_of
from grader.classroom.gradebook.pages import environment, policy, style
from grader.classroom.gradebook.rubric import ONE, Rubric, points_text
from grader.classroom.gradebook.table import Column, Row
from grader.classroom.run.line import Line
from grader.printable import printable
from grader.reports import wording
from grader.verdict import Comparison, Outcome, Report, count_outcomes

TEMPLATE = "student.html.jinja"
STYLES = ("look.css", "student.css")

FOR_STUDENTS = frozenset(
    {
        "metadata-dropped",
        "duplicate-answer",
        "missing-answer",
        "not-code",
        "other-exercise",
        "time-limit",
        "unreadable-answer",
    }
)
"""Flags that `grader check` shows a student too. All others, and any to come, are between the
instructor and the grader: a suspicion is no feedback."""

Lines = Mapping[str, Line]
"""The lines of the files that count, by their ids."""


def student_page(row: Row, lines: Lines, rubric: Rubric) -> str:
    """The page, which holds nothing of any other student, no seed and no suspicion."""
    template = environment().get_template(TEMPLATE)
    text = template.render(
        row=row,
        lines=lines,
        rubric=rubric,
        versions={line.run.versions for line in lines.values()},
        style=style(*STYLES),
        policy=policy(style(*STYLES)),
        boards=boards,
        count_outcomes=count_outcomes,
        for_students=FOR_STUDENTS,
        moment=moment,
        verdict_table=verdict_table,
    )
    return text.strip() + "\n"


class _Mark(NamedTuple):
    """How an outcome stands on a board."""

    outcome: Outcome
    word: str
    sign: str


_MARKS = {
    outcome: _Mark(outcome, wording.word(outcome), wording.SIGNS[outcome]) for outcome in Outcome
}


def boards(report: Report) -> list[Markup]:
    """The exercises as SVG: gradients flow from the loss down, each marked with its verdict.

    `grader.pictures.board_picture` draws the same graph with matplotlib for one notebook in half a
    second: for a class that would be hours. Colours are the page's own, light or dark.
    """
    outcomes = {verdict.name: verdict.outcome for verdict in report.verdicts}
    return [
        Markup(  # of the course's own names: nothing to escape
            exercise.board.format_map(
                {name: _MARKS[outcomes.get(name, Outcome.TODO)] for name in exercise.gradients}
            )
        )
        for exercise in exercises_of(report.notebook)
    ]


def verdict_table(
    report: Report, column: Column, rubric: Rubric, id_: str, linked: Collection[str]
) -> Markup:
    """The table of all gradients: the lecture's comparison, a row a gradient.

    `linked` gradients lead to the text about them, which has an id that begins with `id_`. There
    is a column of points if a gradient's points are more than its verdict says.
    """
    weighted = rubric.points or rubric.defaults or not rubric.carried == rubric.default == ONE
    prefixes = {gradient: prefix for prefix, gradient in column.gradients}
    rows = []
    for verdict in report.verdicts:
        points = None
        if weighted:
            prefix = prefixes.get(verdict.name, "")
            earned = rubric.earned(prefix, verdict.name, verdict.outcome)
            points = f"{points_text(earned)} of {points_text(rubric.worth(prefix, verdict.name))}"
        rows.append(
            _row(
                verdict.name,
                id_ if verdict.name in linked else "",
                verdict.outcome,
                points,
                verdict.comparison,
                wording.where(verdict.place),
            )
        )
    headings = ("gradient", "verdict", *(["points"] if weighted else []), *_COMPARED, "place")
    return Markup(
        '<table class="gradients">\n<thead><tr>'
        + "".join(f"<th>{heading}</th>" for heading in headings)
        + "</tr></thead>\n<tbody>\n"
        + "\n".join(rows)
        + "\n</tbody>\n</table>"
    )


_COMPARED = ("exact", "approximate", "maxdiff", "shape")


# Half of a large class's pages is this table, and most of its rows are the same for many students:
# a template would make it anew for each, and take three times as long as everything else.
@lru_cache(maxsize=10_000)
def _row(
    name: str, id_: str, outcome: Outcome, points: str | None, found: Comparison, where: str
) -> str:
    gradient = f"<code>{escape(printable(name))}</code>"
    if id_:
        gradient = f'<a href="#{id_}-{escape(printable(name))}">{gradient}</a>'
    sign = f'<span aria-hidden="true">{wording.SIGNS[outcome]}</span>'
    cells = [
        f"<td>{gradient}</td>",
        f'<td><span class="verdict {outcome}">{sign} {wording.word(outcome)}</span></td>',
    ]
    if points is not None:
        cells.append(f'<td class="points" data-name="points">{points}</td>')
    compared = (
        wording.truth(found.exact),
        wording.truth(found.approximate),
        wording.difference(found.maxdiff),
        wording.shape(found.shape),
    )
    for heading, said in zip(_COMPARED, compared, strict=True):
        wrong = heading == "shape" and found.shape not in (None, found.expected_shape)
        class_ = "number shape-wrong" if wrong else "number"
        cells.append(f'<td class="{class_}" data-name="{heading}">{said}</td>')
    cells.append(f'<td class="quiet" data-name="place">{escape(printable(where)) or "–"}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def moment(submitted: str) -> str:
    """A time as people write it, in the zone in which it was written down."""
    try:
        time = datetime.fromisoformat(submitted)
    except ValueError:
        return submitted
    return f"{time:%d %b %Y, %H:%M}{f' {time:%Z}' if time.tzinfo else ''}"
