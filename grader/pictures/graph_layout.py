"""The layout of a gradient graph in pixels: a box for each node, a route for each edge."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise

from grader.pictures.gradient_graph import Edge, Rows, Spot, assign_layers, make_rows

Point = tuple[float, float]
Link = tuple[Spot, Spot]
"""The part of an edge between two rows."""
Turn = tuple[float, float, float]
"""The way from one column to the next: down to this y, to this x, up to this y."""

_SCREEN = (940.0, 640.0)
"""What one sees of a notebook at once, in pixels; a larger picture is seen smaller, or in parts."""

LETTER = 8.6
"""Width of a letter in pixels; no common font for code has wider ones at 14 pixels."""
NODE_HEIGHT = 34.0
_ROW_PITCH = 56.0
_NODE_GAP = 14.0
_LANE = 11.0
"""Distance between edges that run side by side."""
_GUTTER = 20.0
"""From a column to the first edge beside it."""
_WIDEST_ROW = 380.0
_HEAD = 5.0
"""Pixels of an arrow that its head covers."""
ROUNDING = 8.0
"""Radius of the corners of nodes and edges, in pixels."""
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
        """The x of its left side."""
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        """The x of its right side."""
        return self.x + self.width / 2

    @property
    def top(self) -> float:
        """The y of its upper side."""
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        """The y of its lower side."""
        return self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of all nodes, and the points that each edge runs through.

    Every edge leaves and reaches its nodes vertically; (0, 0) is the top left corner.
    """

    boxes: Mapping[str, Box]
    routes: Mapping[Edge, Sequence[Point]]
    width: float
    height: float


def lay_out(
    readers: Mapping[str, Sequence[str]], widths: Mapping[str, float], columns: int | None = None
) -> Layout:
    """Place a graph in as many columns as are best to read on a screen.

    Args:
        readers: for each node the nodes that read it, in an order in which readers come first.
        widths: each node's width.
        columns: so many columns instead, where the graph has as many layers.
    """
    layers = assign_layers(readers, widths, _WIDEST_ROW)
    count = max(layers.values()) + 1
    tried = [min(columns, count)] if columns else range(1, min(_MOST_COLUMNS, count) + 1)
    return max((_place(make_rows(readers, layers, n), widths) for n in tried), key=_legibility)


def _legibility(layout: Layout) -> tuple[float, float]:
    """Score how large text stays on a screen, then how well the picture fills the screen."""
    width, height = _SCREEN
    scale = min(1.0, width / layout.width, height / layout.height)
    return scale, -abs(math.log(layout.width / layout.height * height / width))


def _place(graph: Rows, widths: Mapping[str, float]) -> Layout:
    """Turn rows into pixels, column by column from the left."""
    rows, starts = graph.rows, graph.starts
    links = [link for path in graph.paths.values() for link in pairwise(path)]
    row_of = {spot: index for index, row in enumerate(rows) for spot in row}
    turning = {
        start: [link for link in links if row_of[link[0]] < start <= row_of[link[1]]]
        for start in starts[1:-1]
    }
    top = _LANE * (1 + max(map(len, turning.values()), default=-1))
    boxes: dict[Spot, Box] = {}
    turns: dict[Link, Turn] = {}
    left = right = bottom = 0.0
    for start, end in pairwise(starts):
        lane = right + _GUTTER
        if start:
            left = lane + _LANE * max(len(turning[start]) - 1, 0) + _GUTTER
        places = _straighten(rows[start:end], links, graph.leaves, widths)
        # A column of leaves alone is empty: they stay in their reader's.
        shift = left - min((x - _drawn(spot, widths) / 2 for spot, x in places.items()), default=0)
        for spot, x in places.items():
            y = top + NODE_HEIGHT / 2 + _ROW_PITCH * (row_of[spot] - start)
            boxes[spot] = Box(x + shift, y, _drawn(spot, widths), NODE_HEIGHT)
            right = max(right, boxes[spot].right)
        lowest = top + _ROW_PITCH * (end - start - 1) + NODE_HEIGHT
        bottom = max(bottom, lowest + _LANE * len(turning.get(end, ())))
        turns.update(_turns(turning.get(start, ()), boxes, lane))
    return Layout(
        {spot: box for spot, box in boxes.items() if isinstance(spot, str)},
        _routes(graph.paths, boxes, turns),
        right,
        bottom,
    )


def _drawn(spot: Spot, widths: Mapping[str, float]) -> float:
    """The width of a node; an edge that passes has none."""
    return widths[spot] if isinstance(spot, str) else 0.0


def _straighten(
    rows: Sequence[Sequence[Spot]],
    links: Sequence[Link],
    leaves: AbstractSet[str],
    widths: Mapping[str, float],
) -> dict[Spot, float]:
    """Find an x for each spot: rows keep their order, nodes stay apart, chains nearly straight."""
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
        # Two edges that pass side by side stand a lane apart.
        rooms = [widths[spot] + _NODE_GAP if isinstance(spot, str) else _LANE for spot in row]
        gaps = [(left + right) / 2 for left, right in pairwise(rooms)]
        places.update(zip(row, _spread(wanted, weights, gaps), strict=True))
    return places


def _spread(
    wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]
) -> list[float]:
    """Find the places nearest to the wanted ones (weighted squares) that are `gaps` or more apart.

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
) -> Iterator[tuple[Link, Turn]]:
    """Lead edges from one column to the next, nested so that they do not cross on the way."""
    ordered = sorted(links, key=lambda link: (boxes[link[0]].x, boxes[link[1]].x), reverse=True)
    for index, (upper, lower) in enumerate(ordered):
        low = boxes[upper].bottom + _LANE * (index + 1)
        high = boxes[lower].top - _LANE * (len(ordered) - index)
        yield (upper, lower), (low, lane + _LANE * index, high)


def _routes(
    paths: Mapping[Edge, Sequence[Spot]], boxes: Mapping[Spot, Box], turns: Mapping[Link, Turn]
) -> dict[Edge, Sequence[Point]]:
    arriving: dict[Spot, list[tuple[float, Edge]]] = defaultdict(list)
    for edge, (*_, before, name) in paths.items():
        arriving[name].append((boxes[before].x, edge))
    routes: dict[Edge, Sequence[Point]] = {}
    for edge, path in paths.items():
        # Arrows that arrive together arrive side by side: their contributions add up.
        end = boxes[path[-1]]
        others = [other for _, other in sorted(arriving[path[-1]])]
        spacing = min(_LANE, end.width / (len(others) + 1))
        end_x = end.x + spacing * (others.index(edge) - (len(others) - 1) / 2)
        x, points = boxes[path[0]].x, []
        for upper, lower in pairwise(path):
            points.append((x, boxes[upper].bottom))
            next_x = end_x if lower == path[-1] else boxes[lower].x
            if (upper, lower) in turns:
                low, lane, high = turns[upper, lower]
                points += [(x, low), (lane, low), (lane, high), (next_x, high)]
            x = next_x
            points.append((x, boxes[lower].top))
        routes[edge] = points
    return routes


def smooth(route: Sequence[Point]) -> Iterator[tuple[str, tuple[Point, ...]]]:
    """Turn a route into an SVG path's letters and points: S-curves, lines with rounded corners."""
    yield "M", (route[0],)
    following = [*route[2:], route[-1]]
    for ((x0, y0), (x1, y1)), (x2, y2) in zip(pairwise(route), following, strict=True):
        if abs(x0 - x1) > 1 and abs(y0 - y1) > 1:
            middle = (y0 + y1) / 2
            yield "C", ((x0, middle), (x1, middle), (x1, y1))
        elif (x1, y1) != (x2, y2) and ((x0 == x1 and y1 == y2) or (y0 == y1 and x1 == x2)):
            yield "L", (_toward((x1, y1), (x0, y0)),)
            yield "Q", ((x1, y1), _toward((x1, y1), (x2, y2)))
        else:
            yield "L", ((x1, y1),)


def _toward(corner: Point, other: Point) -> Point:
    """The point on the line from a corner to the next point where the rounding begins."""
    (x0, y0), (x1, y1) = corner, other
    share = min(0.5, ROUNDING / (abs(x1 - x0) + abs(y1 - y0)))
    return x0 + share * (x1 - x0), y0 + share * (y1 - y0)


def svg_path(route: Sequence[Point]) -> str:
    """The route of an arrow, up to its head, as a part of an SVG path."""
    *before, (x, y) = route
    parts = smooth([*before, (x, y - _HEAD)])
    return "".join(f"{letter}{' '.join(map(_at, points))}" for letter, points in parts)


def svg_head(route: Sequence[Point]) -> str:
    """The head of an arrow as a part of an SVG path."""
    return f"M{_at(route[-1])}l-3.5-6.5h7z"


def _at(point: Point) -> str:
    return f"{point[0]:.4g},{point[1]:.4g}"
