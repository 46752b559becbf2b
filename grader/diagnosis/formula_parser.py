"""Reading Python expressions as formulas."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

from grader.diagnosis.formula.arithmetic import (
    UNARY,
    Elementwise,
    Number,
    Power,
    Upstream,
    Value,
    add,
    multiply,
    negative,
)
from grader.diagnosis.formula.axes import Matmul, Permute, Reduce, Reshape, Softmax, Transpose
from grader.diagnosis.formula.node import Formula
from grader.diagnosis.formula.opaque import Python

POWERS: Mapping[str, float] = {"square": 2.0, "rsqrt": -0.5, "reciprocal": -1.0}
"""Functions that are a power by another name."""

_MODULES = ("torch", "F", "math")
_LIKE_RESHAPE = (
    *("view", "reshape", "view_as", "reshape_as", "flatten", "ravel"),
    *("unsqueeze", "squeeze", "unflatten"),
)


class NotAFormula(Exception):
    """An expression holds something that formulas do not have."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function, or of a tensor's method, whose first argument is then the tensor."""

    name: str
    arguments: tuple[ast.expr, ...]
    options: Mapping[str, ast.expr]
    node: ast.Call

    def options_after(self, count: int, *names: str) -> Mapping[str, ast.expr]:
        """The options together with the arguments after the first ones, which have these names.

        More arguments than names, or one given twice, fall under a name that nobody expects.
        """
        rest = self.arguments[count:]
        options = {**dict(zip(names, rest, strict=False)), **self.options}
        spare = len(rest) > len(names) or len(options) < len(rest) + len(self.options)
        return {**options, "?": self.node} if spare else options


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
            case ast.Constant() if (number := read_number(node)) is not None:
                return Number(number)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return negative(self.read(operand))
            case ast.BinOp(left=left, op=operator, right=right):
                return self._operation(node, left, operator, right)
            case ast.Attribute(value=inner, attr="T" | "mT"):
                return Transpose(self.read(inner))
            case ast.Call() if (call := read_call(node)) is not None:
                return self._called(call) or self.as_python(node)
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

    def _called(self, call: Call) -> Formula | None:
        """A call as a formula, None where it is of no form that formulas have."""
        match call:
            case Call(name, (operand,), options) if name in UNARY and not options:
                return Elementwise(name, self.read(operand))
            case Call(name, (operand,), options) if name in POWERS and not options:
                return Power(self.read(operand), POWERS[name])
            case Call("pow", (operand, exponent), options) if not options:
                number = read_number(exponent)
                return None if number is None else Power(self.read(operand), number)
            case Call("sum" | "mean" as name, (operand, *_)):
                if (found := read_reduction(call)) is not None:
                    return Reduce(self.read(operand), *found, name == "mean")
            case Call("softmax", (operand, *_)):
                match call.options_after(1, "dim"):
                    case {"dim": axis, **rest} if not rest:
                        number = read_number(axis)
                        return None if number is None else Softmax(self.read(operand), int(number))
            case Call("t", (operand,)):
                return Transpose(self.read(operand))
            case Call("transpose" | "swapaxes" | "swapdims", (operand, *axes)):
                numbers = read_axes([ast.Tuple(axes)])
                if numbers is not None and len(numbers) == 2:
                    return Transpose(self.read(operand), (numbers[0], numbers[1]))
            case Call("permute", (operand, *axes)) if axes:
                numbers = read_axes([ast.Tuple(axes)] if len(axes) > 1 else axes)
                return None if numbers is None else Permute(self.read(operand), numbers)
            case Call("matmul" | "mm" | "bmm", (left, right)):
                return Matmul(self.read(left), self.read(right))
            case Call(name, (operand, *_), options) if name in _LIKE_RESHAPE and not options:
                return Reshape(self.read(operand), self.as_python(call.node))
        return None

    def as_python(self, node: ast.expr) -> Python:
        """An expression to be evaluated by Python itself."""
        if self.scope is None:
            raise NotAFormula(type(node).__name__)
        names = [inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)]
        reads = tuple(dict.fromkeys(name for name in names if name in self.values))
        tree = ast.fix_missing_locations(ast.Expression(node))
        return Python(ast.unparse(node), compile(tree, "<formula>", "eval"), self.scope, reads)


def read_call(node: ast.expr) -> Call | None:
    """A call such as `torch.tanh(x)`, `tanh(x)` or `x.tanh()`; None for any other."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args, keywords=keywords):
            is_module = isinstance(owner, ast.Name) and owner.id in _MODULES
            arguments = tuple(args) if is_module else (owner, *args)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            arguments = tuple(args)
        case _:
            return None
    options = {keyword.arg: keyword.value for keyword in keywords if keyword.arg}
    if len(options) < len(keywords) or any(isinstance(arg, ast.Starred) for arg in args):
        return None
    return Call(name, arguments, options, node)


def read_reduction(call: Call) -> tuple[tuple[int, ...], bool] | None:
    """The axes of a call like `x.sum(0, keepdim=True)` and whether they are kept."""
    names = {"axis": "dim", "keepdims": "keepdim"}
    given = call.options_after(1, "dim", "keepdim")
    options = {names.get(name, name): value for name, value in given.items()}
    if len(options) < len(given) or not options.keys() <= {"dim", "keepdim"}:
        return None
    axes = read_axes([options["dim"]] if "dim" in options else [])
    keepdim = read_truth([options["keepdim"]] if "keepdim" in options else [])
    return None if axes is None or keepdim is None else (axes, keepdim)


def read_number(node: ast.expr) -> float | None:
    """What a written-out number is, with its sign; None for an integer too large for a float."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value) if abs(value) <= sys.float_info.max else None
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
