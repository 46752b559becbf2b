"""Results as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

from markupsafe import Markup

from grader.reports import wording
from grader.reports.course_facts import exercises_of
from grader.reports.result import Result
from grader.reports.templates import make_environment
from grader.verdict import Outcome, Report, count_outcomes


def render(results: Sequence[Result]) -> str:
    """Write one page for all files, without script or network, light or dark as the reader prefers.

    What students wrote (names, code, error messages) is escaped by the template.
    """
    page = make_environment().get_template("report.html.jinja")
    text = page.render(results=results, boards=boards, count_outcomes=count_outcomes)
    return text.strip() + "\n"


_MARKS = {
    outcome: SimpleNamespace(
        outcome=outcome, word=wording.word(outcome), sign=wording.SIGNS[outcome]
    )
    for outcome in Outcome
}
"""How an outcome stands on a board."""


def boards(report: Report) -> list[Markup]:
    """The exercises as SVG: gradients flow from the loss down, each marked with its verdict.

    `grader.pictures.board_picture` draws the same graph with matplotlib for a notebook that runs,
    in half a second: for a class that would be hours. Colours are the page's own, light or dark.
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
