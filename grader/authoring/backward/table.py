"""What the backward of each forward operation is, as a table."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from grader.authoring.backward.readable import text

BACKWARD: Mapping[str, tuple[str, ...]] = {
    "x + z": ("u", "u"),
    "x - z": ("u", "-u"),
    "x * z": ("z * u", "x * u"),
    "x / z": ("u / z", "-x * u / z**2"),
    "x ** z": ("z * x ** (z - 1) * u",),
    "-x": ("-u",),
    "x @ z": ("u @ z.T", "x.T @ u"),
    "exp(x)": ("y * u",),
    "expm1(x)": ("(y + 1) * u",),
    "log(x)": ("u / x",),
    "log1p(x)": ("u / (1 + x)",),
    "sqrt(x)": ("u / (2 * y)",),
    "rsqrt(x)": ("-0.5 * y**3 * u",),
    "reciprocal(x)": ("-(y**2) * u",),
    "square(x)": ("2 * x * u",),
    "abs(x)": ("x.sign() * u",),
    "sin(x)": ("x.cos() * u",),
    "cos(x)": ("-x.sin() * u",),
    "tanh(x)": ("(1 - y**2) * u",),
    "sigmoid(x)": ("y * (1 - y) * u",),
    "relu(x)": ("(x > 0) * u",),
    "softplus(x)": ("x.sigmoid() * u",),
    "silu(x)": ("(x.sigmoid() + y * (1 - x.sigmoid())) * u",),
    "sum(x, dim, keepdim)": ("u",),
    "mean(x, dim, keepdim)": ("u / count",),
    "var(x, dim, unbiased, keepdim, correction)": (
        "2 * (x - x.mean(dim, keepdim=True)) * u / freedom",
    ),
    "std(x, dim, unbiased, keepdim, correction)": (
        "(x - x.mean(dim, keepdim=True)) * u / (freedom * y)",
    ),
    "logsumexp(x, dim, keepdim)": ("x.softmax(dim) * u",),
    "max(x)": ("(x == y) * u / (x == y).sum()",),
    "min(x)": ("(x == y) * u / (x == y).sum()",),
    "max(x, dim, keepdim)": (
        "p = torch.zeros_like(x); p.scatter_(dim, x.argmax(dim, keepdim=True), u); p",
    ),
    "min(x, dim, keepdim)": (
        "p = torch.zeros_like(x); p.scatter_(dim, x.argmin(dim, keepdim=True), u); p",
    ),
    "amax(x, dim, keepdim)": ("(x == y) * u / (x == y).sum(dim, keepdim=True)",),
    "amin(x, dim, keepdim)": ("(x == y) * u / (x == y).sum(dim, keepdim=True)",),
    "softmax(x, dim)": ("y * (u - (y * u).sum(dim, keepdim=True))",),
    "log_softmax(x, dim)": ("u - y.exp() * u.sum(dim, keepdim=True)",),
    "cumsum(x, dim)": ("u.flip(dim).cumsum(dim).flip(dim)",),
    "x.T": ("u.T",),
    "x.mT": ("u.mT",),
    "transpose(x, one, other)": ("u.transpose(one, other)",),
    "permute(x, *order)": ("u.permute(inverse)",),
    "reshape(x, *shape)": ("u.reshape(x.shape)",),
    "expand(x, *shape)": ("u",),
    "clamp(x, min, max)": ("(x >= min) * (x <= max) * u",),
    "where(mask, x, z)": ("torch.where(mask, u, 0)", "torch.where(mask, 0, u)"),
    "masked_fill(x, mask, value)": ("u.masked_fill(mask, 0)",),
    "gather(x, dim, index)": ("p = torch.zeros_like(x); p.scatter_add_(dim, index, u); p",),
    "index_select(x, dim, index)": ("p = torch.zeros_like(x); p.index_add_(dim, index, u); p",),
    "placed(x, index)": ("p = torch.zeros_like(x); p[index] = u; p",),
    "added(x, dim, index)": ("p = torch.zeros_like(x); p.index_add_(dim, index, u); p",),
    "put(x, index)": ("p = torch.zeros_like(x); p.index_put_(index, u, accumulate=True); p",),
    "embedding(index, x)": (
        "p = torch.zeros_like(x); p.index_put_((index,), u, accumulate=True); p",
    ),
    "linear(x, z)": ("u @ z", "u.T @ x"),
    "linear(x, z, b)": ("u @ z", "u.T @ x", "u"),
    "mse_loss(x, z)": ("2 * (x - z) * u / count", "-2 * (x - z) * u / count"),
    "cross_entropy(x, target)": (
        "p = x.softmax(1); p[range(rows), target] -= 1; p /= rows; p * u",
    ),
    "cross_entropy(x, target, label_smoothing)": (
        "p = x.softmax(1) - label_smoothing / classes;"
        "p[range(rows), target] -= 1 - label_smoothing; p /= rows; p * u",
    ),
}
"""Each forward operation's VJPs for `x` and `z`: `u` is the upstream, `y` the operation's value.

Along axes that a reduction takes away, `u` and `y` have length 1. `count` is how many values it
takes together, `freedom` what a variance divides by, `inverse` the order that undoes a permutation,
`rows` and `classes` are the lengths of the first two axes. Before the VJP may stand statements that
make `p`. An index is `placed` where nothing is taken twice, `added` along one axis, else `put`.
Copied axes are summed by one rule for all.
"""

ALIASES = {
    **{"add": "Add", "sub": "Sub", "mul": "Mult", "div": "Div", "pow": "Pow", "neg": "USub"},
    **{"matmul": "MatMult", "mm": "MatMult", "bmm": "MatMult", "t": "T", "swapaxes": "transpose"},
    **dict.fromkeys(("view", "flatten", "squeeze", "unsqueeze", "ravel", "unflatten"), "reshape"),
    **{"view_as": "reshape", "reshape_as": "reshape"},
    **{"axis": "dim", "keepdims": "keepdim"},
    **dict.fromkeys(("expand_as", "broadcast_to"), "expand"),
}
COPYING = {"Add", "Sub", "Mult", "Div", "Pow", "where", "expand"}
"""The operations that copy along an axis what is shorter there."""
OPTIONAL = {"dim", "keepdim", "unbiased", "correction"}


class Operation(NamedTuple):
    """An operation with what it is given, by place and by keyword."""

    name: str
    places: list[ast.expr]
    keywords: Mapping[str, ast.expr] = MappingProxyType({})


def read_operation(node: ast.expr, is_module: Callable[[ast.expr], bool]) -> Operation:
    """An expression's operation, as it is spelled; arguments in the order of a function's."""
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            return Operation(type(op).__name__, [left, right])
        case ast.UnaryOp(op=unary, operand=operand):
            return Operation(type(unary).__name__, [operand])
        case ast.Attribute(value=ast.Call() as call, attr="values"):
            return read_operation(call, is_module)
        case ast.Attribute(value=value, attr=name):
            return Operation(name, [value])
        case ast.Call(func=function, args=places, keywords=given):
            keywords = {word.arg or "**": word.value for word in given}
            keywords = {ALIASES.get(name, name): value for name, value in keywords.items()}
            if isinstance(function, ast.Attribute):
                places = places if is_module(function.value) else [function.value, *places]
            name = function.attr if isinstance(function, ast.Attribute) else text(function)
            return Operation(ALIASES.get(name, name), places, keywords)
    return Operation(type(node).__name__, [])


class Row(NamedTuple):
    """One line of the table: an operation, the names of what it is given, and its VJPs by name."""

    name: str
    parameters: list[str]
    rules: dict[str, str]

    @classmethod
    def read(cls, operation: str, rules: tuple[str, ...]) -> Row:
        """A row from the text of an operation."""
        name, places, _ = read_operation(ast.parse(operation, mode="eval").body, lambda _: False)
        return cls(name, [text(place) for place in places], dict(zip("xzb", rules, strict=False)))

    @property
    def takes_axes_away(self) -> bool:
        """True for a reduction."""
        return "keepdim" in self.parameters

    def rule(self, name: str, dimensions: Mapping[str, int]) -> str:
        """The VJP for one of the operands; where it has many matrices, each is transposed."""
        rule = self.rules[name]
        for operand, number in dimensions.items():
            rule = rule.replace(f"{operand}.T", f"{operand}.{'T' if number == 2 else 'mT'}")
        return rule

    def bound(self, operation: Operation) -> dict[str, ast.expr] | None:
        """What an operation is given, by parameter; nothing where that does not fit the row."""
        name, places, keywords = operation
        if name != self.name:
            return None
        *parameters, last = self.parameters
        if last.startswith("*"):
            rest = places[len(parameters) :]
            several = rest[0] if len(rest) == 1 else ast.Tuple(rest, ast.Load())
            return {**dict(zip(parameters, places, strict=False)), last: several}
        given = {**dict(zip(self.parameters, places, strict=False)), **keywords}
        is_each_once = len(given) == len(places) + len(keywords)
        known = {*self.parameters}
        return given if is_each_once and known - OPTIONAL <= given.keys() <= known else None


ROWS = [Row.read(operation, rules) for operation, rules in BACKWARD.items()]
"""The table, read."""
