"""Formulas: expressions over a program's tensors and their gradients, as trees that can be edited.

A forward step is read as a formula, its gradient is derived as one, and a mistake is a formula that
differs from the right one in one place. Trees share what they have in common, so that a mistake
costs no more to evaluate than the way from the edit to the root.
"""

from grader.formula.arithmetic import (
    UNARY,
    Branch,
    Elementwise,
    Number,
    Positive,
    Power,
    Product,
    Slope,
    Sum,
    Upstream,
    Value,
    add,
    multiply,
    negative,
)
from grader.formula.axes import (
    Count,
    Expand,
    Matmul,
    Permute,
    Reduce,
    Reshape,
    Softmax,
    Transpose,
    orders,
)
from grader.formula.node import (
    UNFIT,
    DoesNotFit,
    Environment,
    Formula,
    Put,
    is_constant,
    size,
    walk,
)
from grader.formula.opaque import Python, PythonVjp
from grader.formula.places import Holds, OneHot, Overwritten, Part, Permuted, Route, Scatter
from grader.formula.text import describe

__all__ = [
    "UNARY",
    "UNFIT",
    "Branch",
    "Count",
    "DoesNotFit",
    "Elementwise",
    "Environment",
    "Expand",
    "Formula",
    "Holds",
    "Matmul",
    "Number",
    "OneHot",
    "Overwritten",
    "Part",
    "Permute",
    "Permuted",
    "Positive",
    "Power",
    "Product",
    "Put",
    "Python",
    "PythonVjp",
    "Reduce",
    "Reshape",
    "Route",
    "Scatter",
    "Slope",
    "Softmax",
    "Sum",
    "Transpose",
    "Upstream",
    "Value",
    "add",
    "describe",
    "is_constant",
    "multiply",
    "negative",
    "orders",
    "size",
    "walk",
]
