"""Formulas as the Python that a student would write."""

from __future__ import annotations

import ast

from grader.diagnosis.formula.arithmetic import (
    Branch,
    Elementwise,
    Number,
    Power,
    Product,
    Slope,
    Sum,
    Upstream,
    Value,
)
from grader.diagnosis.formula.axes import (
    Count,
    Expand,
    Matmul,
    Permute,
    Reduce,
    Reshape,
    Softmax,
    Transpose,
)
from grader.diagnosis.formula.node import Formula
from grader.diagnosis.formula.opaque import Python
from grader.diagnosis.formula.places import Holds, OneHot


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
