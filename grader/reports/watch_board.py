"""A watched notebook as lines for a terminal of any width and height."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import Console, Group, RenderableType
from rich.text import Text

from grader.printable import printable
from grader.reports import wording
from grader.reports.result import Graded
from grader.reports.terminal import STYLES, WIDEST, remark, short_remarks, summary
from grader.verdict import Outcome, Report, Verdict
from grader.watch import Board, Changes

NARROWEST = 20
COLUMN_GAP = 2
MOST_NAMES = 4
"""How many gradients with a new verdict are named, before the rest is counted."""

URGENT_FIRST = (
    *(Outcome.FAIL, Outcome.ERROR, Outcome.REFUSED),
    *(Outcome.PASS, Outcome.TODO, Outcome.CARRIED),
)
_AIRY = 24
"""Rows from which on there are empty lines between the parts."""


def render_board(board: Board, width: int, height: int) -> list[Text]:
    """At most `height` lines of at most `width` columns.

    Where there is not enough room, what passes is left out first, then what there is to say.
    """
    width = max(NARROWEST, min(width, WIDEST))
    gap = [Text()] if height >= _AIRY else []
    lines = [*_lines(_stop(board, width), width), *gap, *_lines(_title(board), width)]
    lines += [line for text in _news(board, width) for line in _lines(text, width)]
    if board.result is not None:
        lines += gap
        lines += _body(board, board.result, width, height - len(lines), gap)
    lines = _cut(lines, height)
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines


def render_block(board: Board, width: int) -> str:
    """The same as plain text, for where there is no terminal to draw on."""
    width = max(NARROWEST, min(width, WIDEST))
    lines = [*_lines(_title(board), width)]
    lines += [line for text in _news(board, width) for line in _lines(text, width)]
    if board.result is not None:
        for part in _remarks(board.result):
            lines += _lines(part, width)
    return _plain(lines)


def render_farewell(board: Board, width: int) -> str:
    """What is left to read when the watching has ended; "" before the first check."""
    if board.result is None:
        return ""
    width = max(NARROWEST, min(width, WIDEST))
    parts = [_title(board), *summary(board.result.report, width)]
    return _plain([line for part in parts for line in _lines(part, width)])


def _plain(lines: Sequence[Text]) -> str:
    return "\n".join(line.plain.rstrip() for line in lines) + "\n"


def _stop(board: Board, width: int) -> Text:
    """The first line: what this is, how to end it."""
    stop = "Ctrl-C to stop"
    room = width - len(stop) - 3
    name = printable(str(board.path))
    if len(name) > room:
        name = printable(board.path.name)
    name = name if len(name) <= room else f"{name[: max(0, room - 1)]}…"
    return Text(f"{stop} · {name}", "dim")


def _title(board: Board) -> Text:
    if board.result is None:
        return Text("checking for the first time ..." if not board.trouble else "not checked yet")
    title = Text(board.result.report.notebook, "bold")
    if board.checking:
        return title.append("  checking ...", "not bold dim")
    title.append(f"  checked {board.checked:%H:%M:%S}", "not bold dim")
    if board.saved is not None:
        title.append(f", saved {board.saved:%H:%M:%S} with the same answers", "not bold dim")
    return title


def _news(board: Board, width: int) -> Iterator[RenderableType]:
    if board.trouble:
        yield Text(printable(board.trouble), STYLES[Outcome.ERROR])
    if board.result is None:
        return
    yield from summary(board.result.report, width)
    yield from _changes(board.changes, width)


def _changes(changes: Changes, width: int) -> Iterator[Text]:
    """What the last save changed, broken between verdicts where that is possible."""
    line = Text("since the last check:") if changes else Text()
    for outcome in filter(changes.get, URGENT_FIRST):
        names = changes[outcome]
        some = names if len(names) <= MOST_NAMES else names[: MOST_NAMES - 1]
        said = ", ".join(some) + (f" and {len(names) - len(some)} more" if some != names else "")
        style = STYLES[outcome]
        part = Text.assemble(
            (f"  {wording.SIGNS[outcome]} now {wording.word(outcome)}: ", style), printable(said)
        )
        if line.cell_len + part.cell_len > width:
            yield line
            line = Text()
        line.append_text(part)
    if changes:
        yield line


def _body(board: Board, result: Graded, width: int, rows: int, gap: list[Text]) -> list[Text]:
    """All gradients if that leaves room for what is wrong; else those that do not pass."""
    remarks = [_lines(part, width) for part in _remarks(result)]
    needed = len(gap) + len(remarks[0]) + (len(remarks) > 1) if remarks else 0
    lines = _grid(result.report.verdicts, board.changes, width)
    if len(lines) + needed > rows:
        lines = [line for line in _lines(_not_passing(result.report), width) if line.plain]
        lines = _cut(lines, max(1, rows - needed))
    for number, part in enumerate(remarks):
        rest = len(remarks) - number - 1
        own = [*gap, *part] if number == 0 or gap else part
        room = rows - len(lines) - bool(rest)
        if len(own) > room:
            # The first is worth a part of it; of the others it is enough to know that they exist.
            cut = _cut(own, room) if number == 0 else []
            left = rest + (not cut)
            return [*lines, *cut, *([Text(f"… {left} more: `grader check`", "dim")] * bool(left))]
        lines += own
    return lines


def _remarks(result: Graded) -> Iterator[RenderableType]:
    verdicts = result.report.verdicts
    for verdict in _together(wording.wrong(verdicts)):
        yield remark(verdict, result)
    if verdicts and result.report.passed:
        yield Text(f"All {len(verdicts)} gradients pass.", STYLES[Outcome.PASS])
    short = list(short_remarks(wording.worth_knowing(verdicts)))
    for head, note in zip(short[::2], short[1::2], strict=True):
        yield Group(head, note)
    for flag in wording.further_flags(result.report):
        where = f" ({printable(wording.where(flag.place))})" if flag.place else ""
        yield Text(f"{printable(flag.message)}{where}")


def _together(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """One for all of whom the same is said of the same line, as of a cell that cannot be read."""
    groups: dict[object, list[Verdict]] = {}
    for verdict in verdicts:
        said = verdict.outcome, verdict.place, verdict.note, verdict.diagnosis
        groups.setdefault(said, []).append(verdict)
    return [replace(group[0], name=", ".join(v.name for v in group)) for group in groups.values()]


def _grid(verdicts: Sequence[Verdict], changes: Changes, width: int) -> list[Text]:
    """Every gradient with its sign, in columns read from top to bottom; what changed is bold."""
    new = {name for names in changes.values() for name in names}
    cells = [
        Text.assemble(
            (wording.SIGNS[v.outcome], STYLES[v.outcome]),
            (f" {printable(v.name)}", "bold" if v.name in new else ""),
        )
        for v in verdicts
    ]
    widest = max((cell.cell_len for cell in cells), default=0) + COLUMN_GAP
    columns = max(1, (width + COLUMN_GAP) // widest) if widest else 1
    rows = -(-len(cells) // columns)
    lines = []
    for row in range(rows):
        line = Text()
        for cell in cells[row::rows]:
            line.append_text(cell)
            line.append(" " * (widest - cell.cell_len))
        line.rstrip()
        lines.append(line)
    return lines


def _not_passing(report: Report) -> Text:
    said = Text()
    for outcome in (o for o in URGENT_FIRST if o is not Outcome.PASS):
        names = [printable(v.name) for v in report.verdicts if v.outcome is outcome]
        if names:
            said.append(f"\n{wording.SIGNS[outcome]} {wording.word(outcome)}: ", STYLES[outcome])
            said.append(", ".join(names))
    return said[1:]


def _lines(part: RenderableType, width: int) -> list[Text]:
    """A renderable as one text a line."""
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    return [
        Text.assemble(*((segment.text, segment.style or "") for segment in line))
        for line in console.render_lines(part, pad=False)
    ]


def _cut(lines: list[Text], height: int) -> list[Text]:
    """The first lines; the last one says that there were more."""
    if len(lines) <= height:
        return lines
    return [*lines[: height - 1], Text("…", "dim")] if height > 1 else lines[: max(0, height)]
