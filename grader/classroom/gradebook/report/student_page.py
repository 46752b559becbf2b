"""A student's page: what was handed in, what is right, and why the rest is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial

from grader.classroom.gradebook.book import Record
from grader.classroom.gradebook.codes import FOR_STUDENTS, Role
from grader.classroom.gradebook.lost_work import about_lost
from grader.classroom.gradebook.report.pages import render
from grader.classroom.gradebook.rubric import ONE, Rubric, points_text
from grader.classroom.run.line import Line
from grader.classroom.run.results import Results
from grader.reports.course_boards import boards
from grader.verdict import Report, count_outcomes

Lines = Mapping[str, Line]
"""The lines of the files that count, by id."""


def student_page(row: Record, lines: Lines, rubric: Rubric) -> str:
    """Write the page, without anything about other students, seeds or suspicions."""
    return render(
        "student",
        row=row,
        lines=lines,
        rubric=rubric,
        versions={line.run.versions for line in lines.values()},
        about_lost=about_lost,
        boards=partial(boards, course=rubric.course),
        count_outcomes=count_outcomes,
        for_students=FOR_STUDENTS,
        moment=moment,
        points_of=points_of,
    )


def points_of(report: Report, cell: Record, rubric: Rubric) -> dict[str, str]:
    """The share of its points that each gradient earned, unless the verdict already says it."""
    plain = rubric.carried == rubric.default == ONE and not (rubric.points or rubric.defaults)
    if plain and not cell["set_points"]:
        return {}
    prefixes = {gradient: prefix for prefix, gradient in rubric.course.gradients(report.notebook)}
    points = {}
    for verdict in report.verdicts:
        which = prefixes.get(verdict.name, ""), verdict.name
        earned, worth = rubric.earned(*which, verdict.outcome), rubric.worth(*which)
        earned = cell["set_points"].get(verdict.name, earned)
        points[verdict.name] = f"{points_text(earned)} of {points_text(worth)}"
    return points


def moment(submitted: str) -> str:
    """A time as people write it, in its own zone."""
    return f"{datetime.fromisoformat(submitted):%d %b %Y, %H:%M %Z}"


def lines_of(row: Record, results: Results) -> Lines:
    """The lines of a student's files that count or have flags."""
    looked_at = (file for file in row["files"] if file["role"] == Role.COUNTS or file["flags"])
    return {file["id"]: results.line(file["id"]) for file in looked_at}
