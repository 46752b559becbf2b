"""The layout of a gradient graph in pixels: a box for each node, a route for each edge."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise

from grader.graph_rows import Arrangement, Edge, Spot, arrange, assign_layers

Point = tuple[float, float]
Link = tuple[Spot, Spot]
"""The part of an edge between two rows."""

SCREEN = (940.0, 640.0)
"""What one sees of a notebook at once, in pixels; a larger picture is seen smaller, or in parts."""

NODE_HEIGHT = 34.0
_ROW_PITCH = 56.0
_NODE_GAP = 14.0
_LANE = 11.0
"""Distance between edges that run side by side."""
_GUTTER = 20.0
"""From a column to the first edge beside it."""
_WIDEST_ROW = 380.0
_MOST_COLUMNS = 8

_ROUNDS = 24
_FORK_PULL = 0.03
_LEAF_PULL = 0.001
"""How strongly a link pulls towards the vertical, where 1 is a link of a chain: a path may bend
where it forks or joins, and leaves give way."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle by its centre, in pixels, y downwards."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        return self.x + self.width / 2

    @property
    def top(self) -> float:
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height / 2

    def overlaps(self, other: Box) -> bool:
        return (
            abs(self.x - other.x) < (self.width + other.width) / 2
            and abs(self.y - other.y) < (self.height + other.height) / 2
        )


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of all nodes, the points each edge runs through, and a free panel for a legend.

    Every edge leaves and reaches its nodes vertically; (0, 0) is the top left corner.
    """

    boxes: Mapping[str, Box]
    routes: Mapping[Edge, Sequence[Point]]
    panel: Box
    width: float
    height: float


def lay_out(
    readers: Mapping[str, Sequence[str]],
    widths: Mapping[str, float],
    panel: tuple[float, float],
) -> Layout:
    """Place a graph in as many columns as are best to read on a screen.

    Args:
        readers: for each node the nodes that read it, in an order in which readers come first.
        widths: each node's width.
        panel: width and height of the space to keep free at the end of the last column.
    """
    layers = assign_layers(readers, widths, _WIDEST_ROW)
    most = min(_MOST_COLUMNS, max(layers.values()) + 2)
    layouts = (
        _place(arrange(readers, layers, columns, panel[1] / _ROW_PITCH), widths, panel)
        for columns in range(1, most + 1)
    )
    return max(layouts, key=_legibility)


def _legibility(layout: Layout) -> tuple[float, float]:
    """How large text stays where the picture is fitted to the screen, then how well it fills it."""
    width, height = SCREEN
    scale = min(1.0, width / layout.width, height / layout.height)
    return scale, -abs(math.log(layout.width / layout.height * height / width))


def _place(
    arrangement: Arrangement, widths: Mapping[str, float], panel: tuple[float, float]
) -> Layout:
    """Turn rows into pixels, column by column from the left."""
    rows, starts = arrangement.rows, arrangement.starts
    links = [link for path in arrangement.paths.values() for link in pairwise(path)]
    row_of = {spot: index for index, row in enumerate(rows) for spot in row}
    turning = {
        start: [link for link in links if row_of[link[0]] < start <= row_of[link[1]]]
        for start in starts[1:-1]
    }
    top = _LANE * (1 + max(map(len, turning.values()), default=-1))
    boxes: dict[Spot, Box] = {}
    turns: dict[Link, Sequence[Point]] = {}
    left = right = bottom = 0.0
    for start, end in pairwise(starts):
        lane = right + _GUTTER
        if start:
            left = lane + _LANE * max(len(turning[start]) - 1, 0) + _GUTTER
        places = _straighten(rows[start:end], links, arrangement.leaves, widths)
        shift = left - min(
            (x - max(_width(spot, widths), 0) / 2 for spot, x in places.items()), default=0
        )
        for spot, x in places.items():
            y = top + NODE_HEIGHT / 2 + _ROW_PITCH * (row_of[spot] - start)
            boxes[spot] = Box(x + shift, y, _width(spot, widths), NODE_HEIGHT)
            right = max(right, boxes[spot].right)
        below = top + _ROW_PITCH * (end - start)
        bottom = max(bottom, below - _ROW_PITCH + NODE_HEIGHT + _LANE * len(turning.get(end, ())))
        turns.update(_turns(turning.get(start, ()), boxes, lane))
    right, bottom = max(right, left + panel[0]), max(bottom, below + panel[1])
    return Layout(
        {spot: box for spot, box in boxes.items() if isinstance(spot, str)},
        _routes(arrangement.paths, boxes, turns),
        Box(left + panel[0] / 2, bottom - panel[1] / 2, *panel),
        right,
        bottom,
    )


def _width(spot: Spot, widths: Mapping[str, float]) -> float:
    # Two edges that pass side by side stand a lane apart, gap included.
    return widths[spot] if isinstance(spot, str) else _LANE - _NODE_GAP


def _straighten(
    rows: Sequence[Sequence[Spot]],
    links: Sequence[Link],
    leaves: AbstractSet[str],
    widths: Mapping[str, float],
) -> dict[Spot, float]:
    """An x for each spot that keeps the rows' order, nodes apart and chains nearly straight."""
    places: dict[Spot, float] = {spot: 0.0 for row in rows for spot in row}
    onward = [link for link in links if link[1] not in leaves]
    leaving = Counter(upper for upper, _ in onward)
    arriving = Counter(lower for _, lower in onward)
    pulls: dict[Spot, list[tuple[Spot, float]]] = defaultdict(list)
    for upper, lower in links:
        if upper in places and lower in places:
            forks = leaving[upper] > 1 or arriving[lower] > 1
            pull = _LEAF_PULL if lower in leaves else _FORK_PULL if forks else 1.0
            pulls[upper].append((lower, pull))
            pulls[lower].append((upper, pull))
    for row in [row for _ in range(_ROUNDS) for row in (*rows, *reversed(rows))]:
        weights = [sum(pull for _, pull in pulls[spot]) or _LEAF_PULL for spot in row]
        wanted = [
            sum(pull * places[other] for other, pull in pulls[spot]) / weight
            for spot, weight in zip(row, weights, strict=True)
        ]
        halves = [_width(spot, widths) / 2 for spot in row]
        gaps = [left + right + _NODE_GAP for left, right in pairwise(halves)]
        places.update(zip(row, _spread(wanted, weights, gaps), strict=True))
    return places


def _spread(
    wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]
) -> list[float]:
    """The places nearest to the wanted ones (weighted squares) that are at least `gaps` apart.

    Without the gaps this is isotonic regression; pooling adjacent violators solves it exactly.
    """
    offsets = [0.0]
    for gap in gaps:
        offsets.append(offsets[-1] + gap)
    pools: list[tuple[float, float, int]] = []
    for target, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, mass, size = target - offset, weight, 1
        while pools and pools[-1][0] > mean:
            other, other_mass, other_size = pools.pop()
            mean = (mean * mass + other * other_mass) / (mass + other_mass)
            mass, size = mass + other_mass, size + other_size
        pools.append((mean, mass, size))
    means = [mean for mean, _, size in pools for _ in range(size)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _turns(
    links: Sequence[Link], boxes: Mapping[Spot, Box], lane: float
) -> Iterator[tuple[Link, Sequence[Point]]]:
    """Lead edges from one column to the next, nested so that they do not cross on the way."""
    ordered = sorted(links, key=lambda link: (boxes[link[0]].x, boxes[link[1]].x), reverse=True)
    for index, (upper, lower) in enumerate(ordered):
        x = lane + _LANE * index
        low = boxes[upper].bottom + _LANE * (index + 1)
        high = boxes[lower].top - _LANE * (len(ordered) - index)
        yield (
            (upper, lower),
            ((boxes[upper].x, low), (x, low), (x, high), (boxes[lower].x, high)),
        )


def _routes(
    paths: Mapping[Edge, Sequence[Spot]],
    boxes: Mapping[Spot, Box],
    turns: Mapping[Link, Sequence[Point]],
) -> dict[Edge, Sequence[Point]]:
    arriving: dict[Spot, list[tuple[float, Edge]]] = defaultdict(list)
    for edge, (*_, before, name) in paths.items():
        arriving[name].append((boxes[before].x, edge))
    routes: dict[Edge, Sequence[Point]] = {}
    for edge, path in paths.items():
        points: list[Point] = [(boxes[path[0]].x, boxes[path[0]].bottom)]
        for upper, lower in pairwise(path):
            box = boxes[lower]
            points += [*turns.get((upper, lower), ()), (box.x, box.top), (box.x, box.bottom)]
        # Arrows that arrive together arrive side by side: their contributions add up.
        end = boxes[path[-1]]
        others = [other for _, other in sorted(arriving[path[-1]])]
        spacing = min(_LANE, end.width / (len(others) + 1))
        x = end.x + spacing * (others.index(edge) - (len(others) - 1) / 2)
        last = 2 if (path[-2], path[-1]) in turns else 1
        routes[edge] = (*points[: -1 - last], *((x, y) for _, y in points[-1 - last : -1]))
    return routes
