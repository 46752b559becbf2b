"""The graph that gradients flow through, in layers from the loss down."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from itertools import chain, cycle, pairwise
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.program.forward_program import ForwardProgram

Edge = tuple[str, str]
"""From a tensor to one it was computed from: the way a gradient flows."""

Spot = str | tuple[str, str, int]
"""What takes up room in a row: a node, or the point where an edge passes the row."""

_CUT_COST = 2.0
"""What an edge that runs on into the next column costs, beside the square of a column's height."""


def gradient_graph(program: ForwardProgram) -> dict[str, tuple[str, ...]]:
    """Map each tensor that has a gradient to the steps from which its gradient arrives.

    The loss comes first and readers come before what they read. Left out are indices, sizes, and
    what the loss does not depend on.
    """
    sources: dict[str, tuple[str, ...]] = dict.fromkeys(program.inputs, ())
    for step, passed in program.passes.items():
        read = tuple(name for name in passed if name in sources)
        if read:
            sources[step] = read
    readers: dict[str, tuple[str, ...]] = {program.loss: ()}
    for name in (*(step.name for step in reversed(program.steps)), *program.inputs):
        arriving = tuple(reader for reader in readers if name in sources.get(reader, ()))
        if arriving:
            readers[name] = arriving
    return readers


def drawn_graph(
    program: ForwardProgram, asked: Collection[str]
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """The gradient graph as it is drawn, and what is written on each node: "loss", "dlogits".

    An input whose gradient is not `asked` for leads nowhere, and is left out: an upstream that is
    handed in, say.
    """
    readers = {
        name: arriving
        for name, arriving in gradient_graph(program).items()
        if name not in program.inputs or f"d{name}" in asked
    }
    return readers, {name: name if name == program.loss else f"d{name}" for name in readers}


@dataclass(frozen=True, slots=True)
class Rows:
    """A graph in rows: every row from left to right, and the spots each edge runs through.

    `starts` has the first row of each column and, at its end, the number of rows; `leaves` are the
    nodes that read nothing.
    """

    rows: Sequence[Sequence[Spot]]
    paths: Mapping[Edge, Sequence[Spot]]
    leaves: AbstractSet[str]
    starts: Sequence[int]


def assign_layers(
    readers: Mapping[str, Sequence[str]], widths: Mapping[str, float], widest: float
) -> dict[str, int]:
    """Put each node one layer below its lowest reader, or further down where that layer is full.

    `widths` and `widest`, the width of a full layer, are in pixels.
    """
    layers: dict[str, int] = {}
    filled: dict[int, float] = defaultdict(float)
    for name, its_readers in readers.items():
        layer = 1 + max((layers[reader] for reader in its_readers), default=-1)
        while filled[layer] and filled[layer] + widths[name] > widest:
            layer += 1
        layers[name] = layer
        filled[layer] += widths[name]
    return layers


def make_rows(
    readers: Mapping[str, Sequence[str]], layers: Mapping[str, int], columns: int
) -> Rows:
    """Break the layers into columns of about the same height, then put each row in order.

    Backward passes are long chains, so the rows run down a column, then go on at the top of the
    next, as in a newspaper.

    Args:
        readers: for each node the nodes that read it.
        layers: for each node its layer; readers have smaller ones.
        columns: at most as many as there are layers.
    """
    edges = [(reader, name) for name, its_readers in readers.items() for reader in its_readers]
    leaves = readers.keys() - {reader for reader, _ in edges}
    breaks = _breaks(layers, edges, leaves, columns)
    # Leaves stay in the column of their reader: they get a row of their own at its end.
    heights = {
        name: layer - 0.5 if name in leaves and layer in breaks else layer
        for name, layer in layers.items()
    }
    levels = sorted(set(heights.values()))
    row_of = {name: levels.index(height) for name, height in heights.items()}
    rows: list[list[Spot]] = [[] for _ in levels]
    for name, row in row_of.items():
        rows[row].append(name)
    paths: dict[Edge, list[Spot]] = {}
    for reader, name in edges:
        passed = [(reader, name, row) for row in range(row_of[reader] + 1, row_of[name])]
        paths[reader, name] = [reader, *passed, name]
        for spot in passed:
            rows[spot[2]].append(spot)
    _order(rows, paths.values(), leaves)
    starts = [0, *(sum(height < start for height in levels) for start in breaks), len(levels)]
    return Rows(rows, paths, leaves, starts)


def _breaks(
    layers: Mapping[str, int],
    edges: Sequence[Edge],
    leaves: AbstractSet[str],
    columns: int,
) -> tuple[int, ...]:
    """Choose the layers at which columns begin: columns of one height, cut where few edges run."""
    count = max(layers.values()) + 1
    cut = [
        sum(layers[reader] < start <= layers[name] - (name in leaves) for reader, name in edges)
        for start in range(count + 1)
    ]
    leafy = {layers[name] for name in leaves}

    @cache
    def best(start: int, columns: int) -> tuple[float, tuple[int, ...]]:
        """Break the layers from `start` on at the least cost: the cost, the breaks."""
        if columns == 1:
            return (count - start) ** 2, ()
        ways = []
        for end in range(start + 1, count - columns + 2):
            cost, breaks = best(end, columns - 1)
            cost += (end - start + (end in leafy)) ** 2 + _CUT_COST * cut[end] ** 2
            ways.append((cost, (end, *breaks)))
        return min(ways)

    return best(0, columns)[1]


def _order(
    rows: Sequence[list[Spot]], paths: Iterable[Sequence[Spot]], leaves: AbstractSet[str]
) -> None:
    """Sort each row, from above, by the mean place of what leads to its spots."""
    above: dict[Spot, list[Spot]] = defaultdict(list)
    for upper, lower in chain.from_iterable(map(pairwise, paths)):
        above[lower].append(upper)
    place: dict[Spot, int] = {}
    for row in rows:
        wanted = {spot: fmean([place[other] for other in above[spot]] or [0]) for spot in row}
        # Leaves go to the left and to the right in turn, so that the chain runs down the middle.
        side = dict(zip([spot for spot in row if spot in leaves], cycle((-1, 1)), strict=False))
        row.sort(key=lambda spot: (wanted[spot], side.get(spot, 0)))
        place |= {spot: index for index, spot in enumerate(row)}
