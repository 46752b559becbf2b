"""What an expression is on the hidden instances: its value, its shape, its operation."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from grader.authoring.backward.readable import Product, expression, made, text
from grader.authoring.backward.table import Operation, read_operation


class UnknownOperation(Exception):
    """An operation that the table does not know; the message is what it is called."""

    def __init__(self, node: ast.expr) -> None:
        called = node.value if isinstance(node, ast.Attribute) else node
        super().__init__(text(called.func if isinstance(called, ast.Call) else node))


class OnInstances:
    """Expressions evaluated; `worlds` are the names with their values, of each instance."""

    def __init__(self, worlds: Sequence[dict[str, Any]], sizes: Sequence[str]) -> None:
        """`sizes` are names of which some are a size, the later the better."""
        self.worlds = worlds
        named = [name for name in sizes if type(worlds[0][name]) is int]
        self.sizes = {tuple(world[name] for world in worlds): name for name in named}

    def value(self, node: ast.expr, world: dict[str, Any] | None = None) -> Any:
        """The value of an expression, on the first instance unless another is given."""
        return eval(text(node), world or self.worlds[0])

    def shape(self, node: ast.expr, world: dict[str, Any] | None = None) -> tuple[int, ...]:
        """The shape of an expression; () for a number too."""
        value = self.value(node, world)
        return tuple(value.shape) if isinstance(value, Tensor) else ()

    def count(self, node: ast.expr, axes: Sequence[int]) -> ast.expr:
        """How many values there are along some axes: by the names of sizes, where they have one."""
        count = Product()
        for axis in axes:
            lengths = tuple(self.shape(node, world)[axis] for world in self.worlds)
            length = "1" if {*lengths} == {1} else self.sizes.get(lengths, f"x.shape[{axis}]")
            count = count.times(Product.read(made(length, x=node)))
        return count.write()

    def axes(self, node: ast.expr, told: ast.expr | None) -> list[int]:
        """The axes that an argument names, from the first; all where there is none."""
        dimensions = len(self.shape(node))
        axes = None if told is None else self.value(told)
        axes = range(dimensions) if axes is None else [axes] if isinstance(axes, int) else axes
        return sorted(axis % dimensions for axis in axes)

    def split(self, node: ast.expr) -> tuple[Product, ast.expr]:
        """The plain numbers among the factors of an upstream, and its tensors."""
        product = Product.read(node)
        (plain, above), (plain_below, below) = (
            [
                tuple(part for part in parts if isinstance(self.value(part), Tensor) is is_tensor)
                for is_tensor in (False, True)
            ]
            for parts in (product.above, product.below)
        )
        return replace(product, above=plain, below=plain_below), Product(
            above=above, below=below
        ).write()

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
        outside, inside = self.split(part)
        copied = [
            axis for axis, length in enumerate(full) if axis < extra or own[axis - extra] != length
        ]
        there = [axis for axis in copied if axis >= missing and has[axis - missing] == full[axis]]
        alike = [axis for axis in copied if axis not in there]
        outside = outside.times(Product.read(self.count(like, alike)))
        gone = [axis - missing for axis in copied if missing <= axis < extra]
        kept = [axis - max(extra, missing) for axis in there if axis >= extra]
        if gone:
            inside = made(f"u.sum({_in_python(gone)})", u=inside)
        if kept:
            inside = made(f"u.sum({_in_python(kept)}, keepdim=True)", u=inside)
        return outside.of(inside)

    def operation(self, node: ast.expr) -> Operation:
        """An operation as the table has it: an index by its kind, a product with a vector as sum.

        Raises:
            UnknownOperation: nothing in the table is like it.
        """
        if isinstance(node, ast.Subscript):
            is_largest = isinstance(node.value, ast.Call) and text(node.slice) == "0"
            largest = self.operation(node.value) if is_largest else None
            return largest if largest and largest.name in ("max", "min") else self._taken(node)
        found = self._spelled(self._transposed(node))
        if found.name == "MatMult":
            left, right = map(self._transposed, found.places)
            if len(self.shape(right)) == 1:
                return Operation("sum", [made("x * z", x=left, z=right), expression("-1")])
            if len(self.shape(left)) == 1:
                right = self._transposed(made("z.transpose(-1, -2)", z=right))
                return Operation("sum", [made("z * x", x=left, z=right), expression("-1")])
            return Operation("MatMult", [left, right])
        return found

    def _spelled(self, node: ast.expr) -> Operation:
        return read_operation(node, lambda part: isinstance(self.value(part), ModuleType))

    def _transposed(self, node: ast.expr) -> ast.expr:
        """`x.T` or `x.mT` in place of another spelling, where a node is that."""
        found = self._spelled(node)
        if found.name not in ("T", "transpose") or found.keywords:
            return node
        body, *axes = found.places
        count = len(self.shape(body))
        last_two = {count - 2, count - 1}
        if count < 2 or {self.value(axis) % count for axis in axes} not in (last_two, set()):
            return node
        return ast.Attribute(body, "T" if count == 2 else "mT", ast.Load())

    def _taken(self, node: ast.Subscript) -> Operation:
        body, index = node.value, node.slice
        if not isinstance(self.value(body), Tensor):
            raise UnknownOperation(body)
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        values = [None if isinstance(part, ast.Slice) else self.value(part) for part in parts]
        looked_up = [value for value in values if isinstance(value, Tensor | range | list)]
        if all(text(part) in (":", "None", "...") for part in parts):
            return Operation("reshape", [body])
        once = [
            isinstance(value, range)
            or (isinstance(value, Tensor) and value.dtype == torch.bool)
            or text(part).startswith("torch.arange(")
            for part, value in zip(parts, values, strict=True)
        ]
        if any(once) or not looked_up:
            return Operation("placed", [body, index])
        if all(text(part) == ":" for part in parts[:-1]) and len(self.shape(parts[-1])) == 1:
            return Operation("added", [body, ast.Constant(len(parts) - 1), parts[-1]])
        if len(looked_up) == len(parts):
            return Operation("put", [body, ast.Tuple(list(parts), ast.Load())])
        raise UnknownOperation(node)


def _in_python(axes: Sequence[int]) -> str:
    return str(axes[0]) if len(axes) == 1 else str(tuple(axes))
