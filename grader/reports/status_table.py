"""How far a student has come in every notebook, a line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from grader.blank_cells import Blanks, gradients_in
from grader.printable import printable
from grader.reports import wording
from grader.reports.result import Graded, Result
from grader.reports.terminal import STYLES, print_parts
from grader.verdict import EARNS_POINTS, Outcome, Report, Verdict, count_outcomes

LONGEST_BAR = 24
SHORTEST_BAR = 6
GAP = 2
DONE, LEFT = "█", "░"


def render(
    results: Mapping[str, Result | None], blanks: Blanks, *, width: int, colour: bool
) -> str:
    """A line for each notebook, None where there is no file; then what is to be done next."""
    rows = {
        name: (f"{result.report.score} of {result.report.max_score}", _counts(result.report))
        if isinstance(result, Graded)
        else ("", Text("no file found" if result is None else "cannot be graded", "dim"))
        for name, result in results.items()
    }
    taken = sum(max(map(len, column)) + GAP for column in zip(*rows.values(), strict=True))
    room = width - taken + GAP  # no gap after the last column
    # The bar is the first to go where there is no room, the notebooks' names are the second.
    bar = min(LONGEST_BAR, room - max(map(len, rows), default=0) - 2 * GAP)
    short = room < max(map(len, rows), default=0) + GAP
    table = Table.grid(padding=(0, GAP, 0, 0))
    for name, (points, counts) in rows.items():
        result = results[name]
        report = result.report if isinstance(result, Graded) else None
        cells = [Text(points, justify="right"), counts]
        if bar >= SHORTEST_BAR:
            cells.insert(0, _bar(report, bar))
        table.add_row(Text(name.partition("_")[0] if short else name), *cells)
    reports = [result.report for result in results.values() if isinstance(result, Graded)]
    next_ = next_step(reports, blanks, len(results))
    return print_parts([table, Text(), Text(next_)], width, colour)


def next_step(reports: Sequence[Report], blanks: Blanks, notebooks: int) -> str:
    """The first gradient of the course that does not earn its points, as a sentence."""
    for report in reports:
        for verdict in report.verdicts:
            if verdict.outcome not in EARNS_POINTS:
                cell = _cell(verdict, blanks.get(report.notebook, {}))
                where = f", cell {cell}" if cell else ""
                number = report.notebook.partition("_")[0]
                why = wording.word(verdict.outcome)
                return f"next: {printable(verdict.name)} in {number}{where} ({why})"
    if len(reports) < notebooks:
        return "" if not reports else "All that is there is done; the other notebooks are to come."
    return "Everything is done: you can backpropagate by hand."


def _cell(verdict: Verdict, blanks: Mapping[str, str]) -> str:
    if verdict.place is not None:
        return printable(wording.where(verdict.place))
    asking = (name for name, text in blanks.items() if verdict.name in gradients_in(text))
    return next(asking, "")


def _bar(report: Report | None, length: int) -> Text:
    if report is None:
        return Text(LEFT * length, "dim")
    # Full only when everything is done, empty only when nothing is.
    share = report.score / report.max_score if report.max_score else 0.0
    done = round(share * length)
    if 0 < report.score < report.max_score:
        done = min(max(done, 1), length - 1)
    return Text.assemble((DONE * done, STYLES[Outcome.PASS]), (LEFT * (length - done), "dim"))


def _counts(report: Report) -> Text:
    signs = (
        Text(f"{wording.SIGNS[outcome]} {number}", STYLES[outcome])
        for outcome, number in count_outcomes(report.verdicts).items()
    )
    return Text("  ").join(signs)
