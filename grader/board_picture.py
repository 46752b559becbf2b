"""The board: the graph of a forward program, every gradient in the colour of its verdict."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path

from grader.card import (
    INK,
    PAPER,
    QUIET,
    font,
    line_height,
    new_card,
    points,
    text_width,
    wrap,
    write_lines,
)
from grader.gradient_graph import Drawable, gradient_graph
from grader.graph_layout import Box, Point, lay_out
from grader.progress_strip import ProgressStrip
from grader.verdict import Outcome


@dataclass(frozen=True, slots=True)
class Look:
    """How a node shows its outcome: never by colour alone."""

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

_TITLE = 24.0
_NAME = 17.0
_SMALL = 14.0
_CENTRE = 0.35
"""Of a font's size: from the middle of its letters down to the baseline."""

_MARGIN = 24.0
_HEADER = 40.0
_BADGE = 11.0
_BESIDE_BADGE = 10.0
_ROUNDING = 8.0
_LEGEND_ROW = 30.0
_LEGEND_WIDTH = 200.0
_LEGEND_GAP = 12.0
_LEGEND_TEXTS = (
    "carried: right in itself, but handed a wrong gradient.",
    "Arrows show how gradients flow back from the loss. Where arrows meet, contributions add up.",
)


def draw_board(
    program: Drawable,
    outcomes: Mapping[str, Outcome],
    asked: Collection[str] | None = None,
    course: Mapping[str, tuple[int, int]] = MappingProxyType({}),
) -> Figure:
    """Draw the network as the graph that gradients flow through, from the loss down.

    Where a node stands depends on the program alone, not on the outcomes. The figure's label is
    a text for those who cannot see it.

    Args:
        program: the forward program.
        outcomes: by name of gradient ("dlogits"); one that is missing is to do.
        asked: the gradients the exercise asks for, by default all; other steps are drawn quietly,
            other inputs not at all.
        course: how many gradients pass, of how many, by notebook: a strip at the foot. It depends
            on what else was checked on this machine, so the label leaves it out.
    """
    # An input whose gradient nobody asks for leads nowhere: an upstream that is handed in, say.
    readers = {
        name: arriving
        for name, arriving in gradient_graph(program).items()
        if asked is None or name not in program.inputs or f"d{name}" in asked
    }
    shown = {
        f"d{name}": outcomes.get(f"d{name}", Outcome.TODO)
        for name in readers
        if name != program.loss and (asked is None or f"d{name}" in asked)
    }
    labels = {name: name if name == program.loss else f"d{name}" for name in readers}
    widths = {
        name: text_width(label, _NAME) + (2 * _BADGE + 18 if label in shown else 24)
        for name, label in labels.items()
    }
    texts = [wrap(text, _SMALL, _LEGEND_WIDTH) for text in _LEGEND_TEXTS]
    legend_height = _LEGEND_ROW * len(Outcome) + sum(
        _LEGEND_GAP + line_height(_SMALL) * len(lines) for lines in texts
    )
    layout = lay_out(readers, widths, (_LEGEND_WIDTH, legend_height))

    strip = ProgressStrip(course, layout.width)
    height = layout.height + 2 * _MARGIN + _HEADER
    figure, axes = new_card(layout.width + 2 * _MARGIN, height + strip.height)
    figure.set_label(_in_words(shown))
    write_lines(axes, [_title(shown.values())], _MARGIN, _MARGIN, _TITLE, bold=True)
    left, top = _MARGIN, _MARGIN + _HEADER
    for (reader, name), route in layout.routes.items():
        _draw_arrow(axes, [(x + left, y + top) for x, y in route], f"edge {reader} {name}")
    for name, box in layout.boxes.items():
        look = LOOKS[shown[labels[name]]] if labels[name] in shown else _NOT_ASKED
        _draw_node(
            axes,
            Box(box.x + left, box.y + top, box.width, box.height),
            labels[name],
            _LOSS if name == program.loss else look,
        )
    _draw_legend(axes, layout.panel.left + left, layout.panel.top + top, shown.values(), texts)
    strip.draw(axes, _MARGIN, height - _MARGIN)
    return figure


def _title(outcomes: Collection[Outcome]) -> str:
    passed, count = sum(outcome is Outcome.PASS for outcome in outcomes), len(outcomes)
    if count == 1:
        return "The gradient passes" if passed else "One gradient to get right"
    return f"{f'All {count}' if passed == count else f'{passed} of {count}'} gradients pass"


def _in_words(shown: Mapping[str, Outcome]) -> str:
    """The picture as text: "1 of 2 gradients pass. fail: dlogits"."""
    groups = [
        f"{look.word}: {', '.join(name for name in shown if shown[name] is outcome)}"
        for outcome, look in LOOKS.items()
        if outcome in shown.values()
    ]
    return f"{_title(shown.values())}. {'; '.join(groups)}"


def _draw_arrow(axes: Axes, route: Sequence[Point], gid: str) -> None:
    axes.add_patch(
        FancyArrowPatch(
            path=_smooth(route),
            arrowstyle="-|>,head_length=5,head_width=2.6",
            mutation_scale=1,
            edgecolor=_ARROW,
            facecolor=_ARROW,
            linewidth=points(1.6),
            zorder=1,
            gid=gid,
        )
    )


def _smooth(route: Sequence[Point]) -> Path:
    """S-curves between points that differ in both directions, rounded corners at right angles."""
    vertices: list[Point] = [route[0]]
    codes = [int(Path.MOVETO)]
    for index, (start, end) in enumerate(pairwise(route)):
        (x0, y0), (x1, y1) = start, end
        after = route[index + 2] if index + 2 < len(route) else end
        if abs(x0 - x1) > 1 and abs(y0 - y1) > 1:
            vertices += [(x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2), end]
            codes += [int(Path.CURVE4)] * 3
        elif after != end and ((x0 == x1 and y1 == after[1]) or (y0 == y1 and x1 == after[0])):
            vertices += [_toward(end, start), end, _toward(end, after)]
            codes += [int(Path.LINETO), int(Path.CURVE3), int(Path.CURVE3)]
        else:
            vertices.append(end)
            codes.append(int(Path.LINETO))
    return Path(vertices, codes)


def _toward(corner: Point, other: Point) -> Point:
    """The point on the line from a corner to the next point where the rounding begins."""
    (x0, y0), (x1, y1) = corner, other
    share = min(0.5, _ROUNDING / (abs(x1 - x0) + abs(y1 - y0)))
    return x0 + share * (x1 - x0), y0 + share * (y1 - y0)


def _draw_node(axes: Axes, box: Box, label: str, look: Look) -> None:
    pad = _ROUNDING
    axes.add_patch(
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
        _draw_badge(axes, box.left + 6 + _BADGE, box.y, look)
        text_left = box.left + 2 * _BADGE + _BESIDE_BADGE
    axes.text(
        text_left,
        box.y + _CENTRE * _NAME,
        label,
        va="baseline",
        color="white" if look is _LOSS else INK,
        fontproperties=font(_NAME),
        zorder=3,
    )


def _draw_badge(axes: Axes, x: float, y: float, look: Look) -> None:
    axes.add_patch(Circle((x, y), _BADGE, facecolor=look.colour, edgecolor="none", zorder=3))
    axes.text(
        x,
        y + 0.5,
        look.symbol,
        ha="center",
        va="center",
        color=look.ink,
        fontproperties=font(1.45 * _BADGE, bold=True),
        zorder=4,
    )


def _draw_legend(
    axes: Axes,
    left: float,
    top: float,
    outcomes: Collection[Outcome],
    texts: Sequence[Sequence[str]],
) -> None:
    for row, (outcome, look) in enumerate(LOOKS.items()):
        count = sum(one is outcome for one in outcomes)
        y = top + _LEGEND_ROW * (row + 0.5)
        _draw_badge(axes, left + _BADGE, y, look)
        axes.text(
            left + 2 * _BADGE + _BESIDE_BADGE,
            y + _CENTRE * _NAME,
            f"{count} {look.word}",
            va="baseline",
            color=INK if count else QUIET,
            fontproperties=font(_NAME, bold=count > 0),
            gid=f"legend {outcome}",
        )
    below = top + _LEGEND_ROW * len(LOOKS)
    for lines in texts:
        below = write_lines(axes, lines, left, below + _LEGEND_GAP, _SMALL, colour=QUIET)
