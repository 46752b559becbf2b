"""Formulas: expressions over a program's tensors and their gradients, as trees that can be edited.

A forward step is read as a formula, its gradient is derived as one, and a mistake is a formula that
differs from the right one in one place. Trees share what they have in common, so that a mistake
costs no more to evaluate than the way from the edit to the root.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import CodeType
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

UNARY: Mapping[str, Callable[[Tensor], Tensor]] = {
    "exp": torch.exp,
    "expm1": torch.expm1,
    "log": torch.log,
    "log1p": torch.log1p,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "softplus": F.softplus,
    "sqrt": torch.sqrt,
    "relu": torch.relu,
    "abs": torch.abs,
    "sign": torch.sign,
    "sin": torch.sin,
    "cos": torch.cos,
}
"""Functions of one number that a formula knows by name."""


Put = Callable[["Formula"], "Formula"]
"""Puts another node in some node's place; the whole formula comes back anew."""

UNFIT = (
    *(RuntimeError, LookupError, TypeError, ValueError, NameError, AttributeError),
    ArithmeticError,
)
"""What Python and torch raise where a tensor's shape, or a number in its place, goes nowhere."""


class DoesNotFit(Exception):
    """A formula has no value: the shapes of its parts do not go together."""


@dataclass(frozen=True, eq=False)
class Formula:
    """A node of a formula; equal only to itself, so that values can be remembered by node."""

    parts: ClassVar[tuple[str, ...]] = ()
    """The fields that hold what the value is computed from; others give a shape or places."""

    def children(self) -> Iterator[tuple[Formula, Put]]:
        """The formulas directly inside, each with what puts another in its place."""
        for name in self.parts:
            value = getattr(self, name)
            if isinstance(value, Formula):
                yield value, partial(self._with, name)
            else:
                for number, part in enumerate(value):
                    yield part, partial(self._with_item, name, number)

    def _with(self, name: str, new: Formula) -> Formula:
        return replace(self, **{name: new})

    def _with_item(self, name: str, number: int, new: Formula) -> Formula:
        items = getattr(self, name)
        return replace(self, **{name: (*items[:number], new, *items[number + 1 :])})

    def compute(self, environment: Environment) -> Any:
        """This node's value; those of its children come from `environment`."""
        raise NotImplementedError


@dataclass(slots=True, eq=False)
class Environment:
    """What formulas are evaluated on: forward values and upstream gradients by tensor."""

    values: Mapping[str, Any]
    upstreams: Mapping[str, Tensor]
    known: dict[Formula, Any] = field(default_factory=dict)

    def __call__(self, formula: Formula) -> Any:
        """The value of a formula: a tensor, or a number.

        Raises:
            DoesNotFit: its parts do not go together, as those of a mistake may not.
        """
        if formula not in self.known:
            try:
                self.known[formula] = formula.compute(self)
            except UNFIT as error:
                raise DoesNotFit(f"{describe(formula)}: {error}") from error
        return self.known[formula]


@dataclass(frozen=True, eq=False)
class Value(Formula):
    """A tensor or a number of the forward pass."""

    name: str

    def compute(self, environment: Environment) -> Any:
        return environment.values[self.name]


@dataclass(frozen=True, eq=False)
class Upstream(Formula):
    """The gradient of a step, as it is handed down."""

    name: str

    def compute(self, environment: Environment) -> Any:
        return environment.upstreams[self.name]


@dataclass(frozen=True, eq=False)
class Number(Formula):
    """A constant that is written out."""

    value: float

    def compute(self, environment: Environment) -> float:
        return self.value


@dataclass(frozen=True, eq=False)
class Sum(Formula):
    parts = ("terms",)
    terms: tuple[Formula, ...]

    def compute(self, environment: Environment) -> Any:
        first, *others = map(environment, self.terms)
        return sum(others, start=first)


@dataclass(frozen=True, eq=False)
class Product(Formula):
    parts = ("factors",)
    factors: tuple[Formula, ...]

    def compute(self, environment: Environment) -> Any:
        first, *others = map(environment, self.factors)
        for other in others:
            first = first * other
        return first


@dataclass(frozen=True, eq=False)
class Power(Formula):
    parts = ("base",)
    base: Formula
    exponent: float

    def compute(self, environment: Environment) -> Any:
        return environment(self.base) ** self.exponent


@dataclass(frozen=True, eq=False)
class Elementwise(Formula):
    """One of the functions in `UNARY`, of each number."""

    parts = ("body",)
    function: str
    body: Formula

    def compute(self, environment: Environment) -> Any:
        body = environment(self.body)
        if isinstance(body, Tensor):
            return UNARY[self.function](body)
        return float(UNARY[self.function](torch.tensor(body, dtype=torch.float64)))


@dataclass(frozen=True, eq=False)
class Positive(Formula):
    """1 where the body is positive, else 0: the slope of relu."""

    parts = ("body",)
    body: Formula

    def compute(self, environment: Environment) -> Tensor:
        body: Tensor = environment(self.body)
        return (body > 0).to(body.dtype)


@dataclass(frozen=True, eq=False)
class Reduce(Formula):
    """A sum or a mean over axes; over all of them where `axes` is empty."""

    parts = ("body",)
    body: Formula
    axes: tuple[int, ...]
    keepdim: bool
    mean: bool = False

    def compute(self, environment: Environment) -> Tensor:
        body: Tensor = environment(self.body)
        axes = self.axes or tuple(range(body.dim()))
        return body.mean(axes, self.keepdim) if self.mean else body.sum(axes, self.keepdim)


@dataclass(frozen=True, eq=False)
class Count(Formula):
    """How many numbers of the body one of its reduction's results is made of."""

    body: Formula
    axes: tuple[int, ...]

    def compute(self, environment: Environment) -> int:
        shape = environment(self.body).shape
        count = 1
        for axis in self.axes or range(len(shape)):
            count *= shape[axis]
        return count


@dataclass(frozen=True, eq=False)
class Expand(Formula):
    """Copies along the axes that a reduction of `like` removed."""

    parts = ("body",)
    body: Formula
    like: Formula
    axes: tuple[int, ...]
    keepdim: bool

    def compute(self, environment: Environment) -> Tensor:
        like = environment(self.like)
        body = torch.as_tensor(environment(self.body), dtype=like.dtype)
        if body.dim() and not self.keepdim:
            for axis in sorted(axis % like.dim() for axis in self.axes):
                body = body.unsqueeze(axis)
        return body.expand(like.shape)


@dataclass(frozen=True, eq=False)
class Matmul(Formula):
    parts = ("left", "right")
    left: Formula
    right: Formula

    def compute(self, environment: Environment) -> Tensor:
        product: Tensor = environment(self.left) @ environment(self.right)
        return product


@dataclass(frozen=True, eq=False)
class Transpose(Formula):
    """Two axes exchanged, the last two unless others are given; `batched` if there are more."""

    parts = ("body",)
    body: Formula
    axes: tuple[int, int] = (-2, -1)
    batched: bool = False

    def compute(self, environment: Environment) -> Tensor:
        transposed: Tensor = environment(self.body).transpose(*self.axes)
        return transposed


@dataclass(frozen=True, eq=False)
class Permute(Formula):
    """The axes in another order."""

    parts = ("body",)
    body: Formula
    order: tuple[int, ...]

    def compute(self, environment: Environment) -> Tensor:
        permuted: Tensor = environment(self.body).permute(self.order)
        return permuted


@dataclass(frozen=True, eq=False)
class Reshape(Formula):
    """The same numbers in the same order, in the shape of `like`."""

    parts = ("body",)
    body: Formula
    like: Formula

    def compute(self, environment: Environment) -> Tensor:
        reshaped: Tensor = environment(self.body).reshape(environment(self.like).shape)
        return reshaped


@dataclass(frozen=True, eq=False)
class Scatter(Formula):
    """Numbers added up at the places of `like` from which `index` took them."""

    parts = ("body",)
    body: Formula
    index: Formula
    like: Formula
    accumulate: bool = True

    def compute(self, environment: Environment) -> Tensor:
        like, index = environment(self.like), environment(self.index)
        # Places as numbers: an index may have slices, None and masks in it, too.
        places = torch.arange(like.numel()).view(like.shape)[index]
        taken = torch.as_tensor(environment(self.body), dtype=like.dtype).expand(places.shape)
        put = torch.zeros_like(like).flatten()
        put = put.index_put((places.flatten(),), taken.flatten(), accumulate=self.accumulate)
        return put.view(like.shape)


@dataclass(frozen=True, eq=False)
class Route(Formula):
    """Numbers put where the largest of `chosen_from` stands along an axis, zeros elsewhere."""

    parts = ("body",)
    body: Formula
    chosen_from: Formula
    axis: int

    def compute(self, environment: Environment) -> Tensor:
        chosen_from = environment(self.chosen_from)
        body = torch.as_tensor(environment(self.body), dtype=chosen_from.dtype)
        places = chosen_from.argmax(self.axis, keepdim=True)
        return torch.zeros_like(chosen_from).scatter(self.axis, places, body.expand(places.shape))


@dataclass(frozen=True, eq=False)
class Softmax(Formula):
    parts = ("body",)
    body: Formula
    axis: int

    def compute(self, environment: Environment) -> Tensor:
        return F.softmax(environment(self.body), self.axis)


@dataclass(frozen=True, eq=False)
class OneHot(Formula):
    """Rows like those of `like` with a one at the index, zeros elsewhere."""

    index: Formula
    like: Formula

    def compute(self, environment: Environment) -> Tensor:
        like, index = environment(self.like), environment(self.index)
        return F.one_hot(index, like.shape[-1]).to(like.dtype)


@dataclass(frozen=True, eq=False)
class Overwritten(Formula):
    """What stands under a sparse term, and at the places of that term the term alone."""

    parts = ("under", "over")
    under: Formula
    over: Formula

    def compute(self, environment: Environment) -> Tensor:
        over: Tensor = environment(self.over)
        return torch.where(over != 0, over, environment(self.under))


@dataclass(frozen=True, eq=False)
class Holds(Formula):
    """1 where a condition holds, or where it does not, else 0."""

    condition: Formula
    negated: bool = False

    def compute(self, environment: Environment) -> Tensor:
        condition: Tensor = environment(self.condition)
        return (~condition if self.negated else condition).double()


@dataclass(frozen=True, eq=False)
class Part(Formula):
    """Some of the body along one axis: where `start` and `stop` count from the end if negative."""

    parts = ("body",)
    body: Formula
    axis: int
    start: int | None
    stop: int | None

    def compute(self, environment: Environment) -> Tensor:
        body: Tensor = environment(self.body)
        part = torch.zeros_like(body)
        chosen = (slice(None),) * self.axis + (slice(self.start, self.stop),)
        part[chosen] = body[chosen]
        return part


@dataclass(frozen=True, eq=False)
class Permuted(Formula):
    """A wrong way back from a reshape: the axes of `like` taken in another order."""

    parts = ("body",)
    body: Formula
    like: Formula
    order: tuple[int, ...]

    def compute(self, environment: Environment) -> Tensor:
        shape = environment(self.like).shape
        body: Tensor = environment(self.body).reshape([shape[axis] for axis in self.order])
        return body.permute([self.order.index(axis) for axis in range(len(shape))])


@dataclass(frozen=True, eq=False)
class Python(Formula):
    """An expression that formulas cannot take apart; it is evaluated as Python."""

    expression: str
    code: CodeType = field(repr=False)
    scope: Mapping[str, Any] = field(repr=False)
    reads: tuple[str, ...] = ()

    def compute(self, environment: Environment) -> Any:
        return eval(self.code, {**self.scope, **environment.values})


@dataclass(frozen=True, eq=False)
class PythonVjp(Formula):
    """Autograd's VJP of an expression that formulas cannot take apart, for one of its tensors."""

    parts = ("body",)
    body: Formula
    of: Python
    name: str

    @torch.enable_grad()
    def compute(self, environment: Environment) -> Tensor:
        leaf = environment.values[self.name].detach().clone().requires_grad_()
        value = eval(self.of.code, {**self.of.scope, **environment.values, self.name: leaf})
        cotangent = torch.as_tensor(environment(self.body), dtype=value.dtype)
        if not value.requires_grad:  # `x.detach()`
            return torch.zeros_like(leaf)
        gradients: tuple[Tensor, ...] = torch.autograd.grad((value * cotangent).sum(), leaf)
        return gradients[0]


@dataclass(frozen=True, eq=False)
class Slope(Formula):
    """The derivative of an elementwise function, marked as such; `of` is its name."""

    parts = ("body",)
    body: Formula
    of: str

    def compute(self, environment: Environment) -> Any:
        return environment(self.body)


@dataclass(frozen=True, eq=False)
class Branch(Formula):
    """What one reader of a tensor contributes to the tensor's gradient."""

    parts = ("body",)
    body: Formula
    through: str
    tensor: str

    def compute(self, environment: Environment) -> Any:
        return environment(self.body)


def add(*terms: Formula) -> Formula:
    """The sum of terms, flat; one term is itself."""
    flat = tuple(
        inner for term in terms for inner in (term.terms if isinstance(term, Sum) else (term,))
    )
    return flat[0] if len(flat) == 1 else Sum(flat)


def multiply(*factors: Formula) -> Formula:
    """The product of factors, flat and without ones; one factor is itself."""
    flat = [
        inner
        for factor in factors
        for inner in (factor.factors if isinstance(factor, Product) else (factor,))
        if not (isinstance(inner, Number) and inner.value == 1)
    ]
    if not flat:
        return Number(1.0)
    return flat[0] if len(flat) == 1 else Product(tuple(flat))


def negative(formula: Formula) -> Formula:
    return multiply(Number(-1.0), formula)


def walk(formula: Formula) -> Iterator[tuple[Formula, Put]]:
    """Every node, outermost first, with the function that puts another in its place.

    The function returns the whole formula anew; nodes beside the way to the root are shared.
    """
    yield formula, _itself
    for child, put in formula.children():
        for inner, put_inside in walk(child):
            yield inner, partial(_put_deeper, put, put_inside)


def _itself(new: Formula) -> Formula:
    return new


def _put_deeper(put: Put, put_inside: Put, new: Formula) -> Formula:
    return put(put_inside(new))


def size(formula: Formula) -> int:
    """How many nodes a formula has."""
    return 1 + sum(size(child) for child, _ in formula.children())


def is_constant(formula: Formula, environment: Environment) -> bool:
    """True if a formula is a number: no tensor is in it."""
    return isinstance(environment(formula), int | float)


def describe(formula: Formula) -> str:
    """A formula as the Python that a student would write."""
    match formula:
        case Value(name):
            return name
        case Upstream(name):
            return f"d{name}"
        case Number(value):
            short = f"{value:g}"
            return short if float(short) == value else repr(value)
        case Sum(terms):
            return " + ".join(map(describe, terms)).replace("+ -", "- ")
        case Product(factors):
            signs = [part for part in factors if isinstance(part, Number) and part.value == -1]
            others = [_factor(part) for part in factors if part not in signs]
            return "-" * len(signs) + " * ".join(others or ["1"])
        case Power(base, -1):
            return f"1/{_factor(base)}"
        case Power(base, exponent):
            return f"{_factor(base)}**{describe(Number(exponent))}"
        case Elementwise(function, body):
            return f"{function}({describe(body)})"
        case Reduce(body, axes, _, mean):
            listed = ", ".join(map(str, axes))
            return f"{_factor(body)}.{'mean' if mean else 'sum'}({listed})"
        case Matmul(left, right):
            return f"{_factor(left)} @ {_factor(right)}"
        case Transpose(body, (-2, -1), batched):
            return f"{_factor(body)}.{'mT' if batched else 'T'}"
        case Transpose(body, (first, second), _):
            return f"{_factor(body)}.transpose({first}, {second})"
        case Permute(body, order):
            return f"{_factor(body)}.permute({', '.join(map(str, order))})"
        case Softmax(body, _):
            return f"softmax({describe(body)})"
        case OneHot(index, _):
            return f"one_hot({describe(index)})"
        case Holds(condition, negated):
            return f"{'~' if negated else ''}{_factor(condition)}"
        case Count(Value(name), (axis,)):
            return f"{name}.shape[{axis}]"
        case Count():
            return "the number of elements"
        case Slope(body, _) | Branch(body, _, _) | Expand(body, _, _, _) | Reshape(body, _):
            return describe(body)
        case Python(expression, _, _):
            return expression
    return ast.unparse(ast.Name(type(formula).__name__.lower()))


def _factor(formula: Formula) -> str:
    text = describe(formula)
    single = isinstance(
        formula, Value | Upstream | Number | Elementwise | Reduce | Softmax | Transpose | Holds
    )
    return text if single and text[0] != "-" else f"({text})"


def orders(dimensions: int) -> Iterator[tuple[int, ...]]:
    """Every order of axes but the usual one."""
    usual = tuple(range(dimensions))
    return (order for order in itertools.permutations(usual) if order != usual)
