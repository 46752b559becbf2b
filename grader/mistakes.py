"""Mistakes: the formulas that differ from a right one in one place, each with its name."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from torch import Tensor

from grader.formula import (
    Branch,
    Count,
    DoesNotFit,
    Elementwise,
    Environment,
    Expand,
    Formula,
    Matmul,
    Number,
    OneHot,
    Part,
    Permuted,
    Power,
    Product,
    Reduce,
    Reshape,
    Route,
    Scatter,
    Slope,
    Softmax,
    Sum,
    Transpose,
    Upstream,
    Value,
    add,
    describe,
    multiply,
    negative,
    orders,
    size,
    walk,
)
from grader.kinds import Kind

SMALL = 1e-2
"""A written-out term below this is there against a division by zero."""

LARGEST_FORMULA = 130
"""Nodes of a formula that is taken apart; what is longer skips more steps than anybody does."""

MOST_FACTORS = 5
"""Factors of a product of which any may be missing together."""


@dataclass(frozen=True, slots=True, eq=False)
class Mistake:
    """A formula with one mistake in it: what kind it is, and a sentence that says what it does."""

    kind: Kind
    formula: Formula
    message: str


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What the mistakes of one gradient are made from.

    `environment` is a hidden instance; `given` are the tensors whose gradients are handed down;
    `sizes` are the lecture's by name; `operand_of` has, for each step that is one elementwise
    function of a tensor, that tensor.
    """

    gradient: str
    environment: Environment
    given: frozenset[str]
    sizes: Mapping[str, int]
    operand_of: Mapping[str, str]
    tensors: Sequence[str] = field(default=())

    @property
    def indices(self) -> list[str]:
        """The names of index vectors, such as the labels."""
        values = self.environment.values
        return [
            name
            for name in self.tensors
            if values[name].dim() == 1 and not values[name].is_floating_point()
        ]

    def shape(self, formula: Formula) -> tuple[int, ...] | None:
        """The shape of a node's value, () for a number, None where it has none."""
        try:
            value = self.environment(formula)
        except DoesNotFit:
            return None
        return tuple(value.shape) if isinstance(value, Tensor) else ()

    def is_constant(self, formula: Formula) -> bool:
        return self.shape(formula) == ()


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
    found = [
        Mistake(kind, put(edited), message)
        for node, put in walk(formula)
        if node not in slopes
        for kind, edited, message in _edits(node, node is formula, setting)
    ]
    yield from sorted(found, key=lambda mistake: _LIKELIHOOD.index(mistake.kind))


_LIKELIHOOD = (
    *(Kind.MISSING_BRANCH, Kind.SIGN, Kind.MISSING_SUM, Kind.LOST_KEEPDIM, Kind.MEAN_FOR_SUM),
    *(Kind.SUM_FOR_MEAN, Kind.BESSEL, Kind.MISSING_EPS, Kind.MISSING_D),
    *(Kind.WRONG_ACTIVATION_POINT, Kind.WRONG_AXIS, Kind.POWER_RULE, Kind.CONSTANT_FACTOR),
    *(Kind.NOT_ACCUMULATED, Kind.MISROUTED_MAX, Kind.PERMUTED, Kind.TRANSPOSED),
    *(Kind.PARTIAL_ROWS, Kind.MISSING_FACTOR, Kind.EXTRA_FACTOR, Kind.WRONG_ORDER),
    *(Kind.HARD_CODED_SIZE, Kind.WRONG_SHAPE),
)
"""Where two mistakes give the same numbers, the first of these is named."""

_Edit = tuple[Kind, Formula, str]


def _edits(node: Formula, is_root: bool, setting: Setting) -> Iterator[_Edit]:
    """What could stand in a node's place by mistake."""
    match node:
        case Sum():
            yield from _sums(node, setting)
        case Product():
            yield from _products(node, setting)
        case Power():
            yield from _powers(node, setting)
        case Reduce():
            yield from _reductions(node, setting)
        case Slope():
            yield from _slopes(node, setting)
        case Value():
            yield from _values(node, setting)
        case Upstream():
            yield from _upstreams(node, setting)
        case Count():
            yield from _counts(node, setting)
        case Matmul():
            yield from _matrix_products(node, setting)
        case Scatter():
            d = setting.gradient
            yield (
                Kind.NOT_ACCUMULATED,
                replace(node, accumulate=False),
                f"Where a row of `{d[1:]}` is used more than once, `{d}` keeps only the last"
                " contribution.",
            )
        case Route():
            yield from _routes(node, setting)
        case Reshape():
            yield from _reshapes(node, setting)
        case Softmax(body, axis):
            yield (
                Kind.WRONG_AXIS,
                Softmax(body, 1 - axis),
                f"The softmax in `{setting.gradient}` runs over axis {1 - axis}, but the"
                f" probabilities of one example stand along axis {axis}.",
            )
        case Expand(body, _, _, _) if setting.shape(body) not in ((), setting.shape(node)):
            yield Kind.WRONG_SHAPE, body, _not_copied(setting.gradient)
    if is_root:
        yield (
            Kind.SIGN,
            negative(node),
            f"`{setting.gradient}` has the right size with the wrong sign.",
        )
        yield (
            Kind.TRANSPOSED,
            Transpose(node),
            f"`{setting.gradient}` is the transpose of what it should be.",
        )
    if is_root or isinstance(node, Branch):
        yield from _extra_factors(node, setting)


def _sums(node: Sum, setting: Setting) -> Iterator[_Edit]:
    d = setting.gradient
    for number, term in enumerate(node.terms):
        around = (*node.terms[:number], *node.terms[number + 1 :])
        flipped = Sum((*node.terms[:number], negative(term), *node.terms[number + 1 :]))
        if isinstance(term, Branch):
            others = [other.through for other in around if isinstance(other, Branch)]
            where = _within(term.tensor, d)
            missing = f"`{d}` has {_through(others)}, not the one through `{term.through}`{where}."
            yield Kind.MISSING_BRANCH, add(*around), missing
            sign = f"The part of `{d}` that comes through `{term.through}`{where} has the wrong"
            yield Kind.SIGN, flipped, f"{sign} sign."
        elif setting.is_constant(node):
            kind, sentence = _missing_constant(term, around, setting)
            yield kind, add(*around), sentence
        elif setting.is_constant(term):
            value = setting.environment(term)
            if abs(value) < SMALL:
                sentence = f"`{d}` leaves out the {value:g} of the forward pass."
                yield Kind.MISSING_EPS, add(*around), sentence
                for exponent in range(2, 13):
                    changed = add(*around, Number(10.0**-exponent))
                    sentence = (
                        f"`{d}` adds 1e-{exponent:02d} where the forward pass adds {value:g}."
                    )
                    yield Kind.MISSING_EPS, changed, sentence
            else:
                yield (Kind.MISSING_BRANCH, add(*around), _lacks(d, term))
                yield Kind.SIGN, flipped, _wrong_sign(d, term)
        else:
            yield Kind.MISSING_BRANCH, add(*around), _lacks(d, term)
            yield Kind.SIGN, flipped, _wrong_sign(d, term)


def _missing_constant(
    term: Formula, around: Sequence[Formula], setting: Setting
) -> tuple[Kind, str]:
    """A term left out of a number such as n - 1."""
    d, rest = setting.gradient, describe(add(*around))
    if isinstance(term, Number) and abs(term.value) == 1:
        whole = describe(add(*around, term))
        return Kind.BESSEL, f"`{d}` counts with {rest} where the forward pass has {whole}."
    return Kind.CONSTANT_FACTOR, f"`{d}` counts with {rest}, without {describe(term)}."


def _products(node: Product, setting: Setting) -> Iterator[_Edit]:
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
                yield kind, without, f"`{d}` lacks the factor {value:g}, {what}."
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
            case Power(Count(), _):
                sentence = f"`{d}` lacks the factor 1/n of a mean in the forward pass."
                yield Kind.SUM_FOR_MEAN, without, sentence
            case _ if setting.is_constant(factor):
                kind = Kind.CONSTANT_FACTOR
                yield kind, without, f"`{d}` lacks the constant factor {describe(factor)}."
            case _ if setting.shape(without) is not None:
                yield (
                    Kind.MISSING_FACTOR,
                    without,
                    f"`{d}` lacks the factor `{describe(factor)}`.",
                )
    yield from _several_dropped(node, setting)


def _several_dropped(node: Product, setting: Setting) -> Iterator[_Edit]:
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
            yield kind, multiply(*kept), f"`{setting.gradient}` lacks the factors {listed}."


def _is_lowered(value: float, around: Sequence[Formula]) -> bool:
    """True if a number is the exponent that the power rule brought down."""
    lowered = any(isinstance(f, Power) and f.exponent == value - 1 for f in around)
    return lowered or value == 2


def _powers(node: Power, setting: Setting) -> Iterator[_Edit]:
    d, base, exponent = setting.gradient, node.base, node.exponent
    if setting.is_constant(node):
        if exponent == -1:
            one_less = Power(add(base, Number(-1.0)), -1.0)
            n = describe(base)
            yield (
                Kind.BESSEL,
                one_less,
                f"`{d}` counts with {n} - 1 where the forward pass has {n}.",
            )
        return
    others = {
        exponent + 1: "is not lowered by one",
        exponent - 1: "is lowered twice",
        -exponent: "has lost its sign",
        1.0: "is missing",
    }
    for other, what in others.items():
        if other not in (0, exponent):
            edited = base if other == 1 else Power(base, other)
            yield (
                Kind.POWER_RULE,
                edited,
                f"In `{d}`, `{describe(base)}` stands to the power {other:g}: the exponent {what}.",
            )


def _reductions(node: Reduce, setting: Setting) -> Iterator[_Edit]:
    d, shape = setting.gradient, setting.shape(node.body)
    if shape is None:
        return
    axes = node.axes or tuple(range(len(shape)))
    listed = " and ".join(map(str, axes))
    tensor = d[1:]
    if not node.mean:
        yield (
            Kind.MISSING_SUM,
            node.body,
            f"`{d}` is not summed over axis {listed}: `{tensor}` was copied along it, and every"
            " copy contributes.",
        )
        yield (
            Kind.MEAN_FOR_SUM,
            replace(node, mean=True),
            f"`{d}` is a mean over axis {listed} where a sum belongs.",
        )
    else:
        yield (
            Kind.SUM_FOR_MEAN,
            replace(node, mean=False),
            f"`{d}` is a sum over axis {listed} where a mean belongs.",
        )
    for other in range(len(shape)):
        if (other,) != axes:
            for keepdim in (node.keepdim, not node.keepdim):
                edited = replace(node, axes=(other,), keepdim=keepdim)
                sentence = f"`{d}` is summed over axis {other}; axis {listed} is the copied one."
                yield Kind.WRONG_AXIS, edited, sentence
    if len(axes) < len(shape):
        for keepdim in (False, True):
            yield (
                Kind.WRONG_AXIS,
                replace(node, axes=(), keepdim=keepdim),
                f"`{d}` is summed over all axes; only axis {listed} was copied.",
            )
    flipped = replace(node, keepdim=not node.keepdim)
    if node.keepdim:
        yield (
            Kind.LOST_KEEPDIM,
            flipped,
            f"The sum in `{d}` has lost axis {listed}: the numbers are right, the shape is not.",
        )
    else:
        yield Kind.WRONG_SHAPE, flipped, f"The sum in `{d}` keeps axis {listed}, which goes here."
    if isinstance(node.body, Product):
        factors = node.body.factors
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
        yield from _parts(node.body, axis, setting, lambda part: replace(node, body=part))
    if axes == (1,):
        for name in setting.indices:
            one = replace(node, body=multiply(node.body, OneHot(Value(name), node.body)))
            sentence = (
                f"`{d}` takes the entry at `{name}` where the sum over axis 1 belongs; the others"
                " happen to be zero in this network."
            )
            yield Kind.MISSING_SUM, one, sentence


def _parts(
    node: Formula,
    axis: int,
    setting: Setting,
    put: Callable[[Formula], Formula] = lambda part: part,
) -> Iterator[_Edit]:
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


def _slopes(node: Slope, setting: Setting) -> Iterator[_Edit]:
    """The slope of an elementwise function: another slope, or that at another point."""
    d = setting.gradient
    for inner, put in walk(node.body):
        if isinstance(inner, Sum | Power):
            for kind, edited, message in _edits(inner, False, setting):
                if kind in (Kind.SIGN, Kind.POWER_RULE):
                    yield kind, replace(node, body=put(edited)), message
        if isinstance(inner, Power) and inner.exponent == 2 and isinstance(inner.base, Value):
            # Written as a product, one of the two factors may be another tensor.
            for _, other, message in _values(inner.base, setting):
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
        for point in [name for name in (operand, *outputs) if name is not None]:
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


def _values(node: Value, setting: Setting) -> Iterator[_Edit]:
    d, shape = setting.gradient, setting.shape(node)
    if node.name in setting.sizes:
        number = setting.sizes[node.name]
        yield Kind.HARD_CODED_SIZE, Number(float(number)), _written_out(d, number, node.name)
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


def _upstreams(node: Upstream, setting: Setting) -> Iterator[_Edit]:
    yield Kind.MISSING_D, Value(node.name), _no_d(setting.gradient, node.name)
    for axis in range(len(setting.shape(node) or ())):
        yield from _parts(node, axis, setting)


def _counts(node: Count, setting: Setting) -> Iterator[_Edit]:
    for name, number in setting.sizes.items():
        sentence = _written_out(setting.gradient, number, name)
        yield Kind.HARD_CODED_SIZE, Number(float(number)), sentence


def _matrix_products(node: Matmul, setting: Setting) -> Iterator[_Edit]:
    yield (
        Kind.TRANSPOSED,
        Transpose(node),
        f"The matrix product in `{setting.gradient}` is the transpose of what it should be.",
    )


def _routes(node: Route, setting: Setting) -> Iterator[_Edit]:
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
    across = replace(node, axis=1 - axis, body=node.body)
    yield (
        Kind.MISROUTED_MAX,
        across,
        f"`{d}` looks for the maximum along axis {1 - axis}, {belongs}.",
    )
    for name in setting.indices:
        hot = multiply(node.body, OneHot(Value(name), node.chosen_from))
        sentence = f"`{d}` gives the maximum's part to the entry at `{name}`, {belongs}."
        yield Kind.MISROUTED_MAX, hot, sentence


def _reshapes(node: Reshape, setting: Setting) -> Iterator[_Edit]:
    d, shape = setting.gradient, setting.shape(node.like)
    for order in orders(len(shape or ())):
        yield (
            Kind.PERMUTED,
            Permuted(node.body, node.like, order),
            f"`{d}` has the right numbers in the wrong places: undo the view of the forward pass"
            " with the same order of axes.",
        )


def _extra_factors(node: Formula, setting: Setting) -> Iterator[_Edit]:
    d = setting.gradient
    inner = node.body if isinstance(node, Branch) else node
    reductions = [(part, put) for part, put in walk(inner) if isinstance(part, Reduce)]
    for name in setting.tensors:
        factor = Value(name)
        sentence = f"`{d}` has the factor `{name}` once too often."
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


def _within(tensor: str, gradient: str) -> str:
    """Says of a branch that it belongs to another tensor on the way."""
    return "" if gradient == f"d{tensor}" else f" of `{tensor}`"


def _through(readers: Sequence[str]) -> str:
    names = [f"`{name}`" for name in dict.fromkeys(readers)]
    if not names:
        return "something"
    if len(names) == 1:
        return f"the contribution through {names[0]}"
    return f"the contributions through {', '.join(names[:-1])} and {names[-1]}"


def _lacks(gradient: str, term: Formula) -> str:
    return f"`{gradient}` lacks the term `{describe(term)}`."


def _wrong_sign(gradient: str, term: Formula) -> str:
    return f"The term `{describe(term)}` of `{gradient}` has the wrong sign."


def _no_d(gradient: str, name: str) -> str:
    return f"`{gradient}` is made from `{name}` itself, where its gradient `d{name}` belongs."


def _not_copied(gradient: str) -> str:
    return f"`{gradient}` is not copied along the axis that the forward pass summed."


def _written_out(gradient: str, number: int, name: str) -> str:
    return f"`{gradient}` has {number} written into it where {name} belongs."
