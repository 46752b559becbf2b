"""What can be said of a backward pass, and how it is shown."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from grader.notebook import board_card, check_report
from grader.program.forward_program import ForwardProgram
from grader.reports import as_json, terminal, wording
from grader.reports.board import draw_board
from grader.reports.templates import make_environment
from grader.verdict import Comparison, Report, Verdict


@dataclass(frozen=True, repr=False)
class Explanation:
    """What can be said of a backward pass; `str` says it as a terminal shows it.

    `program` is the forward pass, down to the scalar that the gradients are of.
    """

    program: ForwardProgram
    report: Report

    @property
    def forward(self) -> str:
        """The name of the forward function."""
        return self.program.name

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

    def __repr__(self) -> str:  # what an interactive Python shows
        return str(self)

    def as_text(self, width: int | None = None, colour: bool = False) -> str:
        """The table, what is wrong and why, for a terminal of this width, or for this one."""
        width = width or shutil.get_terminal_size((terminal.WIDEST, 24)).columns
        return terminal.render(self.report, width=width, colour=colour)

    def to_json(self) -> str:
        """The same as `grader check --json` prints of a notebook, with the forward pass's name."""
        report: dict[str, Any] = as_json.report_as_json(self.report)
        return json.dumps({**report, "forward": self.forward, "ok": self.ok}, indent=2)

    def _repr_html_(self) -> str:
        """The table, what is wrong, and the board: no script, dark where the page is."""
        cards = check_report.as_html(self.sections) if self.sections else ""
        return self._head_html() + cards + self.board["text/html"]

    def _head_html(self) -> str:
        folders = Path(__file__).parent, Path(check_report.__file__).parent
        template = make_environment(*folders).get_template("explanation.html.jinja")
        html: str = template.render(report=self.report, forward=self.forward)
        return html

    @property
    def shown(self) -> Sequence[Verdict]:
        """The verdicts that have a card: the table has the others."""
        return wording.wrong(self.verdicts)

    @cached_property
    def sections(self) -> list[check_report.Section]:
        """What is wrong, and why."""
        rows = [check_report.Row(one, self.comparison_of(one)) for one in self.shown]
        order = [verdict.name for verdict in self.verdicts]
        return check_report.make_sections(rows, order, has_heat_map=False)

    def comparison_of(self, verdict: Verdict) -> Comparison:
        """The value that is shown beside autograd's."""
        return verdict.comparison

    @cached_property
    def board(self) -> dict[str, str]:
        """The forward pass's graph with its verdicts, as HTML and in words."""
        verdicts = {verdict.name: verdict for verdict in self.verdicts}
        return board_card.in_forms(draw_board(self.program, verdicts), verdicts)


@dataclass(frozen=True, repr=False)
class CellExplanation(Explanation):
    """What can be said of a notebook's cell, beside the values that the notebook has.

    `remarks` are sentences on what of the forward pass could not be read, `live` the notebook's
    values of gradients beside autograd's.
    """

    remarks: tuple[str, ...]
    live: Mapping[str, Comparison]

    @property
    def shown(self) -> Sequence[Verdict]:
        """All verdicts, as `check()` shows them."""
        return self.verdicts

    def comparison_of(self, verdict: Verdict) -> Comparison:
        """The notebook's value beside autograd's."""
        return self.live.get(verdict.name, verdict.comparison)

    def as_text(self, width: int | None = None, colour: bool = False) -> str:
        """The remarks, the verdicts with what is wrong and why, and the count."""
        parts = *self.remarks, check_report.as_text(self.sections), self.board["text/plain"]
        return "\n".join(part for part in parts if part)

    def _head_html(self) -> str:
        return "".join(f"<p>{escape(remark)}</p>" for remark in self.remarks)
