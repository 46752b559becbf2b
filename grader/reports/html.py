"""Results as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence

from grader.reports.board import boards
from grader.reports.result import Result
from grader.reports.templates import make_environment
from grader.verdict import count_outcomes


def render(results: Sequence[Result]) -> str:
    """Write one page for all files, without script or network, light or dark as the reader prefers.

    What students wrote (names, code, error messages) is escaped by the template.
    """
    page = make_environment().get_template("report.html.jinja")
    text = page.render(results=results, boards=boards, count_outcomes=count_outcomes)
    return text.strip() + "\n"
