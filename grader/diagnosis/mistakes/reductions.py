"""Mistakes along an axis: the sum over it, the part of it, its length."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from grader.diagnosis.formula.arithmetic import Number, Product, Value, multiply
from grader.diagnosis.formula.axes import Count, Reduce, Softmax
from grader.diagnosis.formula.node import Formula
from grader.diagnosis.formula.places import OneHot, Part
from grader.diagnosis.formula.text import describe
from grader.diagnosis.kinds import Kind
from grader.diagnosis.mistakes.setting import Edit, Setting


def reduction_edits(node: Reduce, setting: Setting) -> Iterator[Edit]:
    """A sum that is missing, a mean instead, or another axis."""
    d, shape = setting.gradient, setting.shape(node.body)
    if shape is None:
        return
    axes = node.axes or tuple(range(len(shape)))
    listed = " and ".join(map(str, axes))
    tensor = d[1:]
    # A sum of another shape than the tensor's belongs to a term.
    is_whole = setting.shape(node) == setting.shape(Value(tensor))
    subject = setting.subject if is_whole else f"A term of `{d}`"
    copied = f": `{tensor}` was copied along it, and every copy contributes" if is_whole else ""
    if not node.mean:
        sentence = f"{subject} is not summed over axis {listed}{copied}."
        yield Kind.MISSING_SUM, node.body, sentence
        sentence = f"{subject} is a mean over axis {listed} where a sum belongs."
        yield Kind.MEAN_FOR_SUM, replace(node, mean=True), sentence
    else:
        sentence = f"{subject} is a sum over axis {listed} where a mean belongs."
        yield Kind.SUM_FOR_MEAN, replace(node, mean=False), sentence
    due = f"axis {listed} is the copied one" if is_whole else f"axis {listed} is due"
    for other in range(len(shape)):
        if (other,) != axes:
            for keepdim in (node.keepdim, not node.keepdim):
                edited = replace(node, axes=(other,), keepdim=keepdim)
                yield Kind.WRONG_AXIS, edited, f"{subject} is summed over axis {other}; {due}."
    if len(axes) < len(shape):
        for keepdim in (False, True):
            edited = replace(node, axes=(), keepdim=keepdim)
            yield Kind.WRONG_AXIS, edited, f"{subject} is summed over all axes; only {due}."
    flipped = replace(node, keepdim=not node.keepdim)
    if node.keepdim:
        yield (
            Kind.LOST_KEEPDIM,
            flipped,
            f"The sum in `{d}` has lost axis {listed}: the numbers are right, the shape is not.",
        )
    else:
        yield Kind.WRONG_SHAPE, flipped, f"The sum in `{d}` keeps axis {listed}, which has to go."
    if isinstance(node.body, Product):
        factors = node.body.factors
        alone = multiply(
            *(
                replace(node, body=factor) if setting.shape(factor) == shape else factor
                for factor in factors
            )
        )
        yield (
            Kind.WRONG_ORDER,
            alone,
            f"In `{d}` each factor is summed over axis {listed} by itself; multiply first, then"
            " sum.",
        )
        for number, factor in enumerate(factors):
            rest = multiply(*factors[:number], *factors[number + 1 :])
            for first, second in ((factor, rest), (rest, factor)):
                if setting.shape(first) == shape and not setting.is_constant(second):
                    early = multiply(replace(node, body=first), second)
                    yield (
                        Kind.WRONG_ORDER,
                        early,
                        f"In `{d}` the sum over axis {listed} comes before the product with"
                        f" `{describe(second)}`; multiply first, then sum.",
                    )
    for axis in axes:
        yield from part_edits(node.body, axis, setting, lambda part: replace(node, body=part))
    if axes == (1,):
        for name in setting.indices:
            one = replace(node, body=multiply(node.body, OneHot(Value(name), node.body)))
            sentence = (
                f"`{d}` takes the entry at `{name}` where the sum over axis 1 belongs; the others"
                " happen to be zero in this network."
            )
            yield Kind.MISSING_SUM, one, sentence


def part_edits(
    node: Formula,
    axis: int,
    setting: Setting,
    put: Callable[[Formula], Formula] = lambda part: part,
) -> Iterator[Edit]:
    """Some of the contributions along an axis, zeros for the others."""
    d = setting.gradient
    for start, stop, words in (
        (1, None, "all but the first"),
        (None, -1, "all but the last"),
        (None, 1, "the first"),
        (-1, None, "the last"),
    ):
        sentence = f"Along axis {axis}, `{d}` takes {words} of the contributions it should have."
        yield Kind.PARTIAL_ROWS, put(Part(node, axis, start, stop)), sentence


def softmax_edits(node: Softmax, setting: Setting) -> Iterator[Edit]:
    """Probabilities along another axis."""
    dimensions = len(setting.shape(node.body) or ())
    for axis in range(dimensions):
        if axis != node.axis % dimensions:
            sentence = (
                f"The softmax in `{setting.gradient}` runs over axis {axis}, but the probabilities"
                f" that add up to 1 stand along axis {node.axis % dimensions}."
            )
            yield Kind.WRONG_AXIS, replace(node, axis=axis), sentence


def count_edits(node: Count, setting: Setting) -> Iterator[Edit]:
    """A length written out as a number."""
    for name, number in setting.sizes.items():
        sentence = written_out(setting.gradient, number, name)
        yield Kind.HARD_CODED_SIZE, Number(float(number)), sentence


def written_out(gradient: str, number: int, name: str) -> str:
    """The sentence about a size that is written out as a number."""
    return (
        f"`{gradient}` is right only where {name} is {number}: a size is written into it as a"
        " number."
    )
