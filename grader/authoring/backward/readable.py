"""An expression as a good solution writes it: products in order, no needless brackets."""

from __future__ import annotations

import ast
import copy
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import TypeVar, cast

Tree = TypeVar("Tree", bound=ast.AST)


@dataclass(frozen=True, slots=True)
class Product:
    """A number times the factors `above` the line, divided by those `below` it.

    The number is `decimal` where it was written with a point.
    """

    number: Fraction = Fraction(1)
    above: tuple[ast.expr, ...] = ()
    below: tuple[ast.expr, ...] = ()
    decimal: bool = False

    @classmethod
    def read(cls, node: ast.expr) -> Product:
        """The factors of an expression: of `-a / (2 * b)` they are -1/2, a and 1/b."""
        match node:
            case ast.Constant(value=int(number)) if not isinstance(number, bool):
                return cls(Fraction(number))
            case ast.Constant(value=float(number)) if math.isfinite(number):
                return cls(Fraction(repr(number)), decimal=True)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return cls(Fraction(-1)).times(cls.read(operand))
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return cls.read(left).times(cls.read(right))
            case ast.BinOp(left=left, op=ast.Div(), right=right) if (low := cls.read(right)).number:
                if low.decimal:
                    kept = cls(low.number, decimal=True).write()
                    low = cls(Fraction(1), (kept, *low.above), low.below)
                return cls.read(left).times(cls(1 / low.number, low.below, low.above))
            case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
                return _power(base, cls.read(exponent)) or cls(above=(node,))
        return cls(above=(node,))

    def times(self, other: Product) -> Product:
        """The product of both."""
        above, below = (*self.above, *other.above), (*self.below, *other.below)
        return Product(self.number * other.number, above, below, self.decimal or other.decimal)

    def of(self, node: ast.expr) -> ast.expr:
        """The expression that many times."""
        return self.times(Product.read(node)).write()

    def write(self) -> ast.expr:
        """The number first, its sign before everything, one bracket below the line."""
        top: int | float
        top, bottom = abs(self.number).as_integer_ratio()
        if self.decimal and bottom > 1 and Fraction(repr(top / bottom)) == abs(self.number):
            top, bottom = top / bottom, 1
        above = [*([ast.Constant(top)] if top != 1 or not self.above else []), *self.above]
        below = [*([ast.Constant(bottom)] if bottom != 1 else []), *self.below]
        if self.number < 0:
            above.sort(key=lambda factor: isinstance(factor, ast.Compare))  # has no negative
            if isinstance(above[0], ast.Compare):
                above.insert(0, ast.Constant(1))
            above[0] = ast.UnaryOp(ast.USub(), above[0])
        whole = _joined(above)
        return ast.BinOp(whole, ast.Div(), _joined(below)) if below else whole


def total(terms: Iterable[ast.expr]) -> ast.expr:
    """The sum of some terms: equal ones counted together, what is taken away last."""
    counted: dict[str, Product] = {}
    for term in terms:
        product = Product.read(term)
        key = ast.dump(replace(product, number=Fraction(1)).write())
        before = counted.get(key, replace(product, number=Fraction(0)))
        counted[key] = replace(product, number=before.number + product.number)
    first, *others = sorted(counted.values(), key=lambda product: product.number < 0)
    result = first.write()
    for product in others:
        sign = ast.Sub() if product.number < 0 else ast.Add()
        result = ast.BinOp(result, sign, replace(product, number=abs(product.number)).write())
    return result


def expression(source: str) -> ast.expr:
    """The syntax tree of an expression."""
    return ast.parse(source, mode="eval").body


def made(template: str, **parts: ast.expr) -> ast.expr:
    """An expression with others in place of its names."""
    return replaced(expression(template), parts)


def mentions(tree: ast.AST, name: str) -> bool:
    """True if a name stands in a tree."""
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(tree))


def replaced(tree: Tree, names: Mapping[str, ast.expr]) -> Tree:
    """A copy with expressions in place of names; each its own."""
    return cast(Tree, _Replacing(names).visit(copy.deepcopy(tree)))


def text(tree: ast.AST) -> str:
    """Python text with the spaces that formatters like, without arguments that are None."""
    written = re.sub(r"\*\* \((-[\d.]+)\)", r"** \1", ast.unparse(tree))
    written = re.sub(r"(\de)-0(\d)", r"\1-\2", written)
    written = re.sub(r"(?<=\()None(, keepdim=True)?(?=\))|, None(?=\))", "", written)
    return re.sub(
        r"(?<![\w.\])'\"])([A-Za-z_][\w.]*|\d+) \*\* (-?[\w.]+)(?![\w.(\[])", r"\1**\2", written
    )


def _joined(factors: list[ast.expr]) -> ast.expr:
    return reduce(lambda left, right: ast.BinOp(left, ast.Mult(), right), factors)


def _power(base: ast.expr, exponent: Product) -> Product | None:
    """A power without an exponent of 0 or 1, and without one below zero where it is whole."""
    if exponent.above or exponent.below or exponent.number.denominator > 1:
        return None
    number = int(exponent.number)
    if number in (0, 1):
        return Product.read(base) if number else Product()
    power = ast.BinOp(base, ast.Pow(), ast.Constant(-number))
    return Product(below=(base if number == -1 else power,)) if number < 0 else None


class _Replacing(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, ast.expr]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self.names.get(node.id) or node)
