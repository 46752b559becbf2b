"""Mistakes in a name: one tensor in the place of another, a slope at the wrong point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from grader.diagnosis.formula.arithmetic import (
    Elementwise,
    Number,
    Power,
    Slope,
    Sum,
    Upstream,
    Value,
    add,
    multiply,
)
from grader.diagnosis.formula.node import walk
from grader.diagnosis.formula.text import describe
from grader.diagnosis.kinds import Kind
from grader.diagnosis.mistakes.products import power_edits
from grader.diagnosis.mistakes.reductions import part_edits, written_out
from grader.diagnosis.mistakes.setting import Edit, Setting
from grader.diagnosis.mistakes.sums import sum_edits


def slope_edits(node: Slope, setting: Setting) -> Iterator[Edit]:
    """The slope of an elementwise function: another slope, or that at another point."""
    d = setting.gradient
    for inner, put in walk(node.body):
        edits = sum_edits(inner, setting) if isinstance(inner, Sum) else ()
        if isinstance(inner, Power):
            edits = power_edits(inner, setting)
        for kind, edited, message in edits:
            if kind in (Kind.SIGN, Kind.POWER_RULE):
                yield kind, replace(node, body=put(edited)), message
        if isinstance(inner, Power) and inner.exponent == 2 and isinstance(inner.base, Value):
            # Written as a product, one of the two factors may be another tensor.
            for _, other, message in value_edits(inner.base, setting):
                edited = put(multiply(inner.base, other))
                kind = Kind.MISSING_FACTOR
                if (
                    isinstance(other, Value)
                    and setting.operand_of.get(inner.base.name) == other.name
                ):
                    kind = Kind.WRONG_ACTIVATION_POINT
                yield kind, replace(node, body=edited), message
            again = Elementwise(node.of, inner.base)
            yield (
                Kind.WRONG_ACTIVATION_POINT,
                replace(node, body=put(multiply(inner.base, again))),
                f"`{d}` applies {node.of} once more to `{inner.base.name}`, which is its result"
                " already.",
            )
        if not isinstance(inner, Value):
            continue
        operand = setting.operand_of.get(inner.name)
        outputs = [out for out, source in setting.operand_of.items() if source == inner.name]
        near = [name for name in (operand, *outputs) if name is not None]
        shape = setting.shape(inner)
        far = [name for name in setting.tensors if setting.shape(Value(name)) == shape]
        for point in dict.fromkeys([*near, *far]):
            if point == inner.name:
                continue
            sentence = (
                f"`{d}` takes the slope of {node.of} from `{point}`; here it is a formula of"
                f" `{inner.name}`."
            )
            yield Kind.WRONG_ACTIVATION_POINT, replace(node, body=put(Value(point))), sentence
        if operand is not None:
            again = Elementwise(node.of, inner)
            sentence = (
                f"`{d}` applies {node.of} once more to `{inner.name}`, which is its result already."
            )
            yield Kind.WRONG_ACTIVATION_POINT, replace(node, body=put(again)), sentence
    match node.body:
        case Sum(terms=(Number() as constant, *others)):
            sentence = f"The slope of {node.of} in `{d}` lacks the term {describe(constant)}."
            yield Kind.WRONG_ACTIVATION_POINT, replace(node, body=add(*others)), sentence


def value_edits(node: Value, setting: Setting) -> Iterator[Edit]:
    """Another tensor, a gradient or a number in the place of a forward value."""
    d, shape = setting.gradient, setting.shape(node)
    if node.name in setting.sizes:
        number = setting.sizes[node.name]
        yield Kind.HARD_CODED_SIZE, Number(float(number)), written_out(d, number, node.name)
    if not shape:
        return
    for other in setting.tensors:
        if other != node.name and setting.shape(Value(other)) == shape:
            sentence = f"In `{d}` stands `{other}` where `{node.name}` belongs."
            yield Kind.MISSING_FACTOR, Value(other), sentence
    if node.name in setting.given:
        sentence = f"In `{d}` stands `d{node.name}`, a gradient, where `{node.name}` belongs."
        yield Kind.MISSING_FACTOR, Upstream(node.name), sentence
    if node.name[0] == "d" and node.name[1:] in setting.tensors:
        yield Kind.MISSING_D, Value(node.name[1:]), _no_d(d, node.name[1:])


def upstream_edits(node: Upstream, setting: Setting) -> Iterator[Edit]:
    """A forward value, or a part, in the place of an upstream gradient."""
    yield Kind.MISSING_D, Value(node.name), _no_d(setting.gradient, node.name)
    for axis in range(len(setting.shape(node) or ())):
        yield from part_edits(node, axis, setting)


def _no_d(gradient: str, name: str) -> str:
    return f"`{gradient}` is made from `{name}` itself, where its gradient `d{name}` belongs."
