"""An explanation as a card in a notebook."""

from __future__ import annotations

from pathlib import Path

from grader.notebook import check_report
from grader.reports.templates import make_environment
from grader.verdict import Report


def as_html(report: Report, forward: str) -> str:
    """A table of the gradients, below it what is wrong: no script, dark where the page is."""
    rows = [check_report.Row(verdict, verdict.comparison) for verdict in report.verdicts]
    order = [verdict.name for verdict in report.verdicts]
    sections = check_report.make_sections(rows, order, has_heat_map=False)
    folders = Path(__file__).parent, Path(check_report.__file__).parent
    template = make_environment(*folders).get_template("explanation.html.jinja")
    html: str = template.render(report=report, forward=forward)
    return html + (check_report.as_html(sections) if sections else "")
