"""Results as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence

from grader.program.course import Course
from grader.reports.course_boards import boards
from grader.reports.result import Result
from grader.reports.templates import make_environment
from grader.verdict import Report, count_outcomes


def render(results: Sequence[Result], courses: Sequence[Course]) -> str:
    """Write one page for all files, without script or network, light or dark as the reader prefers.

    What students wrote (names, code, error messages) is escaped by the template.

    Args:
        results: one a file.
        courses: that of each file.
    """
    drawn = [
        boards(result, course) if isinstance(result, Report) else []
        for result, course in zip(results, courses, strict=True)
    ]
    page = make_environment().get_template("report.html.jinja")
    text = page.render(results=results, boards=drawn, count_outcomes=count_outcomes)
    return text.strip() + "\n"
