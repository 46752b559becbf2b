"""An explanation: the verdicts on a backward pass, and how they are shown."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.notebook import check_report
from grader.reports import as_json, terminal
from grader.reports.templates import make_environment
from grader.verdict import Report, Verdict


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """What can be said of a backward pass; `str` says it as a terminal shows it.

    `forward` is the name of the function that it belongs to.
    """

    forward: str
    report: Report

    @property
    def ok(self) -> bool:
        """True if every gradient is right."""
        return self.report.passed

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """A verdict for each gradient, in the order in which they are written."""
        return self.report.verdicts

    def __str__(self) -> str:
        return self.as_text().rstrip("\n")

    __repr__ = __str__  # what an interactive Python shows

    def as_text(self, width: int | None = None, colour: bool = False) -> str:
        """The table, what is wrong and why, for a terminal of this width, or for this one."""
        width = width or shutil.get_terminal_size((terminal.WIDEST, 24)).columns
        return terminal.render(self.report, width=width, colour=colour)

    def to_json(self) -> str:
        """The same as `grader check --json` prints of a notebook, with the forward pass's name."""
        report: dict[str, Any] = as_json.report_as_json(self.report)
        return json.dumps({**report, "forward": self.forward, "ok": self.ok}, indent=2)

    def _repr_html_(self) -> str:
        """The table as a card, below it what is wrong: no script, dark where the page is."""
        rows = [check_report.Row(verdict, verdict.comparison) for verdict in self.verdicts]
        order = [verdict.name for verdict in self.verdicts]
        sections = check_report.make_sections(rows, order, has_heat_map=False)
        folders = Path(__file__).parent, Path(check_report.__file__).parent
        template = make_environment(*folders).get_template("explanation.html.jinja")
        html: str = template.render(report=self.report, forward=self.forward)
        return html + (check_report.as_html(sections) if sections else "")
