"""Mistakes in where numbers go: rows of a table, maxima, views, copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from grader.diagnosis.formula.arithmetic import Power, Value, multiply, negative
from grader.diagnosis.formula.axes import Count, Expand, Reshape, orders
from grader.diagnosis.formula.places import OneHot, Permuted, Route
from grader.diagnosis.kinds import Kind
from grader.diagnosis.mistakes.setting import Edit, Setting


def route_edits(node: Route, setting: Setting) -> Iterator[Edit]:
    """The maximum's part handed to other entries."""
    d, axis = setting.gradient, node.axis
    belongs = f"but along axis {axis} only the largest entry of `{d[1:]}` was handed on"
    everywhere = Expand(node.body, node.chosen_from, (axis,), True)
    yield (
        Kind.MISROUTED_MAX,
        everywhere,
        f"`{d}` gives the maximum's part to every entry, {belongs}.",
    )
    evenly = multiply(everywhere, Power(Count(node.chosen_from, (axis,)), -1.0))
    yield (
        Kind.MISROUTED_MAX,
        evenly,
        f"`{d}` spreads the maximum's part evenly, {belongs}.",
    )
    smallest = replace(node, chosen_from=negative(node.chosen_from))
    yield (
        Kind.MISROUTED_MAX,
        smallest,
        f"`{d}` gives the maximum's part to the smallest, {belongs}.",
    )
    for other in range(len(setting.shape(node.chosen_from) or ())):
        if other != axis:
            yield (
                Kind.MISROUTED_MAX,
                replace(node, axis=other),
                f"`{d}` looks for the maximum along axis {other}, {belongs}.",
            )
    for name in setting.indices:
        hot = multiply(node.body, OneHot(Value(name), node.chosen_from))
        sentence = f"`{d}` gives the maximum's part to the entry at `{name}`, {belongs}."
        yield Kind.MISROUTED_MAX, hot, sentence


def reshape_edits(node: Reshape, setting: Setting) -> Iterator[Edit]:
    """The way back from a view, in another order of axes."""
    d, shape = setting.gradient, setting.shape(node.like)
    for order in orders(len(shape or ())):
        yield (
            Kind.PERMUTED,
            Permuted(node.body, node.like, order),
            f"`{d}` has the right numbers in the wrong places: undo the view of the forward pass"
            " with the same order of axes.",
        )


def expand_edits(node: Expand, setting: Setting) -> Iterator[Edit]:
    """A gradient that is not copied back to where its sum came from."""
    if setting.shape(node.body) not in ((), setting.shape(node)):
        sentence = (
            f"`{setting.gradient}` is not copied along the axis that the forward pass summed."
        )
        yield Kind.WRONG_SHAPE, node.body, sentence
