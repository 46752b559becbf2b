"""A student's page: what was handed in, what is right, and why the rest is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from functools import cache

from markupsafe import Markup

from grader.gradebook.board_svg import board_svg
from grader.gradebook.course_facts import exercises_of
from grader.gradebook.pages import environment, policy, style
from grader.gradebook.points import points_text
from grader.gradebook.results_file import FileResult, GradedFile, RunFacts
from grader.gradebook.rubric import ONE, Rubric
from grader.gradebook.table import Cell, Column, Row, Status, Table
from grader.gradebook.verdict_table import verdict_table
from grader.reports import wording
from grader.verdict import Flag, Outcome, Report, Verdict, count_outcomes

TEMPLATE = "student.html.jinja"
STYLES = ("look.css", "student.css")

FOR_STUDENTS = frozenset(
    {
        "autograd",
        "metadata-dropped",
        "duplicate-answer",
        "missing-answer",
        "not-code",
        "other-exercise",
        "outside-answer",
        "unreadable-answer",
    }
)
"""Flags that `grader check` shows a student too. All others, and any to come, are between the
instructor and the grader: a suspicion is no feedback."""

GradedFiles = Mapping[str, GradedFile]
"""The files that count, by their ids."""


@dataclass(frozen=True, slots=True)
class File:
    """A file as its owner knows it: without the folders, which may hold others' names."""

    name: str
    submitted: str
    late: bool
    error: str


@dataclass(frozen=True, slots=True)
class Part:
    """A notebook on a student's page."""

    notebook: str
    status: Status
    points: str
    max_points: str
    unreadable: Sequence[File]
    superseded: Sequence[File]
    file: File | None = None
    late: str = ""
    verdicts: Sequence[Verdict] = ()
    code: Mapping[str, str] | None = None
    flags: Sequence[Flag] = ()
    bar: Markup | str = ""
    pictures: Sequence[Markup] = ()
    counts: Mapping[Outcome, str] = field(default_factory=dict)
    wrong: Sequence[Verdict] = ()
    worth_knowing: Sequence[Verdict] = ()
    gradients: Markup | str = ""
    """The table of all of them."""


@dataclass(frozen=True, slots=True)
class StudentPage:
    """What the template shows. `weighted` if gradients do not all earn one point."""

    id: str
    name: str
    points: str
    max_points: str
    notebooks: Sequence[Part]
    elsewhere: Sequence[File]
    weighted: bool
    versions: str


def student_page(row: Row, table: Table, graded: GradedFiles, rubric: Rubric) -> str:
    """The page, which holds nothing of any other student, no seed and no suspicion."""
    weighted = is_weighted(rubric)
    parts = [
        _part(f"n{number}", column, cell, graded, rubric, weighted)
        for number, (column, cell) in enumerate(zip(table.columns, row.cells, strict=True), 1)
    ]
    page = StudentPage(
        row.student.id,
        row.student.name or row.student.id,
        points_text(row.points),
        points_text(row.max_points),
        parts,
        [_file(file) for file in row.elsewhere],
        weighted,
        versions_text({file.run for file in graded.values()}),
    )
    style_text, policy_text = _style()
    template = environment().get_template(TEMPLATE)
    text = template.render(page=page, style=style_text, policy=policy_text)
    return text.strip() + "\n"


@cache
def _style() -> tuple[Markup, str]:
    text = style(*STYLES)
    return text, policy(text)


def is_weighted(rubric: Rubric) -> bool:
    """Whether a gradient's points are more than its verdict says."""
    contract = rubric.carried == rubric.default == ONE and not rubric.points and not rubric.defaults
    return not contract


def _part(
    id_: str, column: Column, cell: Cell, graded: GradedFiles, rubric: Rubric, weighted: bool
) -> Part:
    points, most = points_text(cell.points), points_text(cell.max_points)
    unreadable = [_file(file) for file in cell.unreadable]
    superseded = [_file(file) for file in cell.superseded]
    if cell.counts is None:
        return Part(column.notebook, cell.status, points, most, unreadable, superseded)
    file = graded[cell.counts.id]
    report = file.report
    wrong = wording.wrong(report.verdicts)
    named = {verdict.name for verdict in wrong}
    worth_knowing = [v for v in report.verdicts if v.note and v.name not in named]
    return Part(
        column.notebook,
        cell.status,
        points,
        most,
        unreadable,
        superseded,
        _file(cell.counts),
        _late(cell, rubric.late),
        report.verdicts,
        file.code,
        [flag for flag in wording.further_flags(report) if flag.kind in FOR_STUDENTS],
        bar(count_outcomes(report.verdicts)),
        _pictures(column.notebook, report),
        wording.counts(report.verdicts),
        wrong,
        worth_knowing,
        verdict_table(
            report.verdicts,
            id_,
            {verdict.name for verdict in (*wrong, *worth_knowing)},
            _earned(column, report, rubric) if weighted else None,
        ),
    )


def _late(cell: Cell, share: Fraction) -> str:
    if cell.status is not Status.LATE:
        return ""
    if share == 1:
        return "This notebook came in late; it keeps its points."
    return f"This notebook came in late: it keeps {points_text(share * 100)} % of its points."


def _earned(column: Column, report: Report, rubric: Rubric) -> dict[str, str]:
    prefixes = {gradient: prefix for prefix, gradient in column.gradients}
    return {
        verdict.name: f"{points_text(rubric.earned(prefix, verdict.name, verdict.outcome))}"
        f" of {points_text(rubric.worth(prefix, verdict.name))}"
        for verdict in report.verdicts
        for prefix in [prefixes.get(verdict.name, "")]
    }


def _pictures(notebook: str, report: Report) -> list[Markup]:
    outcomes = {verdict.name: verdict.outcome for verdict in report.verdicts}
    return [board_svg(exercise, outcomes) for exercise in exercises_of(notebook)]


def _file(file: FileResult) -> File:
    return File(file.file.rpartition("/")[2], _moment(file.submitted), file.late, file.error)


def _moment(submitted: str) -> str:
    """A time as people write it, in the zone in which it was written down."""
    try:
        moment = datetime.fromisoformat(submitted)
    except ValueError:
        return submitted
    return f"{moment:%d %b %Y, %H:%M}{f' {moment:%Z}' if moment.tzinfo else ''}"


def bar(counts: Mapping[Outcome, int]) -> Markup:
    """How many gradients have each outcome, as one bar."""
    total, left, pieces = sum(counts.values()), 0.0, []
    for outcome, number in counts.items():
        width = 100 * number / total
        pieces.append(f'<rect class="{outcome}" x="{left:.2f}" width="{width:.2f}" height="1"/>')
        left += width
    return Markup(
        '<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(pieces)}</svg>"
    )


def versions_text(run: set[RunFacts]) -> str:
    """The programs that graded, as one line."""
    programs = sorted({f"{name} {version}" for facts in run for name, version in facts.versions})
    return f"Graded with {', '.join(programs)}." if programs else ""
