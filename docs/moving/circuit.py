"""The circuit of batch normalisation in stages, as SVG: at each stage other arrows move."""

from __future__ import annotations

import math
from collections.abc import Iterator

from docs.moving.gradient import PAUSE, PAUSED, TEMPLATES
from grader.pictures.figures.sheet import BACKWARD, FORWARD, HAIRLINE

_ROWS = {"₁": 70, "₂": 150, "₃₂": 310}
"""The examples that are drawn, by what their names end with."""
_COLUMNS = {"x": 60, "x̂": 470, "y": 640}
_MEAN, _VARIANCE = ("μ", 260, 400), ("σ²", 260, 500)
_HALF = 32, 22
"""Half of a node's width and height."""
_HEAD = 12

_STAGES = (
    ("forward", "Blue: x gives μ, both give σ², all three give x̂, and x̂ gives y."),
    ("dx̂", "One arrow leaves each x̂. Its gradient has one term."),
    ("dσ²", "32 arrows leave σ², one to each x̂. So 32 gradients come back and are added up."),
    ("dμ", "33 arrows leave μ: one to each x̂, and one to σ². So 33 gradients come back."),
    ("dx", "Three arrows leave each x: to its own x̂, to μ and to σ². So three come back."),
)
_STAGE_OF = {"x̂": 1, "σ²": 2, "μ": 3, "x": 4}
"""The stage at which the gradient of a node is found: its own arrows come back."""

_WORDS = (
    "A graph of one column of the batch: x1, x2 and so on to x32 on the left, x-hat 1 to x-hat 32 "
    "and y1 to y32 on the right, mu and sigma squared below in the middle. Five stages can be "
    "chosen. Forward, blue arrows run from left to right. Then orange arrows run back: from each y "
    "to its x-hat; from all x-hats to sigma squared; from all x-hats and from sigma squared to mu; "
    "and to each x from its own x-hat, from mu and from sigma squared."
)

_Node = tuple[str, int, int]
_Line = tuple[str, str]
"""A line and its head, each as an SVG path."""
_Arrow = tuple[_Line, _Line, int]
"""The line forward, the line backward, and the stage at which it runs backward."""


def batchnorm_in_stages() -> str:
    """One column of 32 numbers through batch normalisation and back, every arrow counted."""
    columns = [(f"{name}{row}", x, y) for name, x in _COLUMNS.items() for row, y in _ROWS.items()]
    nodes = [(*node, _STAGE_OF.get(_kind(node[0]), 0)) for node in (*columns, _MEAN, _VARIANCE)]
    return TEMPLATES.get_template("circuit.html.jinja").render(
        words=_WORDS,
        stages=_STAGES,
        nodes=nodes,
        arrows=list(_arrows()),
        dots=_COLUMNS.values(),
        half=_HALF,
        pause=PAUSE,
        paused=PAUSED,
        colours={"forward": FORWARD, "backward": BACKWARD, "quiet": HAIRLINE},
    )


def _kind(name: str) -> str:
    return name.rstrip("₁₂₃")


def _arrows() -> Iterator[_Arrow]:
    """Every arrow of the forward pass."""
    for row, y in _ROWS.items():
        x, x_hat, out = ((f"{name}{row}", column, y) for name, column in _COLUMNS.items())
        yield _arrow(x, x_hat, -8)
        yield _arrow(x_hat, out)
        for statistic in (_MEAN, _VARIANCE):
            yield _arrow(x, statistic)
            yield _arrow(statistic, x_hat, 8)
    yield _arrow(_MEAN, _VARIANCE)


def _arrow(start: _Node, end: _Node, lands: int = 0) -> _Arrow:
    """An arrow that lands a little above or below the middle of a node's side."""
    (name, x, y), (_, end_x, end_y) = start, end
    if x == end_x:
        ends = (x, y + _HALF[1]), (x, end_y - _HALF[1])
    else:
        ends = (x + _HALF[0], y), (end_x - _HALF[0], end_y + lands)
    return _line(*ends), _line(*reversed(ends)), _STAGE_OF[_kind(name)]


def _line(start: tuple[float, float], end: tuple[float, float]) -> _Line:
    (x, y), (end_x, end_y) = start, end
    angle = math.atan2(end_y - y, end_x - x)
    left, right = (
        f"{end_x - _HEAD * math.cos(side):.1f},{end_y - _HEAD * math.sin(side):.1f}"
        for side in (angle + 0.4, angle - 0.4)
    )
    return f"M{x},{y}L{end_x},{end_y}", f"M{left}L{end_x},{end_y}L{right}"
