"""Results as text for a terminal of any width."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.printable import printable, visible
from grader.reports import wording
from grader.reports.result import Graded, Result
from grader.verdict import Flag, Outcome, Report, Verdict, count_outcomes

STYLES = {
    Outcome.PASS: "green",
    Outcome.CARRIED: "cyan",
    Outcome.FAIL: "bold red",
    Outcome.TODO: "dim",
    Outcome.ERROR: "bold magenta",
    Outcome.REFUSED: "bold magenta",
}
"""The terminal's own colours, none of them yellow or blue: readable on dark and on light."""

WIDEST = 100
"""Lines longer than this are hard to read; a wider terminal stays empty at the right."""

NARROWEST = 40
"""What is narrower is wrapped by the terminal itself."""

# The first to go when the terminal is narrow stands first: `approximate` says more than `exact`,
# a wrong shape is named in its note as well.
EXPENDABLE = ("exact", "shape", "maxdiff", "approximate")

_ASCII = str.maketrans("✓↓✗…⊘–─│█░·", "+vx.#--|#.-")


def render(result: Graded, *, width: int, colour: bool) -> str:
    """One notebook: the table of its gradients, then what there is to say, then the score."""
    report = result.report
    title = Text.assemble((report.notebook, "bold"), f"  {printable(str(result.path))}")
    width = max(NARROWEST, min(width, WIDEST))
    return print_parts([title, Text(), *_body(result, width)], width, colour)


def render_overview(results: Sequence[Result], *, width: int, colour: bool) -> str:
    """All files of one command, a line each."""
    table = Table.grid(padding=(0, 2))
    for result in results:
        name = Text(printable(str(result.path)), overflow="fold")
        if isinstance(result, Graded):
            counts = count_outcomes(result.report.verdicts)
            signs = (Text(f"{wording.SIGNS[o]}{n}", STYLES[o]) for o, n in counts.items())
            table.add_row(name, wording.points(result.report), Text(" ").join(signs))
        else:
            table.add_row(name, "not graded", "")
    return print_parts([table], max(NARROWEST, min(width, WIDEST)), colour)


def in_ascii(text: str) -> str:
    """The same text for a terminal that cannot show more."""
    return text.translate(_ASCII).encode("ascii", "replace").decode("ascii")


def _body(result: Graded, width: int) -> Iterator[RenderableType]:
    report = result.report
    yield _table(report.verdicts, width)
    yield Text()
    for verdict in wording.wrong(report.verdicts):
        yield remark(verdict, result)
        yield Text()
    if remarks := wording.worth_knowing(report.verdicts):
        yield from short_remarks(remarks)
        yield Text()
    if flags := wording.further_flags(report):
        yield Text("Worth a look, whatever the points are", "bold")
        for flag in flags:
            yield _flag(flag)
        yield Text()
    yield from summary(report, width)


def _table(verdicts: Sequence[Verdict], width: int) -> Table:
    columns: dict[str, list[Text]] = {
        "gradient": [Text(printable(verdict.name)) for verdict in verdicts],
        "verdict": [_verdict(verdict.outcome) for verdict in verdicts],
        "exact": [Text(wording.truth(v.comparison.exact)) for v in verdicts],
        "approximate": [Text(wording.truth(v.comparison.approximate)) for v in verdicts],
        "maxdiff": [Text(wording.difference(v.comparison.maxdiff)) for v in verdicts],
        "shape": [_shape(verdict) for verdict in verdicts],
    }
    for name in EXPENDABLE:
        if _width(columns) > width:
            del columns[name]
    table = Table(
        box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold"
    )
    for name in columns:
        table.add_column(name, justify="right" if name == "maxdiff" else "left", overflow="fold")
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    return table


def _width(columns: dict[str, list[Text]]) -> int:
    widest = (
        max(len(name), *(text.cell_len for text in texts), 0) for name, texts in columns.items()
    )
    return sum(widest) + 2 * (len(columns) - 1)


def _verdict(outcome: Outcome) -> Text:
    return Text(f"{wording.SIGNS[outcome]} {wording.word(outcome)}", STYLES[outcome])


def _shape(verdict: Verdict) -> Text:
    comparison = verdict.comparison
    wrong = comparison.shape is not None and comparison.shape != comparison.expected_shape
    return Text(wording.shape(comparison.shape), STYLES[Outcome.FAIL] if wrong else "")


def remark(verdict: Verdict, result: Graded) -> Group:
    """What is to be said of a gradient that needs the student's hand."""
    head = _verdict(verdict.outcome).append(f"  {printable(verdict.name)}", "bold")
    lines: list[RenderableType] = [head]
    if verdict.place is not None:
        head.append(f"  {printable(wording.where(verdict.place))}", "not bold default")
        if code := result.line_at(verdict.place):
            lines.append(_indented(Text(f"│ {visible(code)}", "dim"), 4))
    if explanation := wording.note(verdict):
        lines.append(_indented(Text(printable(explanation))))
    for number, diagnosis in enumerate(wording.diagnoses(verdict)):
        lines.append(_indented(Text(f"{'Or: ' if number else ''}{printable(diagnosis.message)}")))
        if diagnosis.hint:
            lines.append(_indented(Text(f"Hint: {printable(diagnosis.hint)}", "italic")))
    return Group(*lines)


def short_remarks(verdicts: Sequence[Verdict]) -> Iterator[RenderableType]:
    """Once for all of whom the same is said: one mistake near the loss carries down to twenty."""
    said = {(verdict.outcome, verdict.note): None for verdict in verdicts}
    for outcome, note in said:
        names = [v.name for v in verdicts if (v.outcome, v.note) == (outcome, note)]
        sign = (wording.SIGNS[outcome], STYLES[outcome])
        yield Text.assemble(sign, " ", (printable(", ".join(names)), "bold"))
        yield _indented(Text(printable(note)))


def _flag(flag: Flag) -> RenderableType:
    where = f" ({printable(wording.where(flag.place))})" if flag.place else ""
    return _indented(Text(f"{printable(flag.message)}{where}"))


def _indented(text: Text, by: int = 2) -> Padding:
    text.overflow = "fold"
    return Padding(text, (0, 0, 0, by))


def summary(report: Report, width: int) -> Iterator[Text]:
    """The score, then how many of each verdict; broken only between them."""
    line = Text(wording.points(report), "bold")
    for outcome, said in wording.counts(report.verdicts).items():
        part = Text.assemble("   ", (f"{wording.SIGNS[outcome]} {said}", STYLES[outcome]))
        if line.cell_len + part.cell_len > width:
            yield line
            line = Text()
        line.append_text(part)
    yield line


def print_parts(parts: Sequence[RenderableType], width: int, colour: bool) -> str:
    """The parts as text, one below the other, without spaces at the ends of lines."""
    file = io.StringIO()
    console = Console(
        file=file,
        width=width,
        color_system="standard" if colour else None,
        force_terminal=colour,
        no_color=not colour,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for part in parts:
        console.print(part)
    lines = file.getvalue().split("\n")
    return "\n".join(line.rstrip() for line in lines).rstrip("\n") + "\n"
