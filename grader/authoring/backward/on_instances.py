"""What an expression is on the hidden instances: its value, its shape, its length along an axis."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from grader.authoring.backward.readable import Product, expression, made, text


class OnInstances:
    """Expressions evaluated; `worlds` are the names with their values, of each instance."""

    def __init__(self, worlds: Sequence[dict[str, Any]], sizes: Sequence[str]) -> None:
        """`sizes` are names of which some are a size, the later the better."""
        self.worlds = worlds
        named = [name for name in sizes if type(worlds[0][name]) is int]
        products = [f"{one} * {other}" for one, other in combinations(named, 2)]
        self.sizes = {
            tuple(eval(size, world) for world in worlds): size for size in [*products, *named]
        }

    def run(self, statement: str) -> None:
        """Run a statement on each instance."""
        for world in self.worlds:
            exec(statement, world)

    def value(self, node: ast.expr, world: dict[str, Any] | None = None) -> Any:
        """The value of an expression, on the first instance unless another is given."""
        return eval(text(node), world or self.worlds[0])

    def is_module(self, node: ast.expr) -> bool:
        """True for `torch` and the like."""
        return isinstance(self.value(node), ModuleType)

    def is_tensor(self, node: ast.expr) -> bool:
        """True for a tensor, false for a plain number."""
        return isinstance(self.value(node), Tensor)

    def shape(self, node: ast.expr) -> tuple[int, ...]:
        """The shape of an expression; () for a number too."""
        return tuple(self.value(node).shape) if self.is_tensor(node) else ()

    def size(self, length: ast.expr) -> ast.expr | None:
        """A length by the name of a size, where it has one; a number where it is always that."""
        lengths = tuple(self.value(length, world) for world in self.worlds)
        if len({*lengths}) == 1 and lengths not in self.sizes:
            return ast.Constant(lengths[0])
        return expression(self.sizes[lengths]) if lengths in self.sizes else None

    def count(self, node: ast.expr, axes: Sequence[int]) -> ast.expr:
        """How many values there are along some axes."""
        lengths = (made(f"x.shape[{axis}]", x=node) for axis in axes)
        return Product(above=tuple(self.size(length) or length for length in lengths)).write()

    def axes(self, node: ast.expr, told: ast.expr | None) -> list[int]:
        """The axes that an argument names, from the first; all where there is none."""
        dimensions = len(self.shape(node))
        axes = None if told is None else self.value(told)
        axes = range(dimensions) if axes is None else [axes] if isinstance(axes, int) else axes
        return sorted(axis % dimensions for axis in axes)

    def split(self, node: ast.expr) -> tuple[Product, ast.expr]:
        """The plain numbers among the factors of an upstream, and its tensors."""
        plain = Product.read(node)
        (above, plain_above), (below, plain_below) = (
            [
                tuple(part for part in parts if self.is_tensor(part) is asked)
                for asked in (True, False)
            ]
            for parts in (plain.above, plain.below)
        )
        tensors = Product(above=above, below=below).write()
        return replace(plain, above=plain_above, below=plain_below), tensors

    def whole(self, part: ast.expr, like: ast.expr) -> ast.expr:
        """A part in the shape of something else, copied along the axes that it lacks."""
        if self.shape(part) == self.shape(like):
            return part
        if isinstance(part, ast.Constant):
            return made("torch.ones_like(x)", x=like)
        return made("u.expand_as(x)", u=part, x=like)

    def fitted(self, part: ast.expr, operand: ast.expr, like: ast.expr) -> ast.expr:
        """A part that belongs to `like`, summed over the axes along which the operand is copied."""
        own, has = self.shape(operand), self.shape(part)
        shapes = own, has, self.shape(like)
        full: tuple[int, ...] = torch.broadcast_shapes(*shapes)  # type: ignore[no-untyped-call]
        extra, missing = len(full) - len(own), len(full) - len(has)
        copied = [
            axis for axis, length in enumerate(full) if axis < extra or own[axis - extra] != length
        ]
        if not copied:
            return part
        outside, inside = self.split(part)
        there = [axis for axis in copied if axis >= missing and has[axis - missing] == full[axis]]
        alike = [axis for axis in copied if axis not in there]
        outside = outside.times(Product.read(self.count(like, alike)))
        gone = [axis - missing for axis in copied if missing <= axis < extra]
        kept = [axis - max(extra, missing) for axis in there if axis >= extra]
        if gone:
            told = "" if len(gone) == len(has) else _in_python(gone)
            inside = made(f"u.sum({told})", u=inside)
        if kept:
            inside = made(f"u.sum({_in_python(kept)}, keepdim=True)", u=inside)
        return outside.of(inside)


def _in_python(axes: Sequence[int]) -> str:
    return str(axes[0]) if len(axes) == 1 else str(tuple(axes))
