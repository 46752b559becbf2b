"""A step's expression read as a formula, with its values at hand."""

from __future__ import annotations

import ast
import copy
import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from grader.diagnosis.formula.arithmetic import Elementwise, Number, Value, multiply
from grader.diagnosis.formula.axes import Matmul, Permute, Reduce, Reshape, Softmax, Transpose
from grader.diagnosis.formula.node import DoesNotFit, Environment, Formula
from grader.diagnosis.formula.opaque import Python
from grader.diagnosis.formula_parser import (
    Call,
    FormulaParser,
    read_axes,
    read_call,
    read_number,
    read_reduction,
    read_truth,
)
from grader.diagnosis.forward_forms import (
    Chosen,
    Copied,
    CrossEntropy,
    Largest,
    LogSoftmax,
    LogSumExp,
    Taken,
    Variance,
)

SAME = 1e-9
"""Largest difference, relative to the largest number, of a formula's float64 value and Python's."""


@dataclass(frozen=True, slots=True)
class ForwardReader(FormulaParser):
    """Reads a step's expression, with the forms that only forward passes have.

    Each part is compared with what Python makes of its text on one instance: what would be read
    wrong, because of an option that is not known here, say, stays Python.
    """

    environment: Environment = field(kw_only=True)

    def read(self, node: ast.expr) -> Formula:
        """A syntax tree as a formula that has its value; axes are counted from the first."""
        formula = self._form(node)
        if formula is None:
            formula = FormulaParser.read(self, node)
        formula = self._settled(formula)
        if isinstance(formula, Value | Number | Python):
            return formula
        python = self.as_python(node)
        try:
            same = _is_same(self.environment(formula), self.environment(python))
        except DoesNotFit:
            same = False
        return formula if same else python

    def _form(self, node: ast.expr) -> Formula | None:
        match node:
            case ast.Attribute(value=ast.Call() as inner, attr="values"):
                return self._largest(read_call(inner), {"max"})
            case ast.Subscript(value=ast.Call() as inner, slice=ast.Constant(value=0)) if (
                largest := self._largest(read_call(inner), {"max"})
            ):
                return largest
            case ast.Subscript(value=inner, slice=index):
                return self._subscript(node, self.read(inner), index)
            case ast.Call() if (call := read_call(node)) is not None:
                return self._largest(call, {"amax"}) or self._call(call)
        return None

    def _subscript(self, node: ast.expr, body: Formula, index: ast.expr) -> Formula | None:
        if not isinstance(self.environment(body), Tensor):
            return None
        if all(_keeps_all(part) for part in _parts(index)):
            return Reshape(body, self.as_python(node))
        return Taken(body, self.as_python(_spelled_out(index)))

    def _call(self, call: Call) -> Formula | None:
        match call:
            case Call("cross_entropy", (logits, target), options) if options.keys() <= {
                "label_smoothing"
            } and self._is_table(logits, target):
                smoothing = next(map(self.read, options.values()), None)
                return CrossEntropy(self.read(logits), self.read(target), smoothing)
            case Call("var", (operand, *_)):
                return self._variance(operand, call)
            case Call("std", (operand, *_)):
                variance = self._variance(operand, call)
                return None if variance is None else Elementwise("sqrt", variance)
            case Call("log_softmax", (operand, *_)):
                match call.options_after(1, "dim"):
                    case {"dim": axis, **rest} if not rest:
                        number = read_number(axis)
                        return (
                            None if number is None else LogSoftmax(self.read(operand), int(number))
                        )
            case Call("logsumexp", (operand, *_)):
                match read_reduction(call):
                    case ((int(place),), keepdim):
                        return LogSumExp(self.read(operand), place, keepdim)
            case Call("expand" | "expand_as" | "broadcast_to", (operand, *_)):
                return Copied(self.read(operand), self.as_python(call.node))
            case Call("where", (condition, one, other)):
                # As a method it is `one.where(condition, other)`: then the values differ.
                return Chosen(self.read(condition), self.read(one), self.read(other))
            case Call("masked_fill", (operand, condition, filling)):
                return Chosen(self.read(condition), self.read(filling), self.read(operand))
        return None

    def _is_table(self, logits: ast.expr, target: ast.expr) -> bool:
        """True for rows of scores with an index each."""
        scores, labels = self.read(logits), self.read(target)
        return self._dimensions(scores) == 2 and self._dimensions(labels) == 1

    def _largest(self, call: Call | None, names: set[str]) -> Formula | None:
        if call is None or call.name not in names or not call.arguments:
            return None
        match read_reduction(call):
            case ((int(axis),), keepdim):
                return Largest(self.read(call.arguments[0]), axis, keepdim)
        return None

    def _variance(self, operand: ast.expr, call: Call) -> Formula | None:
        options = dict(call.options_after(1, "dim", "unbiased", "keepdim"))
        axes = read_axes([options.pop("dim")] if "dim" in options else [])
        keepdim = read_truth([options.pop("keepdim")] if "keepdim" in options else [])
        correction: float | None = 1
        match options:
            case {"unbiased": told, **rest} if not rest:
                unbiased = read_truth([told])
                correction = None if unbiased is None else int(unbiased)
            case {"correction": number, **rest} if not rest:
                correction = read_number(number)
            case {"?": _} | {"unbiased": _} | {"correction": _}:
                correction = None
        if axes is None or keepdim is None or correction is None:
            return None
        return Variance(self.read(operand), axes, keepdim, int(correction))

    def _settled(self, formula: Formula) -> Formula:
        """The same with axes counted from the first, and vectors' products written out."""
        match formula:
            case Reduce(body, axes, keepdim, mean):
                return Reduce(body, self._places(body, axes), keepdim, mean)
            case Softmax(body, axis):
                return Softmax(body, self._place(body, axis))
            case LogSoftmax(body, axis):
                return LogSoftmax(body, self._place(body, axis))
            case LogSumExp(body, axis, keepdim):
                return LogSumExp(body, self._place(body, axis), keepdim)
            case Largest(body, axis, keepdim):
                return Largest(body, self._place(body, axis), keepdim)
            case Variance(body, axes, keepdim, correction):
                return Variance(body, self._places(body, axes), keepdim, correction)
            case Permute(body, order):
                return Permute(body, self._places(body, order))
            case Transpose(body, axes, _):
                dimensions = self._dimensions(body)
                first, second = sorted(self._places(body, axes))
                if (first, second) == (dimensions - 2, dimensions - 1):
                    return Transpose(body, batched=dimensions > 2)
                return Transpose(body, (first, second))
            case Matmul(left, right):
                if self._dimensions(right) == 1:
                    return Reduce(multiply(left, right), (self._dimensions(left) - 1,), False)
                if self._dimensions(left) == 1:
                    last = self._dimensions(right) - 1
                    turned = Transpose(right, batched=last > 1)
                    return Reduce(multiply(turned, left), (last,), False)
        return formula

    def _places(self, body: Formula, axes: tuple[int, ...]) -> tuple[int, ...]:
        dimensions = self._dimensions(body)
        return tuple(axis % dimensions if dimensions else axis for axis in axes)

    def _place(self, body: Formula, axis: int) -> int:
        return self._places(body, (axis,))[0]

    def _dimensions(self, body: Formula) -> int:
        value = self.environment(body)
        return value.dim() if isinstance(value, Tensor) else 0


def _is_same(value: Any, other: Any) -> bool:
    """True if two values are the same tensor or number up to rounding."""
    if isinstance(value, Tensor) and isinstance(other, Tensor):
        if value.shape != other.shape or value.dtype != other.dtype:
            return False
        if not value.is_floating_point():
            return bool((value == other).all())
        finite = other[other.isfinite()]
        largest = float(finite.abs().max()) if finite.numel() else 0.0
        return torch.allclose(value, other, rtol=SAME, atol=SAME * largest, equal_nan=True)
    if isinstance(value, int | float) and isinstance(other, int | float):
        return math.isclose(value, other, rel_tol=SAME)
    return False


def _parts(index: ast.expr) -> list[ast.expr]:
    return list(index.elts) if isinstance(index, ast.Tuple) else [index]


def _keeps_all(part: ast.expr) -> bool:
    """True for a part of an index that takes everything: `:`, `...` and `None`."""
    match part:
        case ast.Slice(lower=None, upper=None, step=None):
            return True
        case ast.Constant(value=value):
            return value is None or value is Ellipsis
    return False


class _Spelling(ast.NodeTransformer):
    def visit_Slice(self, node: ast.Slice) -> ast.expr:
        self.generic_visit(node)
        ends = (part or ast.Constant(None) for part in (node.lower, node.upper, node.step))
        return ast.Call(ast.Name("slice", ast.Load()), list(ends), [])


def _spelled_out(index: ast.expr) -> ast.expr:
    """An index as an expression of its own: `1:` as `slice(1, None, None)`."""
    spelled: ast.expr = _Spelling().visit(copy.deepcopy(index))
    return ast.copy_location(spelled, index)
