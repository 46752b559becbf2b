"""The rows of a layered graph: layers from the loss down, broken into columns, put in order.

The method is Sugiyama's: longest-path layers, passing points where an edge crosses a layer,
barycentre sweeps against crossings. What is special here are the columns. Backward passes are long
chains, so the rows run down a column, then go on at the top of the next, as in a newspaper.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise

Edge = tuple[str, str]
"""From a tensor to one it was computed from: the way a gradient flows."""

Spot = str | tuple[str, str, int]
"""What takes up room in a row: a node, or the point where an edge passes the row."""

_CUT_COST = 2.0
"""What an edge that runs on into the next column costs, beside the square of a column's height."""

_SWEEPS = 12


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Every row from left to right, and the spots each edge runs through from end to end.

    `starts` has the first row of each column and, at its end, the number of rows.
    """

    rows: Sequence[Sequence[Spot]]
    paths: Mapping[Edge, Sequence[Spot]]
    leaves: AbstractSet[str]
    starts: Sequence[int]


def assign_layers(
    readers: Mapping[str, Sequence[str]], widths: Mapping[str, float], widest: float
) -> dict[str, int]:
    """Each node one layer below its lowest reader, or further down where that layer is full."""
    layers: dict[str, int] = {}
    filled: dict[int, float] = defaultdict(float)
    for name, its_readers in readers.items():
        layer = 1 + max((layers[reader] for reader in its_readers), default=-1)
        while filled[layer] and filled[layer] + widths[name] > widest:
            layer += 1
        layers[name] = layer
        filled[layer] += widths[name]
    return layers


def arrange(
    readers: Mapping[str, Sequence[str]],
    layers: Mapping[str, int],
    columns: int,
    panel_rows: float,
) -> Arrangement:
    """Break the layers into columns of about the same height, then put each row in order.

    Args:
        readers: for each node the nodes that read it.
        layers: for each node its layer; readers have smaller ones.
        columns: at most one more than there are layers.
        panel_rows: height of what stands below the last column, in rows.
    """
    edges = [(reader, name) for name, its_readers in readers.items() for reader in its_readers]
    leaves = readers.keys() - {reader for reader, _ in edges}
    breaks = _breaks(layers, edges, leaves, columns, panel_rows)
    # Leaves stay in the column of their reader: they get a row of their own at its end.
    heights = {
        name: layer - 0.5 if name in leaves and layer in breaks else layer
        for name, layer in layers.items()
    }
    numbers = {height: row for row, height in enumerate(sorted(set(heights.values())))}
    row_of = {name: numbers[height] for name, height in heights.items()}
    starts = [0, *(sum(height < start for height in numbers) for start in breaks), len(numbers)]

    rows, paths = _fill(row_of, edges, leaves)
    links = [link for path in paths.values() for link in pairwise(path)]
    return Arrangement(_untangle(rows, links), paths, leaves, starts)


def _breaks(
    layers: Mapping[str, int],
    edges: Sequence[Edge],
    leaves: AbstractSet[str],
    columns: int,
    panel_rows: float,
) -> tuple[int, ...]:
    """The layers at which columns begin: equally high ones, cut where few edges run."""
    count = max(layers.values()) + 1
    cut = {
        start: sum(
            layers[reader] < start <= layers[name]
            for reader, name in edges
            if name not in leaves or layers[name] != start
        )
        for start in range(count + 1)
    }
    leafy = {layers[name] for name in leaves}

    def cost(start: int, end: int, last: bool) -> float:
        extra = panel_rows if last else float(end in leafy)
        return (end - start + extra) ** 2 + _CUT_COST * cut[start] ** 2

    # The cheapest way to end a column before each layer, column after column.
    best: dict[int, tuple[float, tuple[int, ...]]] = {
        end: (cost(0, end, columns == 1), ()) for end in range(1, count + 1)
    }
    for column in range(1, columns):
        last = column == columns - 1
        best = {
            end: min(
                (best[start][0] + cost(start, end, last), (*best[start][1], start))
                # Only the last column may be without rows: it still has the panel.
                for start in range(column, end + last)
            )
            for end in ([count] if last else range(column + 1, count + 1))
        }
    return best[count][1]


def _fill(
    row_of: Mapping[str, int], edges: Sequence[Edge], leaves: AbstractSet[str]
) -> tuple[list[list[Spot]], dict[Edge, list[Spot]]]:
    rows: list[list[Spot]] = [[] for _ in range(max(row_of.values()) + 1)]
    for name, row in row_of.items():
        if name not in leaves:
            rows[row].append(name)
    paths: dict[Edge, list[Spot]] = {}
    for reader, name in edges:
        paths[reader, name] = [reader]
        for row in range(row_of[reader] + 1, row_of[name]):
            rows[row].append((reader, name, row))
            paths[reader, name].append((reader, name, row))
        paths[reader, name].append(name)
    # Leaves go to the left and to the right in turn, so that the chain runs down the middle.
    for leaf in (name for name in row_of if name in leaves):
        row_spots = rows[row_of[leaf]]
        before = sum(spot in leaves for spot in row_spots)
        row_spots.insert(len(row_spots) if before % 2 else 0, leaf)
    return rows, paths


def _untangle(rows: list[list[Spot]], links: Sequence[tuple[Spot, Spot]]) -> list[list[Spot]]:
    """Sort rows by the mean place of the neighbours above, then below; keep the best result."""
    above: dict[Spot, list[Spot]] = defaultdict(list)
    below: dict[Spot, list[Spot]] = defaultdict(list)
    for upper, lower in links:
        above[lower].append(upper)
        below[upper].append(lower)
    best, fewest = rows, _crossings(rows, below)
    for sweep in range(_SWEEPS):
        upwards = sweep % 2 == 1
        neighbours = below if upwards else above
        place: dict[Spot, float] = {}
        swept: list[list[Spot]] = []
        for row in reversed(rows) if upwards else rows:
            wanted = {
                spot: _mean([place[other] for other in neighbours[spot]], otherwise=index)
                for index, spot in enumerate(row)
            }
            ordered = sorted(row, key=wanted.__getitem__)
            place.update({spot: index for index, spot in enumerate(ordered)})
            swept.append(ordered)
        rows = swept[::-1] if upwards else swept
        crossings = _crossings(rows, below)
        if crossings < fewest:
            best, fewest = rows, crossings
    return best


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _crossings(rows: Sequence[Sequence[Spot]], below: Mapping[Spot, Sequence[Spot]]) -> int:
    total = 0
    for upper, lower in pairwise(rows):
        place = {spot: index for index, spot in enumerate(lower)}
        ends = [end for spot in upper for end in sorted(place[b] for b in below.get(spot, ()))]
        total += sum(left > right for i, left in enumerate(ends) for right in ends[i + 1 :])
    return total
