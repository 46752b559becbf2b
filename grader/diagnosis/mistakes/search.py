"""The search for mistakes: each node of a right formula, each edit of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from grader.diagnosis.formula.arithmetic import (
    Branch,
    Power,
    Product,
    Slope,
    Sum,
    Upstream,
    Value,
    negative,
)
from grader.diagnosis.formula.axes import Count, Expand, Matmul, Reduce, Reshape, Softmax, Transpose
from grader.diagnosis.formula.node import Formula, size, walk
from grader.diagnosis.formula.places import Route
from grader.diagnosis.kinds import Kind
from grader.diagnosis.mistakes.names import slope_edits, upstream_edits, value_edits
from grader.diagnosis.mistakes.places import expand_edits, reshape_edits, route_edits
from grader.diagnosis.mistakes.products import (
    extra_factor_edits,
    matmul_edits,
    power_edits,
    product_edits,
)
from grader.diagnosis.mistakes.reductions import count_edits, reduction_edits, softmax_edits
from grader.diagnosis.mistakes.setting import Edit, Mistake, Setting
from grader.diagnosis.mistakes.sums import sum_edits

LARGEST_FORMULA = 130
"""Nodes of a formula that is taken apart; what is longer skips more steps than anybody does."""


def mistakes_of(formula: Formula, setting: Setting) -> Iterator[Mistake]:
    """Every mistake that differs from a right formula in one place, the likeliest first."""
    if size(formula) > LARGEST_FORMULA:
        return
    slopes = {
        inner
        for node, _ in walk(formula)
        if isinstance(node, Slope)
        for inner, _ in walk(node.body)
    }
    parts = _parts_of_branches(formula, setting.gradient)
    found = [
        Mistake(kind, put(edited), message)
        for node, put in walk(formula)
        if node not in slopes
        for kind, edited, message in _edits(
            node, node is formula, replace(setting, through=parts.get(node))
        )
    ]
    yield from sorted(found, key=lambda mistake: _LIKELIHOOD.index(mistake.kind))


def _parts_of_branches(formula: Formula, gradient: str) -> dict[Formula, str]:
    """For the nodes of one of several branches of a gradient, the reader it comes through."""
    branches = [node for node, _ in walk(formula) if isinstance(node, Branch)]
    own = [branch for branch in branches if f"d{branch.tensor}" == gradient]
    if len({branch.through for branch in own}) < 2:
        return {}
    places = [(inner, branch.through) for branch in own for inner, _ in walk(branch)]
    through: dict[Formula, set[str]] = {}
    for inner, reader in places:
        through.setdefault(inner, set()).add(reader)
    return {inner: readers.pop() for inner, readers in through.items() if len(readers) == 1}


_LIKELIHOOD = (
    *(Kind.MISSING_BRANCH, Kind.OVERWRITTEN_BRANCH, Kind.SIGN, Kind.BESSEL, Kind.MISSING_SUM),
    *(Kind.LOST_KEEPDIM, Kind.MEAN_FOR_SUM, Kind.SUM_FOR_MEAN, Kind.MISSING_EPS, Kind.MISSING_D),
    *(Kind.WRONG_ACTIVATION_POINT, Kind.WRONG_AXIS, Kind.POWER_RULE, Kind.CONSTANT_FACTOR),
    *(Kind.MISROUTED_MAX, Kind.PERMUTED, Kind.TRANSPOSED),
    *(Kind.PARTIAL_ROWS, Kind.MISSING_FACTOR, Kind.EXTRA_FACTOR, Kind.WRONG_ORDER),
    *(Kind.HARD_CODED_SIZE, Kind.WRONG_SHAPE),
)
"""Where two mistakes give the same numbers, the first of these is named."""


def _edits(node: Formula, is_root: bool, setting: Setting) -> Iterator[Edit]:
    """What could stand in a node's place by mistake."""
    match node:
        case Sum():
            yield from sum_edits(node, setting)
        case Product():
            yield from product_edits(node, setting)
        case Power():
            yield from power_edits(node, setting)
        case Matmul():
            yield from matmul_edits(node, setting)
        case Reduce():
            yield from reduction_edits(node, setting)
        case Count():
            yield from count_edits(node, setting)
        case Softmax():
            yield from softmax_edits(node, setting)
        case Slope():
            yield from slope_edits(node, setting)
        case Value():
            yield from value_edits(node, setting)
        case Upstream():
            yield from upstream_edits(node, setting)
        case Route():
            yield from route_edits(node, setting)
        case Reshape():
            yield from reshape_edits(node, setting)
        case Expand():
            yield from expand_edits(node, setting)
    d = setting.gradient
    if is_root:
        yield Kind.SIGN, negative(node), f"`{d}` has the right size with the wrong sign."
        yield Kind.TRANSPOSED, Transpose(node), f"`{d}` is the transpose of what it should be."
    if is_root or isinstance(node, Branch):
        yield from extra_factor_edits(node, setting)
