"""An explanation: the verdicts on a backward pass, and how they are shown."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import Any

from grader.reports import as_json, terminal
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
        from grader.explanation.explanation_html import as_html

        return as_html(self.report, self.forward)
