"""The graph of a forward program, every gradient in the colour of its verdict."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path

from grader.card import INK, PAPER, QUIET, font, new_card, points, text_width, wrap
from grader.error_map import draw_error
from grader.graph_layout import NODE_HEIGHT, Box, Layout, Point, lay_out
from grader.verdict import Outcome

__all__ = ["Drawable", "draw_board", "draw_error", "gradient_graph"]


class DrawableStep(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def expression(self) -> str: ...
    @property
    def reads(self) -> tuple[str, ...]: ...


class Drawable(Protocol):
    """What a picture needs of a `grader.program.ForwardProgram`."""

    @property
    def inputs(self) -> tuple[str, ...]: ...
    @property
    def annotations(self) -> Mapping[str, str]: ...
    @property
    def steps(self) -> Sequence[DrawableStep]: ...
    @property
    def loss(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Look:
    """How an outcome shows: never by its colour alone."""

    symbol: str
    colour: str
    ink: str
    tint: str
    line: str = "solid"


LOOKS: Mapping[Outcome, Look] = {
    Outcome.PASS: Look("✔", "#009e73", "white", "#d9f0e9"),
    Outcome.CARRIED: Look("↓", "#56b4e9", INK, "#e3f2fb"),
    Outcome.FAIL: Look("✘", "#d55e00", "white", "#fae3d3"),
    Outcome.TODO: Look("…", "#8a8a92", "white", PAPER, "dashed"),
    Outcome.ERROR: Look("!", "#cc79a7", INK, "#f7e6ef"),
    Outcome.REFUSED: Look("⊘", "#1c1c1e", "white", "#dcdce0"),
}
"""The colours of Okabe and Ito, which the colour-blind tell apart; every symbol is in DejaVu Sans."""

WORDS: Mapping[Outcome, str] = {outcome: outcome.value for outcome in Outcome} | {
    Outcome.TODO: "to do"
}

_NAME = 17.0
_CENTRE = 0.35
"""Of a font's size: from the middle of its letters down to the baseline."""
_TITLE = 24.0
_SMALL = 14.0
_BADGE = 11.0
_EDGE = "#85858d"
_MARGIN = 24.0
_ROUNDING = 8.0
_HEADER = 40.0
_LEGEND_ROW = 30.0
_LEGEND_WIDTH = 200.0
_EXPLANATION = (
    "Carried: right in itself, but handed a wrong gradient.",
    "Arrows show how gradients flow back from the loss. Where arrows meet, contributions add up.",
)
_VALUELESS = frozenset({"shape", "ndim", "dtype", "device"})
_VALUELESS_CALLS = frozenset({"size", "dim", "numel", "argmax", "detach", "item", "len", "range"})


def draw_board(
    program: Drawable, outcomes: Mapping[str, Outcome], asked: Collection[str] | None = None
) -> Figure:
    """Draw the network as the graph its gradients flow through, from the loss down.

    Args:
        program: the forward program.
        outcomes: by name of gradient ("dlogits"); one that is missing is to do.
        asked: the gradients the exercise asks for, by default all; the others are drawn quietly.
    """
    readers = gradient_graph(program)
    shown = {
        name: outcomes.get(f"d{name}", Outcome.TODO)
        for name in readers
        if name != program.loss and (asked is None or f"d{name}" in asked)
    }
    labels = {name: name if name == program.loss else f"d{name}" for name in readers}
    widths = {
        name: text_width(label, _NAME) + (2 * _BADGE + 18 if name in shown else 24)
        for name, label in labels.items()
    }
    explanation = wrap(_EXPLANATION, _SMALL, _LEGEND_WIDTH)
    legend_height = _LEGEND_ROW * len(Outcome) + 14 + 20 * len(explanation)
    layout = lay_out(readers, widths, (_LEGEND_WIDTH, legend_height))
    figure, axes = new_card(layout.width + 2 * _MARGIN, layout.height + 2 * _MARGIN + _HEADER)
    axes.text(
        _MARGIN,
        _MARGIN,
        _title(shown.values()),
        va="top",
        color=INK,
        fontproperties=font(_TITLE, bold=True),
        gid="title",
    )
    corner = (_MARGIN, _MARGIN + _HEADER)
    for (reader, name), route in layout.routes.items():
        _draw_edge(axes, route, corner, f"edge {reader} {name}")
    for name, box in layout.boxes.items():
        place = Box(box.x + corner[0], box.y + corner[1], box.width, box.height)
        _draw_node(axes, place, labels[name], shown.get(name), name == program.loss)
    _draw_legend(
        axes,
        layout.panel.left + corner[0],
        layout.panel.top + corner[1],
        shown.values(),
        explanation,
    )
    return figure


def gradient_graph(program: Drawable) -> dict[str, tuple[str, ...]]:
    """Each tensor that has a gradient with the steps it flows in from, readers before what they read."""
    parents: dict[str, tuple[str, ...]] = {
        name: () for name in program.inputs if "<" not in program.annotations[name]
    }
    for step in program.steps:
        reads = set(_value_names(ast.parse(step.expression, mode="eval").body))
        read = tuple(name for name in step.reads if name in parents and name in reads)
        if read:
            parents[step.name] = read
    readers: dict[str, tuple[str, ...]] = {program.loss: ()}
    steps = [step.name for step in reversed(program.steps) if step.name in parents]
    inputs = [name for name in program.inputs if name in parents]
    for name in (*steps, *inputs):
        mine = tuple(reader for reader in readers if name in parents.get(reader, ()))
        if mine:
            readers[name] = mine
    return readers


def _value_names(node: ast.expr | ast.AST) -> Iterator[str]:
    """The names through whose values a gradient can flow: no sizes, indices or comparisons."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Compare():
            return
        case ast.Attribute(attr=attribute) if attribute in _VALUELESS:
            return
        case ast.Call(func=ast.Attribute(attr=called) | ast.Name(id=called)) if (
            called in _VALUELESS_CALLS
        ):
            return
        case ast.Subscript(value=value):
            yield from _value_names(value)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _value_names(child)


def _title(outcomes: Collection[Outcome]) -> str:
    passed = sum(outcome is Outcome.PASS for outcome in outcomes)
    if passed == len(outcomes):
        return f"All {passed} gradients pass" if passed > 1 else "The gradient passes"
    return f"{passed} of {len(outcomes)} gradients pass"


def _draw_edge(axes: Axes, route: Sequence[Point], corner: Point, gid: str) -> None:
    path = _smooth([(x + corner[0], y + corner[1]) for x, y in route])
    axes.add_patch(
        FancyArrowPatch(
            path=path,
            arrowstyle="-|>,head_length=5,head_width=2.6",
            mutation_scale=1,
            edgecolor=_EDGE,
            facecolor=_EDGE,
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
        if abs(x0 - x1) > 1 and abs(y0 - y1) > 1:
            middle = (y0 + y1) / 2
            vertices += [(x0, middle), (x1, middle), end]
            codes += [int(Path.CURVE4)] * 3
            continue
        after = route[index + 2] if index + 2 < len(route) else end
        if after != end and ((x0 == x1 and y1 == after[1]) or (y0 == y1 and x1 == after[0])):
            vertices += [_toward(end, start), end, _toward(end, after)]
            codes += [int(Path.LINETO), int(Path.CURVE3), int(Path.CURVE3)]
        else:
            vertices.append(end)
            codes.append(int(Path.LINETO))
    return Path(vertices, codes)


def _toward(start: Point, end: Point) -> Point:
    """The point where a rounded corner at `start` meets the line to `end`."""
    (x0, y0), (x1, y1) = start, end
    share = min(0.5, _ROUNDING / (abs(x1 - x0) + abs(y1 - y0)))
    return x0 + share * (x1 - x0), y0 + share * (y1 - y0)


def _draw_node(axes: Axes, box: Box, label: str, outcome: Outcome | None, is_loss: bool) -> None:
    look = LOOKS[outcome] if outcome else Look("", QUIET, INK, "#ececea")
    inset = 8.0
    axes.add_patch(
        FancyBboxPatch(
            (box.left + inset, box.top + inset),
            box.width - 2 * inset,
            box.height - 2 * inset,
            boxstyle=f"round,pad={inset}",
            facecolor=INK if is_loss else look.tint,
            edgecolor=INK if is_loss else look.colour,
            linestyle=look.line,
            linewidth=points(2),
            zorder=2,
            gid=f"node {label}",
        )
    )
    text_left = box.left + 12
    if outcome:
        _draw_badge(axes, box.left + 6 + _BADGE, box.y, look)
        text_left = box.left + 2 * _BADGE + 10
    axes.text(
        text_left,
        box.y + 1,
        label,
        va="center_baseline",
        color="white" if is_loss else INK,
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
    axes: Axes, left: float, top: float, outcomes: Collection[Outcome], explanation: Sequence[str]
) -> None:
    for row, outcome in enumerate(Outcome):
        count = sum(one is outcome for one in outcomes)
        y = top + _LEGEND_ROW * (row + 0.5)
        _draw_badge(axes, left + _BADGE, y, LOOKS[outcome])
        axes.text(
            left + 2 * _BADGE + 10,
            y + 1,
            f"{count} {WORDS[outcome]}",
            va="center_baseline",
            color=INK if count else QUIET,
            fontproperties=font(_NAME, bold=bool(count)),
            gid=f"legend {outcome}",
        )
    for index, line in enumerate(explanation):
        axes.text(
            left,
            top + _LEGEND_ROW * len(Outcome) + 14 + 20 * index,
            line,
            va="top",
            color=QUIET,
            fontproperties=font(_SMALL),
        )
