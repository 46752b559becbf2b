"""Formulas of arithmetic: names and numbers, their sums, products, powers and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.diagnosis.formula.node import Environment, Formula

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
    """Terms added; shapes are broadcast."""

    parts = ("terms",)
    terms: tuple[Formula, ...]

    def compute(self, environment: Environment) -> Any:
        first, *others = map(environment, self.terms)
        return sum(others, start=first)


@dataclass(frozen=True, eq=False)
class Product(Formula):
    """Factors multiplied entry by entry; shapes are broadcast."""

    parts = ("factors",)
    factors: tuple[Formula, ...]

    def compute(self, environment: Environment) -> Any:
        first, *others = map(environment, self.factors)
        for other in others:
            first = first * other
        return first


@dataclass(frozen=True, eq=False)
class Power(Formula):
    """A formula raised to a number, entry by entry."""

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
    """A formula times -1."""
    return multiply(Number(-1.0), formula)
