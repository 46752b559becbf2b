"""Results as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence

from grader.printable import printable
from grader.program.course import Course
from grader.reports.course_boards import boards
from grader.reports.result import Result, names
from grader.reports.templates import make_environment
from grader.verdict import Report, count_outcomes


def render(results: Sequence[Result], courses: Sequence[Course]) -> str:
    """Write one page for all files. It needs no script and no network, and is light or dark as the
    reader prefers.

    The template escapes everything that students wrote: names, code and error messages.

    Args:
        results: the result of each file.
        courses: the course of each file.
    """
    drawn = [
        boards(result, course) if isinstance(result, Report) else []
        for result, course in zip(results, courses, strict=True)
    ]
    page = make_environment().get_template("report.html.jinja")
    files = dict.fromkeys(printable(str(result.path)) for result in results)
    title = next(iter(files)) if len(files) == 1 else f"{len(files)} notebooks"
    text = page.render(
        results=results,
        names=names(results),
        title=title,
        boards=drawn,
        count_outcomes=count_outcomes,
    )
    return text.strip() + "\n"
