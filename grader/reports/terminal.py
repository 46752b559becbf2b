"""Results as text for a terminal of any width."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.printable import printable
from grader.reports import wording
from grader.reports.result import Result, names
from grader.verdict import Outcome, Report, Verdict, count_outcomes

STYLES = {
    Outcome.PASS: "green",
    Outcome.CARRIED: "cyan",
    Outcome.FAIL: "bold red",
    Outcome.TODO: "dim",
    Outcome.ERROR: "bold magenta",
    Outcome.REFUSED: "bold magenta",
}
"""The terminal's own colours, without yellow and blue, so that they are readable on any ground."""

WIDEST = 100
"""Longer lines are hard to read, so a wider terminal stays empty on the right."""

NARROWEST = 40
"""If a terminal is narrower than this, it wraps the lines itself."""

# In the order in which they are left out on a narrow terminal: `approximate` says more than
# `exact`, and a wrong shape is named in its note as well.
EXPENDABLE = ("exact", "shape", "maxdiff", "approximate")

QUOTED = (0, 0, 0, 4)
"""The space around a student's line."""

_ASCII = str.maketrans("✓↓✗…⊘–─│·", "+vx.#--|-")


def render(report: Report, *, width: int, colour: bool) -> str:
    """Write one notebook: the table of its gradients, the remarks and the score."""
    title = Text.assemble((report.notebook, "bold"), f"  {printable(str(report.path))}")
    width = _usable(width)
    return _print_parts([title, Text(), *_body(report, width)], width, colour)


def render_overview(results: Sequence[Result], *, width: int, colour: bool) -> str:
    """Write one line for each file of a command."""
    table = Table.grid(padding=(0, 2))
    for result, called in zip(results, names(results), strict=True):
        name = Text(called, overflow="fold")
        if isinstance(result, Report):
            table.add_row(name, wording.points(result), _signs(result))
        else:
            table.add_row(name, "not graded", "")
    return _print_parts([table], _usable(width), colour)


def _usable(width: int) -> int:
    """How many columns of a terminal to use."""
    return max(NARROWEST, min(width, WIDEST))


def in_ascii(text: str) -> str:
    """Replace the characters that a plain ASCII terminal cannot show."""
    return text.translate(_ASCII).encode("ascii", "replace").decode("ascii")


def _body(report: Report, width: int) -> Iterator[RenderableType]:
    yield _table(report.verdicts, width)
    yield Text()
    for verdict in wording.wrong(report.verdicts):
        yield _remark(verdict)
        yield Text()
    if remarks := list(_short_remarks(wording.worth_knowing(report.verdicts))):
        yield from remarks
        yield Text()
    if flags := wording.further_flags(report):
        yield Text("Worth a look, whatever the points are", "bold")
        for flag in flags:
            yield _indented(Text(printable(wording.flagged(flag))))
        yield Text()
    yield from _summary(report, width)


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


def _remark(verdict: Verdict) -> Group:
    """Say what is wrong with a gradient: where, the student's line, the likely reasons."""
    head = _verdict(verdict.outcome).append(f"  {printable(verdict.name)}", "bold")
    lines: list[RenderableType] = [head]
    if verdict.place is not None:
        head.append(f"  {printable(wording.where(verdict.place))}", "not bold default")
        if verdict.code:
            lines.append(Padding(_Quoted(*wording.in_pieces(verdict.code, verdict.piece)), QUOTED))
    if note := wording.note(verdict):
        lines.append(_indented(Text(printable(note))))
    for number, diagnosis in enumerate(wording.diagnoses(verdict)):
        lines.append(_indented(Text(f"{'Or: ' if number else ''}{printable(diagnosis.message)}")))
        if diagnosis.hint:
            lines.append(_indented(Text(f"Hint: {printable(diagnosis.hint)}", "italic")))
    return Group(*lines)


class _Quoted(NamedTuple):
    """A student's line with the wrong piece underlined, by signs below it if styles are off."""

    before: str
    piece: str
    behind: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        whole = Text.assemble((self.before, "dim"), (self.piece, "underline"), (self.behind, "dim"))
        bar = Text("│ ", "dim")
        for line in whole.wrap(console, options.max_width - bar.cell_len, overflow="fold"):
            yield bar + line
            for span in line.spans if console.no_color else ():
                if span.style == "underline":
                    before, piece = line.plain[: span.start], line.plain[span.start : span.end]
                    yield Text(" " * cell_len(bar.plain + before) + "^" * cell_len(piece.rstrip()))


def _short_remarks(verdicts: Sequence[Verdict]) -> Iterator[Group]:
    """Say each note once for all its gradients, since one mistake may affect twenty of them."""
    for same in wording.together(verdicts):
        sign = (wording.SIGNS[same[0].outcome], STYLES[same[0].outcome])
        head = Text.assemble(sign, " ", (printable(", ".join(v.name for v in same)), "bold"))
        yield Group(head, _indented(Text(printable(wording.note(same[0])))))


def _indented(text: Text) -> Padding:
    text.overflow = "fold"
    return Padding(text, (0, 0, 0, 2))


def _summary(report: Report, width: int) -> Iterator[Text]:
    """The score, then the number of each verdict, on as many lines as needed."""
    line = Text(wording.points(report), "bold")
    for outcome, said in wording.counts(report.verdicts).items():
        part = Text.assemble("   ", (f"{wording.SIGNS[outcome]} {said}", STYLES[outcome]))
        if line.cell_len + part.cell_len > width:
            yield line
            line = Text()
        line.append_text(part)
    yield line


def _signs(report: Report) -> Text:
    """Count the verdicts by sign, "✓18 ✗2"."""
    counts = count_outcomes(report.verdicts).items()
    return Text(" ").join(Text(f"{wording.SIGNS[o]}{n}", STYLES[o]) for o, n in counts)


def _print_parts(parts: Sequence[RenderableType], width: int, colour: bool) -> str:
    """Print the parts into a text, one below the other, without spaces at line ends."""
    file = io.StringIO()
    console = Console(
        file=file,
        width=width,
        color_system="standard" if colour else None,
        force_terminal=colour,
        force_jupyter=False,  # or it would show in a notebook what is to be a text
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
