"""The board: the graph of a forward program, every gradient in the colour of its verdict."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.path import Path

from grader.pictures.card import INK, PAPER, QUIET, RIM, Card, line_height, points, text_width, wrap
from grader.pictures.gradient_graph import gradient_graph
from grader.pictures.graph_layout import ROUNDING, Box, Layout, Point, lay_out, smooth
from grader.verdict import Outcome

if TYPE_CHECKING:
    from grader.program.forward_program import ForwardProgram


@dataclass(frozen=True, slots=True)
class Look:
    """How a node shows its outcome: by symbol, colour and line, never by colour alone."""

    symbol: str
    word: str
    colour: str
    """Of the badge behind the symbol, and of the node's rim."""
    ink: str
    """Of the symbol."""
    fill: str
    line: str = "solid"


LOOKS: Mapping[Outcome, Look] = {
    Outcome.PASS: Look("✔", "pass", "#009e73", "white", "#d9f0e9"),
    Outcome.CARRIED: Look("↓", "carried", "#56b4e9", INK, "#e3f2fb"),
    Outcome.FAIL: Look("✘", "fail", "#d55e00", "white", "#fae3d3"),
    Outcome.TODO: Look("…", "to do", "#8a8a92", "white", PAPER, "dashed"),
    Outcome.ERROR: Look("!", "error", "#cc79a7", INK, "#f7e6ef"),
    Outcome.REFUSED: Look("⊘", "refused", INK, "white", "#dcdce0"),
}
"""Okabe and Ito's colours, which the colour-blind tell apart; all symbols are in DejaVu Sans."""

_NOT_ASKED = Look("", "", "#b4b4ba", INK, "#ececea")
_LOSS = Look("", "", INK, INK, INK)
_ARROW = "#85858d"
_CODES = {"M": Path.MOVETO, "L": Path.LINETO, "Q": Path.CURVE3, "C": Path.CURVE4}

_TITLE = 24.0
_NAME = 17.0
_SMALL = 14.0
_CENTRE = 0.35
"""Of a font's size: from the middle of its letters down to the baseline."""

_MARGIN = 24.0
_HEADER = 40.0
_BADGE = 11.0
_BESIDE_BADGE = 10.0
_LEGEND_ROW = 30.0
_LEGEND_WIDTH = 200.0
_LEGEND_GAP = 12.0
_STRIP_TITLE = "Your notebooks, as last checked on this machine"
_STRIP_GAP = 24.0
_STRIP_ROW = 42.0
_BAR = 8.0
_NARROWEST_BAR = 150.0
_WIDEST_BAR = 250.0
_LEGEND_TEXTS = (
    "carried: right in itself, but handed a wrong gradient.",
    "Arrows show how gradients flow back from the loss. Where arrows meet, contributions add up.",
)


def draw_board(
    program: ForwardProgram,
    outcomes: Mapping[str, Outcome],
    asked: Collection[str],
    course: Mapping[str, tuple[int, int]] = MappingProxyType({}),
) -> Figure:
    """Draw the network as the graph that gradients flow through, from the loss down.

    Where a node stands depends on the program alone, not on the outcomes. The figure's label is
    a text for those who cannot see it.

    Args:
        program: the forward program.
        outcomes: by name of gradient ("dlogits"); one that is missing is to do.
        asked: the gradients the exercise asks for; other steps are drawn quietly, other inputs
            not at all.
        course: how many gradients pass, of how many, by notebook: a strip at the foot. It depends
            on what else was checked on this machine, so the label leaves it out.
    """
    texts = [wrap(text, _SMALL, _LEGEND_WIDTH) for text in _LEGEND_TEXTS]
    legend_height = _LEGEND_ROW * len(Outcome) + sum(
        _LEGEND_GAP + line_height(_SMALL) * len(lines) for lines in texts
    )
    layout = lay_out_board(program, asked, (_LEGEND_WIDTH, legend_height))
    # From the loss down, as the text for those who cannot see the picture lists them.
    labels = {n: label(program, n) for n in gradient_graph(program) if n in layout.boxes}
    shown = {
        gradient: outcomes.get(gradient, Outcome.TODO)
        for gradient in labels.values()
        if gradient in asked
    }

    height = layout.height + 2 * _MARGIN + _HEADER
    strip_height = _strip_height(course, layout.width) if course else 0.0
    card = Card(layout.width + 2 * _MARGIN, height + strip_height, _in_words(shown))
    card.write(_MARGIN, _MARGIN, _title(shown.values()), _TITLE, bold=True)
    left, top = _MARGIN, _MARGIN + _HEADER
    for (reader, name), route in layout.routes.items():
        _draw_arrow(card, [(x + left, y + top) for x, y in route], f"edge {reader} {name}")
    for name, box in layout.boxes.items():
        look = LOOKS[shown[labels[name]]] if labels[name] in shown else _NOT_ASKED
        moved = Box(box.x + left, box.y + top, box.width, box.height)
        _draw_node(card, moved, labels[name], _LOSS if name == program.loss else look)
    _draw_legend(card, layout.panel.left + left, layout.panel.top + top, shown.values(), texts)
    if course:
        _draw_strip(card, course, height - _MARGIN, layout.width)
    return card.figure


def lay_out_board(
    program: ForwardProgram, asked: Collection[str], panel: tuple[float, float]
) -> Layout:
    """Place the program's gradients, with room for a badge beside the names of those asked for.

    Args:
        program: the forward program.
        asked: the gradients the exercise asks for.
        panel: width and height of the space to keep free, in pixels.
    """
    # An input whose gradient nobody asks for leads nowhere: an upstream that is handed in, say.
    readers = {
        name: arriving
        for name, arriving in gradient_graph(program).items()
        if name not in program.inputs or f"d{name}" in asked
    }
    widths = {}
    for name in readers:
        text = label(program, name)
        widths[name] = text_width(text, _NAME) + (2 * _BADGE + 18 if text in asked else 24)
    return lay_out(readers, widths, panel)


def label(program: ForwardProgram, name: str) -> str:
    """The text of a tensor's node: the loss's name, or that of the tensor's gradient."""
    return name if name == program.loss else f"d{name}"


def _title(outcomes: Collection[Outcome]) -> str:
    passed, count = sum(outcome is Outcome.PASS for outcome in outcomes), len(outcomes)
    if count == 1:
        return "The gradient passes" if passed else "One gradient to get right"
    return f"{f'All {count}' if passed == count else f'{passed} of {count}'} gradients pass"


def _in_words(shown: Mapping[str, Outcome]) -> str:
    """Describe the picture in words: "1 of 2 gradients pass. fail: dlogits"."""
    groups = [
        f"{look.word}: {', '.join(name for name in shown if shown[name] is outcome)}"
        for outcome, look in LOOKS.items()
        if outcome in shown.values()
    ]
    return f"{_title(shown.values())}. {'; '.join(groups)}"


def _draw_arrow(card: Card, route: Sequence[Point], gid: str) -> None:
    card.axes.add_patch(
        FancyArrowPatch(
            path=_as_path(route),
            arrowstyle="-|>,head_length=5,head_width=2.6",
            mutation_scale=1,
            edgecolor=_ARROW,
            facecolor=_ARROW,
            linewidth=points(1.6),
            zorder=1,
            gid=gid,
        )
    )


def _as_path(route: Sequence[Point]) -> Path:
    parts = list(smooth(route))
    codes = [_CODES[letter] for letter, points in parts for _ in points]
    return Path([point for _, points in parts for point in points], codes)


def _draw_node(card: Card, box: Box, label: str, look: Look) -> None:
    pad = ROUNDING
    card.axes.add_patch(
        FancyBboxPatch(
            (box.left + pad, box.top + pad),
            box.width - 2 * pad,
            box.height - 2 * pad,
            boxstyle=f"round,pad={pad}",
            facecolor=look.fill,
            edgecolor=look.colour,
            linestyle=look.line,
            linewidth=points(2),
            zorder=2,
            gid=f"node {label}",
        )
    )
    text_left = box.left + 12
    if look.symbol:
        _draw_badge(card, box.left + 6 + _BADGE, box.y, look)
        text_left = box.left + 2 * _BADGE + _BESIDE_BADGE
    colour = "white" if look is _LOSS else INK
    baseline = box.y + _CENTRE * _NAME
    card.write(text_left, baseline, label, _NAME, colour, va="baseline", zorder=3)


def _draw_badge(card: Card, x: float, y: float, look: Look) -> None:
    card.axes.add_patch(Circle((x, y), _BADGE, facecolor=look.colour, edgecolor="none", zorder=3))
    place, size = (x, y + 0.5), 1.45 * _BADGE
    card.write(*place, look.symbol, size, look.ink, bold=True, ha="center", va="center", zorder=4)


def _draw_legend(
    card: Card,
    left: float,
    top: float,
    outcomes: Collection[Outcome],
    texts: Sequence[Sequence[str]],
) -> None:
    for row, (outcome, look) in enumerate(LOOKS.items()):
        count = sum(one is outcome for one in outcomes)
        y = top + _LEGEND_ROW * (row + 0.5)
        _draw_badge(card, left + _BADGE, y, look)
        card.write(
            left + 2 * _BADGE + _BESIDE_BADGE,
            y + _CENTRE * _NAME,
            f"{count} {look.word}",
            _NAME,
            INK if count else QUIET,
            bold=count > 0,
            va="baseline",
            gid=f"legend {outcome}",
        )
    below = top + _LEGEND_ROW * len(LOOKS)
    for lines in texts:
        below = card.write_lines(lines, left, below + _LEGEND_GAP, _SMALL, QUIET)


def _strip_grid(count: int, width: float) -> tuple[int, int]:
    """Rows and columns of the strip: two and two notebooks rather than three and one."""
    fit = max(1, int((width + _STRIP_GAP) // (_NARROWEST_BAR + _STRIP_GAP)))
    rows = -(-count // fit)
    return rows, -(-count // rows)


def _strip_height(course: Mapping[str, tuple[int, int]], width: float) -> float:
    rows, _ = _strip_grid(len(course), width)
    title = wrap(_STRIP_TITLE, _SMALL, width)
    return _STRIP_GAP + line_height(_SMALL) * len(title) + _STRIP_ROW * rows


def _draw_strip(
    card: Card, course: Mapping[str, tuple[int, int]], top: float, width: float
) -> None:
    """Draw a bar for each notebook below the board, which ends at `top`."""
    title = wrap(_STRIP_TITLE, _SMALL, width)
    below = card.write_lines(title, _MARGIN, top + _STRIP_GAP, _SMALL, QUIET)
    _, columns = _strip_grid(len(course), width)
    cell = (width - _STRIP_GAP * (columns - 1)) / columns
    bar = min(cell, _WIDEST_BAR)
    for number, (notebook, (passed, count)) in enumerate(course.items()):
        row, column = divmod(number, columns)
        x, y = _MARGIN + column * (cell + _STRIP_GAP), below + _STRIP_ROW * row
        # "01_atomic_backprop" is notebook 1.
        text = f"{int(notebook.partition('_')[0])}   {passed} of {count}"
        card.write(x, y + 8, text, _SMALL, bold=passed == count, gid=f"progress {notebook}")
        for length, colour in ((bar, RIM), (bar * passed / count, LOOKS[Outcome.PASS].colour)):
            card.axes.add_patch(Rectangle((x, y + 30), length, _BAR, fc=colour, ec="none"))
