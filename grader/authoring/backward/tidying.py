"""The same value, simpler and in one spelling."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from grader.authoring.backward.on_instances import OnInstances
from grader.authoring.backward.readable import Product, made, text
from grader.authoring.backward.table import Operation


class Tidying(ast.NodeTransformer):
    """Products in order, `x @ z` and `x.mT` (`x.T` of matrices), sizes and steps by their names.

    A product with a vector becomes the sum that it is; `known` are names by what they stand for.
    """

    def __init__(self, on: OnInstances, known: Mapping[str, str]) -> None:
        self.on, self.known = on, known

    def visit(self, node: ast.AST) -> ast.AST:
        """A part of the tree, after the parts of it."""
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.Lambda):
            return node  # has names of its own
        node = super().visit(node)
        if isinstance(node, ast.Call | ast.Attribute | ast.BinOp):
            node = self._spelled(node)
        named = isinstance(node, ast.expr) and self.known.get(text(node))
        return ast.Name(named, ast.Load()) if named else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """A product, a quotient, a power in order; a difference of numbers."""
        self.generic_visit(node)
        left, right = Product.read(node.left), Product.read(node.right)
        numbers = not (left.above or left.below or right.above or right.below)
        match node.op:
            case ast.Mult() | ast.Div() | ast.Pow():
                return Product.read(node).write()
            case ast.Sub() if numbers:
                return replace(left.times(right), number=left.number - right.number).write()
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """A sign before everything."""
        self.generic_visit(node)
        return Product.read(node).write() if isinstance(node.op, ast.USub) else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """A length by the name of a size."""
        is_length = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        if is_length and (size := self.on.size(node)):
            return size
        self.generic_visit(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """The shape of what has no name by the names of sizes."""
        self.generic_visit(node)
        if node.attr != "shape" or isinstance(node.value, ast.Name):
            return node
        axes = range(len(self.on.shape(node.value)))
        lengths = [self.on.size(made(f"x[{axis}]", x=node)) for axis in axes]
        return ast.Tuple([*filter(None, lengths)], ast.Load()) if all(lengths) else node

    def _spelled(self, node: ast.expr) -> ast.expr:
        found = Operation.read(node, self.on.is_module)
        match found.name, found.places:
            case "MatMult", (left, right):
                return self._product(left, right)
            case "T" | "mT" | "transpose", (body, *axes) if not found.keywords:
                count = len(self.on.shape(body))
                swapped = {self.on.value(axis) % count for axis in axes}
                if count == 2 or found.name == "mT" or swapped == {count - 2, count - 1}:
                    return self._turned(body, "T" if count == 2 else "mT")
        return node

    def _product(self, left: ast.expr, right: ast.expr) -> ast.expr:
        axes = len(self.on.shape(left)), len(self.on.shape(right))
        if axes in ((2, 1), (1, 2)):
            return ast.BinOp(left, ast.MatMult(), right)
        if axes[1] == 1:
            return made("(x * z).sum(-1)", x=left, z=right)
        if axes[0] == 1:
            return made("(z * x).sum(-1)", x=left, z=self._turned(right, "mT"))
        return ast.BinOp(left, ast.MatMult(), right)

    def _turned(self, body: ast.expr, name: str) -> ast.expr:
        """A transpose: turned back, and that of a product as its factors' transposes."""
        match body:
            case ast.Attribute(value=inner, attr="T" | "mT"):
                return inner
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                return ast.BinOp(self._turned(right, name), ast.MatMult(), self._turned(left, name))
        return ast.Attribute(body, name, ast.Load())
