"""Reading Python expressions as formulas."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

from grader.formula import (
    UNARY,
    Elementwise,
    Formula,
    Matmul,
    Number,
    Power,
    Python,
    Reduce,
    Reshape,
    Softmax,
    Transpose,
    Upstream,
    Value,
    add,
    multiply,
    negative,
)

_MODULES = ("torch", "F", "math")
_LIKE_RESHAPE = ("view", "reshape", "view_as", "reshape_as", "flatten")


class NotAFormula(Exception):
    """An expression holds something that formulas do not have."""


@dataclass(frozen=True, slots=True)
class FormulaParser:
    """Reads expressions over the names of a forward program.

    `values` are the names of forward values, `upstreams` those of the tensors whose gradients may
    be read as `d<tensor>`. What has no formula of its own is kept as Python, to be evaluated in
    `scope`; without a scope it is refused, for a student's code must not be run here.
    """

    values: Set[str]
    upstreams: Set[str]
    scope: Mapping[str, Any] | None = None

    def parse(self, expression: str) -> Formula:
        """A text as a formula.

        Raises:
            NotAFormula: there is no scope, and something in it would have to be run.
        """
        return self.read(ast.parse(expression, mode="eval").body)

    def read(self, node: ast.expr) -> Formula:
        """A syntax tree as a formula; see `parse`."""
        match node:
            case ast.Name(id=name) if name in self.values:
                return Value(name)
            case ast.Name(id=name) if name[:1] == "d" and name[1:] in self.upstreams:
                return Upstream(name[1:])
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return Number(float(value))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return negative(self.read(operand))
            case ast.BinOp(left=left, op=operator, right=right):
                return self._operation(node, left, operator, right)
            case ast.Attribute(value=inner, attr="T" | "mT"):
                return Transpose(self.read(inner))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name)) if (
                module in _MODULES
            ):
                return self._call(node, name, node.args, node.keywords)
            case ast.Call(func=ast.Attribute(value=inner, attr=name)):
                return self._call(node, name, [inner, *node.args], node.keywords)
        return self.as_python(node)

    def _operation(
        self, node: ast.expr, left: ast.expr, operator: ast.operator, right: ast.expr
    ) -> Formula:
        match operator:
            case ast.Add():
                return add(self.read(left), self.read(right))
            case ast.Sub():
                return add(self.read(left), negative(self.read(right)))
            case ast.Mult():
                return multiply(self.read(left), self.read(right))
            case ast.Div():
                return multiply(self.read(left), Power(self.read(right), -1.0))
            case ast.MatMult():
                return Matmul(self.read(left), self.read(right))
            case ast.Pow() if (exponent := read_number(right)) is not None:
                return Power(self.read(left), exponent)
        return self.as_python(node)

    def _call(
        self, node: ast.expr, name: str, arguments: list[ast.expr], keywords: list[ast.keyword]
    ) -> Formula:
        options = {keyword.arg: keyword.value for keyword in keywords}
        if name in UNARY and len(arguments) == 1:
            return Elementwise(name, self.read(arguments[0]))
        if name in ("sum", "mean") and set(options) <= {"dim", "axis", "keepdim"}:
            axes = read_axes(
                [*arguments[1:2], *(options[key] for key in options if key != "keepdim")]
            )
            keepdim = read_truth(
                [*arguments[2:3], *(options[k] for k in options if k == "keepdim")]
            )
            if axes is not None and keepdim is not None:
                return Reduce(self.read(arguments[0]), axes, keepdim, name == "mean")
        if name == "softmax" and len(arguments) == 2:
            axis = read_number(arguments[1])
            if axis is not None and not options:
                return Softmax(self.read(arguments[0]), int(axis))
        if name == "t" and len(arguments) == 1:
            return Transpose(self.read(arguments[0]))
        if name in ("matmul", "mm") and len(arguments) == 2:
            return Matmul(self.read(arguments[0]), self.read(arguments[1]))
        if name in _LIKE_RESHAPE and not options:
            return Reshape(self.read(arguments[0]), self.as_python(node))
        return self.as_python(node)

    def as_python(self, node: ast.expr) -> Python:
        """An expression to be evaluated by Python itself."""
        if self.scope is None:
            raise NotAFormula(ast.unparse(node))
        names = [inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)]
        reads = tuple(dict.fromkeys(name for name in names if name in self.values))
        tree = ast.fix_missing_locations(ast.Expression(node))
        return Python(ast.unparse(node), compile(tree, "<formula>", "eval"), self.scope, reads)


def read_number(node: ast.expr) -> float | None:
    """What a written-out number is, with its sign."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = read_number(operand)
            return None if inner is None else -inner
    return None


def read_axes(nodes: list[ast.expr]) -> tuple[int, ...] | None:
    """The axes of a reduction; nothing means all of them, None that they cannot be read."""
    if not nodes:
        return ()
    node = nodes[0]
    parts = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    numbers = [read_number(part) for part in parts]
    return None if None in numbers else tuple(int(number or 0) for number in numbers)


def read_truth(nodes: list[ast.expr]) -> bool | None:
    """A written-out True or False; nothing means False, None that it cannot be read."""
    if not nodes:
        return False
    match nodes[0]:
        case ast.Constant(value=bool() as value):
            return value
    return None
