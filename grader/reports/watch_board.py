"""A watched notebook as lines for a terminal of any width and height."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from rich.console import Console, RenderableType
from rich.text import Text

from grader.printable import listed, printable
from grader.reports import terminal, wording
from grader.verdict import Outcome, Report, Verdict

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


Changes = Mapping[Outcome, tuple[str, ...]]
"""The gradients with a new verdict, by that verdict."""


@dataclass(frozen=True, slots=True)
class WatchBoard:
    """What `grader watch` shows of a notebook.

    `checked` says when `report` was found, and it took `seconds`; `saved` when the file was saved
    later than that with the same answers. `trouble` is a sentence: why the file cannot be checked
    at the moment.
    """

    path: Path
    report: Report | None = None
    changes: Changes = field(default_factory=dict)
    checked: datetime | None = None
    seconds: float = 0.0
    saved: datetime | None = None
    trouble: str = ""
    checking: bool = False


def render_board(board: WatchBoard, width: int, height: int) -> list[Text]:
    """Draw at most `height` lines of at most `width` columns.

    If there is not enough room, gradients that pass are left out first, then remarks.
    """
    width = terminal.usable(width, NARROWEST)
    gap = [Text()] if height >= _AIRY else []
    lines = _lines([_stop(board, width), *gap, *_head(board, width)], width)
    if board.report is not None:
        lines += gap
        lines += _body(board, board.report, width, height - len(lines), gap)
    lines = _cut(lines, height)
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines


def render_block(board: WatchBoard, width: int) -> str:
    """Write the same as plain text, for a pipe or a file."""
    width = terminal.usable(width, NARROWEST)
    remarks = _remarks(board.report) if board.report is not None else ()
    return terminal.print_parts([*_head(board, width), *remarks], width, colour=False)


def render_farewell(board: WatchBoard, width: int) -> str:
    """Write what stays on the terminal when the watching has ended; "" before the first check."""
    if board.report is None:
        return ""
    width = terminal.usable(width, NARROWEST)
    return terminal.print_parts(
        [_title(board), *terminal.summary(board.report, width)], width, colour=False
    )


def _stop(board: WatchBoard, width: int) -> Text:
    """The first line: what this is, how to end it."""
    stop = "Ctrl-C to stop · "
    name = printable(str(board.path))
    if len(stop) + len(name) > width:
        name = printable(board.path.name)
    return Text(f"{stop}{name}", "dim", no_wrap=True, overflow="ellipsis")


def _title(board: WatchBoard) -> Text:
    if board.report is None:
        return Text("checking for the first time ..." if not board.trouble else "not checked yet")
    title = Text(board.report.notebook, "bold")
    if board.checking:
        return title.append("  checking ...", "not bold dim")
    title.append(f"  checked {board.checked:%H:%M:%S}", "not bold dim")
    if board.saved is not None:
        title.append(f", saved {board.saved:%H:%M:%S} with the same answers", "not bold dim")
    return title


def _head(board: WatchBoard, width: int) -> Iterator[RenderableType]:
    """The title, then what is new: trouble, the score, changed verdicts."""
    yield _title(board)
    if board.trouble:
        yield Text(printable(board.trouble), terminal.STYLES[Outcome.ERROR])
    if board.report is None:
        return
    yield from terminal.summary(board.report, width)
    yield from _changes(board.changes, width)


def _changes(changes: Changes, width: int) -> Iterator[Text]:
    """What the last save changed."""
    parts = []
    for outcome in filter(changes.get, URGENT_FIRST):
        names = changes[outcome]
        few = len(names) <= MOST_NAMES
        said = ", ".join(names) if few else listed(names, most=MOST_NAMES - 1)
        now = f"  {wording.SIGNS[outcome]} now {wording.word(outcome)}: "
        parts.append(Text.assemble((now, terminal.STYLES[outcome]), printable(said)))
    if parts:
        yield from terminal.wrapped(Text("since the last check:"), parts, width)


def _body(board: WatchBoard, report: Report, width: int, rows: int, gap: list[Text]) -> list[Text]:
    """Show all gradients if there is room for remarks as well, else those that do not pass."""
    remarks = [_lines([part], width) for part in _remarks(report)]
    needed = len(gap) + len(remarks[0]) + (len(remarks) > 1) if remarks else 0
    lines = _grid(report.verdicts, board.changes, width)
    if len(lines) + needed > rows:
        lines = _cut(_lines(_not_passing(report), width), max(1, rows - needed))
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


def _remarks(report: Report) -> Iterator[RenderableType]:
    verdicts = report.verdicts
    for verdict in _together(wording.wrong(verdicts)):
        yield terminal.remark(verdict)
    if verdicts and report.passed:
        yield Text(f"All {len(verdicts)} gradients pass.", terminal.STYLES[Outcome.PASS])
    yield from terminal.short_remarks(wording.worth_knowing(verdicts))
    yield from map(terminal.flag_text, wording.further_flags(report))


def _together(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Merge verdicts that say the same of one line, such as those of a cell that cannot be read."""
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
            (wording.SIGNS[v.outcome], terminal.STYLES[v.outcome]),
            (f" {printable(v.name)}", "bold" if v.name in new else ""),
        )
        for v in verdicts
    ]
    widest = max((cell.cell_len for cell in cells), default=0) + COLUMN_GAP
    columns = max(1, (width + COLUMN_GAP) // widest)
    rows = -(-len(cells) // columns)
    for cell in cells[:-rows]:  # all but the last column
        cell.pad_right(widest - cell.cell_len)
    return [Text().join(cells[row::rows]) for row in range(rows)]


def _not_passing(report: Report) -> Iterator[Text]:
    for outcome in (o for o in URGENT_FIRST if o is not Outcome.PASS):
        names = [printable(v.name) for v in report.verdicts if v.outcome is outcome]
        if names:
            word = f"{wording.SIGNS[outcome]} {wording.word(outcome)}: "
            yield Text.assemble((word, terminal.STYLES[outcome]), ", ".join(names))


def _lines(parts: Iterable[RenderableType], width: int) -> list[Text]:
    """The parts, one below the other, as one text a line."""
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    return [
        Text.assemble(*((segment.text, segment.style or "") for segment in line))
        for part in parts
        for line in console.render_lines(part, pad=False)
    ]


def _cut(lines: list[Text], height: int) -> list[Text]:
    """Keep the first lines; the last one says that there were more."""
    if len(lines) <= height:
        return lines
    return [*lines[: height - 1], Text("…", "dim")] if height > 1 else lines[: max(0, height)]
