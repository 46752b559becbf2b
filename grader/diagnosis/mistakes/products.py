"""Mistakes in a product or a power: a factor that is missing, too many or another."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from grader.diagnosis.formula.arithmetic import (
    Branch,
    Number,
    Power,
    Product,
    Sum,
    Value,
    add,
    multiply,
)
from grader.diagnosis.formula.axes import Count, Matmul, Reduce, Transpose
from grader.diagnosis.formula.node import Formula, walk
from grader.diagnosis.formula.text import describe
from grader.diagnosis.kinds import Kind
from grader.diagnosis.mistakes.setting import Edit, Setting

MOST_FACTORS = 5
"""Factors of a product of which any may be missing together."""


def product_edits(node: Product, setting: Setting) -> Iterator[Edit]:
    """A factor that is missing, inverted or another."""
    d = setting.gradient
    for number, factor in enumerate(node.factors):
        around = (*node.factors[:number], *node.factors[number + 1 :])
        without = multiply(*around)
        match factor:
            case Number(value) if value == -1:
                yield Kind.SIGN, without, f"A minus sign is missing in `{d}`."
            case Number(value):
                kind = Kind.POWER_RULE if _is_lowered(value, around) else Kind.CONSTANT_FACTOR
                what = "the exponent" if kind is Kind.POWER_RULE else "the constant"
                yield kind, without, f"{setting.subject} lacks the factor {value:g}, {what}."
                if value < 0:
                    sentence = f"{setting.subject} lacks the factor {-value:g}, {what}."
                    yield kind, multiply(Number(-1.0), *around), sentence
                flipped = multiply(*around, Number(-value))
                yield Kind.SIGN, flipped, f"The constant factor of `{d}` has the wrong sign."
                if value == 2:
                    for index, other in enumerate(around):
                        if not setting.is_constant(other):
                            squared = (*around[:index], Power(other, 2.0), *around[index + 1 :])
                            yield (
                                Kind.POWER_RULE,
                                multiply(factor, *squared),
                                f"In `{d}` the exponent 2 of `{describe(other)}` is not lowered.",
                            )
            case _ if setting.shape(without) is not None:
                kind, what = _missing(factor, setting)
                yield kind, without, f"{setting.subject} lacks {what}."
        if isinstance(factor, Sum) and not setting.is_constant(factor):
            yield from _one_term_short(node, factor, around, setting)
    yield from _several_dropped(node, setting)


def _one_term_short(
    node: Product, total: Sum, around: Sequence[Formula], setting: Setting
) -> Iterator[Edit]:
    """A sum multiplied out, with a factor left out of one of its terms."""
    for number, term in enumerate(total.terms):
        others = (*total.terms[:number], *total.terms[number + 1 :])
        for index, factor in enumerate(around):
            rest = (*around[:index], *around[index + 1 :])
            short = multiply(*rest, add(multiply(factor, add(*others)), term))
            if setting.shape(short) == setting.shape(node):
                sentence = (
                    f"In `{setting.gradient}` the term `{describe(term)}` lacks the factor"
                    f" `{describe(factor)}`."
                )
                yield _missing(factor, setting)[0], short, sentence


def _missing(factor: Formula, setting: Setting) -> tuple[Kind, str]:
    """What it is called when this factor is left out, and what the factor is called."""
    match factor:
        case Power(Count() as count, _):
            n = setting.count_name(count)
            return Kind.SUM_FOR_MEAN, f"the factor 1/{n} of a mean in the forward pass"
        case _ if setting.is_constant(factor):
            return Kind.CONSTANT_FACTOR, f"the constant factor {describe(factor)}"
    return Kind.MISSING_FACTOR, f"the factor `{describe(factor)}`"


def _several_dropped(node: Product, setting: Setting) -> Iterator[Edit]:
    """Two factors or more left out together."""
    count = len(node.factors)
    if count > MOST_FACTORS:
        return
    for left in range(1, count - 1):
        for kept in itertools.combinations(node.factors, left):
            dropped = [factor for factor in node.factors if factor not in kept]
            listed = " and ".join(f"`{describe(factor)}`" for factor in dropped)
            all_constant = all(setting.is_constant(factor) for factor in dropped)
            kind = Kind.CONSTANT_FACTOR if all_constant else Kind.MISSING_FACTOR
            yield kind, multiply(*kept), f"{setting.subject} lacks the factors {listed}."


def _is_lowered(value: float, around: Sequence[Formula]) -> bool:
    """True if a number is the exponent that the power rule brought down."""
    lowered = any(isinstance(f, Power) and f.exponent == value - 1 for f in around)
    return lowered or value == 2


def power_edits(node: Power, setting: Setting) -> Iterator[Edit]:
    """Another exponent, or another sign inside the power."""
    d, base, exponent = setting.gradient, node.base, node.exponent
    if setting.is_constant(node):
        if exponent == -1:
            one_less = Power(add(base, Number(-1.0)), -1.0)
            n = setting.count_name(base) if isinstance(base, Count) else describe(base)
            yield (
                Kind.BESSEL,
                one_less,
                f"`{d}` counts with {n} - 1 where the forward pass has {n}.",
            )
        return
    others = {
        1.0: "is missing",
        exponent - 1: "is lowered once too often",
        exponent + 1: "is not lowered by one",
        -exponent: "has lost its sign",
    }
    if exponent == 2:
        others[1.0] = "is missing"
    for other, what in others.items():
        if other not in (0, exponent):
            edited = base if other == 1 else Power(base, other)
            yield (
                Kind.POWER_RULE,
                edited,
                f"In `{d}`, `{describe(base)}` stands to the power {other:g}: the exponent {what}.",
            )


def matmul_edits(node: Matmul, setting: Setting) -> Iterator[Edit]:
    """The same two matrices, transposed or multiplied the other way round."""
    yield (
        Kind.TRANSPOSED,
        Transpose(node),
        f"The matrix product in `{setting.gradient}` is the transpose of what it should be.",
    )
    # Where a matrix is square, its transpose fits.
    for side in ("left", "right"):
        factor: Formula = getattr(node, side)
        turned = factor.body if isinstance(factor, Transpose) else Transpose(factor)
        sentence = (
            f"The product in `{setting.gradient}` takes `{describe(turned)}` where"
            f" `{describe(factor)}` belongs; both fit."
        )
        yield Kind.TRANSPOSED, replace(node, **{side: turned}), sentence


def extra_factor_edits(node: Formula, setting: Setting) -> Iterator[Edit]:
    """A tensor multiplied once too often."""
    inner = node.body if isinstance(node, Branch) else node
    reductions = [(part, put) for part, put in walk(inner) if isinstance(part, Reduce)]
    for name in setting.tensors:
        factor = Value(name)
        sentence = f"{setting.subject} has the factor `{name}` once too often."
        if _leaves_shape(factor, inner, setting):
            yield Kind.EXTRA_FACTOR, multiply(inner, factor), sentence
        for part, put in reductions:
            if setting.shape(factor) == setting.shape(part.body):
                edited = put(replace(part, body=multiply(part.body, factor)))
                yield Kind.EXTRA_FACTOR, edited, sentence


def _leaves_shape(factor: Formula, node: Formula, setting: Setting) -> bool:
    """True if a product with the factor has the shape of the node."""
    own, whole = setting.shape(factor), setting.shape(node)
    return bool(own) and bool(whole) and setting.shape(multiply(node, factor)) == whole
