"""Derivation: the formula of a gradient, from the text of the forward program."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.formula import (
    Branch,
    Count,
    Elementwise,
    Environment,
    Expand,
    Formula,
    Matmul,
    Number,
    OneHot,
    Positive,
    Power,
    Product,
    Python,
    PythonVjp,
    Reduce,
    Reshape,
    Route,
    Scatter,
    Slope,
    Softmax,
    Sum,
    Transpose,
    Upstream,
    Value,
    add,
    multiply,
    negative,
)
from grader.formula_parser import FormulaParser, read_axes, read_number, read_truth
from grader.instances import Instance
from grader.program import ForwardProgram, Step, is_differentiable


@dataclass(frozen=True, slots=True, eq=False)
class Derivation:
    """Derives gradient formulas of one program; shapes come from one of its instances.

    Which axes a step copies is the same in every instance: an axis of length 1 is one by name.
    """

    program: ForwardProgram
    instance: Instance

    def gradient(self, tensor: str, given: Set[str]) -> Formula:
        """The gradient of a tensor, from those of the steps in `given` and from the loss.

        Its value is `Reference.local_vjp(tensor, given)`. Each reader's part is a `Branch`.
        """
        branches = [
            Branch(part, step.name, tensor)
            for step in self.program.steps
            if tensor in step.reads and self._leads_to_loss(step.name)
            for part in self._pull(step, tensor, given)
        ]
        return add(*branches) if branches else multiply(Number(0.0), Value(tensor))

    def parser(self, upstreams: Set[str] = frozenset()) -> FormulaParser:
        return FormulaParser(self.instance.values.keys(), upstreams, self.program.scope)

    def _leads_to_loss(self, step: str) -> bool:
        is_loss = step == self.program.loss
        is_tensor = is_differentiable(self.instance.values[step])
        return is_tensor and (is_loss or self.program.loss in self.program.descendants(step))

    def _pull(self, step: Step, tensor: str, given: Set[str]) -> Iterator[Formula]:
        """What a step hands on to one of the tensors it reads."""
        if step.name == self.program.loss:
            upstream: Formula = Number(1.0)
        elif step.name in given:
            upstream = Upstream(step.name)
        else:
            upstream = self.gradient(step.name, given)
        expression = ast.parse(step.expression, mode="eval").body
        forward = _ForwardReader(self.parser()).read(expression)
        environment = Environment(self.instance.values, {})
        yield from _Pullback(tensor, environment).through(forward, upstream, Value(step.name))


class _Pullback:
    """The chain rule, from a formula's value back to one tensor in it."""

    def __init__(self, tensor: str, environment: Environment) -> None:
        self.tensor = tensor
        self.environment = environment

    def through(self, node: Formula, upstream: Formula, out: Formula) -> Iterator[Formula]:
        """The contributions to the tensor; `out` is what the node's value is called."""
        if isinstance(node, Value):
            if node.name == self.tensor:
                yield upstream
            return
        if not self._contains(node):
            return
        passed: Formula
        match node:
            case Sum(terms):
                for term in terms:
                    yield from self._inside(term, self._fit(upstream, node, term))
            case Product(factors):
                for number, factor in enumerate(factors):
                    others = (*factors[:number], *factors[number + 1 :])
                    passed = multiply(upstream, *others)
                    yield from self._inside(factor, self._fit(passed, node, factor))
            case Power(base, exponent):
                lowered = base if exponent == 2 else Power(base, exponent - 1)
                yield from self._inside(base, multiply(upstream, Number(exponent), lowered))
            case Elementwise(function, body):
                slope = Slope(_slope(function, body, out), function)
                yield from self._inside(body, multiply(upstream, slope))
            case Reduce(body, axes, keepdim, mean):
                passed = Expand(upstream, body, axes, keepdim)
                if mean:
                    passed = multiply(passed, Power(Count(body, axes), -1.0))
                yield from self._inside(body, passed)
            case Matmul(left, right):
                yield from self._inside(left, Matmul(upstream, Transpose(right)))
                yield from self._inside(right, Matmul(Transpose(left), upstream))
            case Transpose(body):
                yield from self._inside(body, Transpose(upstream))
            case Reshape(body, _):
                yield from self._inside(body, Reshape(upstream, body))
            case Softmax(body, axis):
                weighted = Reduce(multiply(upstream, out), (axis,), keepdim=True)
                passed = multiply(out, add(upstream, negative(weighted)))
                yield from self._inside(body, passed)
            case _Taken(body, index):
                yield from self._inside(body, Scatter(upstream, index, body))
            case _Largest(body, axis):
                yield from self._inside(body, Route(upstream, body, axis))
            case _Variance(body, axes, keepdim, correction):
                mean_of = Reduce(body, axes, keepdim=True, mean=True)
                count = add(Count(body, axes), Number(-float(correction)))
                passed = multiply(
                    Expand(upstream, body, axes, keepdim),
                    Number(2.0),
                    Power(count if correction else Count(body, axes), -1.0),
                    add(body, negative(mean_of)),
                )
                yield from self._inside(body, passed)
            case _CrossEntropy(logits, target, smoothing):
                yield from self._inside(
                    logits, multiply(upstream, *_cross_entropy_slope(logits, target, smoothing))
                )
            case Python():
                yield PythonVjp(upstream, node, self.tensor)
            case _:
                raise TypeError(f"no rule for {type(node).__name__}")

    def _inside(self, node: Formula, upstream: Formula) -> Iterator[Formula]:
        return self.through(node, upstream, node)

    def _contains(self, node: Formula) -> bool:
        if isinstance(node, Value):
            return node.name == self.tensor
        if isinstance(node, Python):
            return self.tensor in node.reads
        return any(self._contains(child) for child, _ in node.children())

    def _fit(self, upstream: Formula, node: Formula, part: Formula) -> Formula:
        """The upstream summed over the axes along which a part was copied."""
        whole, own = self._shape(node), self._shape(part)
        if whole == own:
            return upstream
        extra = len(whole) - len(own)
        if extra:
            upstream = Reduce(upstream, tuple(range(extra)), keepdim=False)
        copied = tuple(
            axis
            for axis, (length, full) in enumerate(zip(own, whole[extra:], strict=True))
            if length != full
        )
        return Reduce(upstream, copied, keepdim=True) if copied else upstream

    def _shape(self, node: Formula) -> tuple[int, ...]:
        value = self.environment(node)
        return tuple(value.shape) if isinstance(value, Tensor) else ()


@dataclass(frozen=True, eq=False)
class _Taken(Formula):
    """`body[index]`, in a forward pass."""

    parts = ("body",)
    body: Formula
    index: Formula

    def compute(self, environment: Environment) -> Tensor:
        taken: Tensor = environment(self.body)[environment(self.index)]
        return taken


@dataclass(frozen=True, eq=False)
class _Largest(Formula):
    """`body.max(axis, keepdim=True).values`, in a forward pass."""

    parts = ("body",)
    body: Formula
    axis: int

    def compute(self, environment: Environment) -> Tensor:
        body: Tensor = environment(self.body)
        return body.amax(self.axis, keepdim=True)


@dataclass(frozen=True, eq=False)
class _Variance(Formula):
    """`body.var(axes, keepdim=...)`, in a forward pass."""

    parts = ("body",)
    body: Formula
    axes: tuple[int, ...]
    keepdim: bool
    correction: int

    def compute(self, environment: Environment) -> Tensor:
        body: Tensor = environment(self.body)
        axes = self.axes or tuple(range(body.dim()))
        return body.var(axes, correction=self.correction, keepdim=self.keepdim)


@dataclass(frozen=True, eq=False)
class _CrossEntropy(Formula):
    """`F.cross_entropy(logits, target, label_smoothing=...)`, in a forward pass."""

    parts = ("logits",)
    logits: Formula
    target: Formula
    smoothing: Formula | None

    def compute(self, environment: Environment) -> Tensor:
        smoothing = 0.0 if self.smoothing is None else environment(self.smoothing)
        return torch.nn.functional.cross_entropy(
            environment(self.logits), environment(self.target), label_smoothing=smoothing
        )


@dataclass(frozen=True, slots=True)
class _ForwardReader:
    """Reads a step's expression, with the forms that only forward passes have."""

    parser: FormulaParser

    def read(self, node: ast.expr) -> Formula:
        match node:
            case ast.Subscript(value=inner, slice=index):
                return _Taken(self.read(inner), self.parser.as_python(index))
            case ast.Attribute(
                value=ast.Call(func=ast.Attribute(value=inner, attr="max"), args=[axis], keywords=k)
            ) if node.attr == "values" and read_truth([word.value for word in k]):
                number = read_number(axis)
                if number is not None:
                    return _Largest(self.read(inner), int(number))
            case ast.Call(func=ast.Attribute(attr="cross_entropy"), args=[logits, target]):
                options: Mapping[str | None, ast.expr] = {k.arg: k.value for k in node.keywords}
                if set(options) <= {"label_smoothing"}:
                    smoothing = next(map(self.parser.read, options.values()), None)
                    return _CrossEntropy(self.read(logits), self.parser.read(target), smoothing)
            case ast.Call(func=ast.Attribute(value=inner, attr="var"), args=arguments):
                variance = self._variance(inner, arguments, node.keywords)
                if variance is not None:
                    return variance
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return negative(self.read(operand))
            case ast.Call(func=ast.Attribute(value=inner, attr="sum" | "mean")) if not (
                isinstance(inner, ast.Name)
            ):
                shell = self.parser.read(node)
                if isinstance(shell, Reduce):
                    return Reduce(self.read(inner), shell.axes, shell.keepdim, shell.mean)
        return self.parser.read(node)

    def _variance(
        self, inner: ast.expr, arguments: list[ast.expr], keywords: list[ast.keyword]
    ) -> Formula | None:
        options = {keyword.arg: keyword.value for keyword in keywords}
        axes = read_axes(arguments[:1])
        keepdim = read_truth([options["keepdim"]] if "keepdim" in options else [])
        unbiased = read_truth([options["unbiased"]]) if "unbiased" in options else True
        if axes is None or keepdim is None or not set(options) <= {"keepdim", "unbiased"}:
            return None
        return _Variance(self.read(inner), axes, keepdim, int(bool(unbiased)))


def _slope(function: str, body: Formula, out: Formula) -> Formula:
    match function:
        case "exp":
            return out
        case "log":
            return Power(body, -1.0)
        case "sqrt":
            return multiply(Number(0.5), Power(body, -0.5))
        case "tanh":
            return add(Number(1.0), negative(Power(out, 2.0)))
        case "sigmoid":
            return multiply(out, add(Number(1.0), negative(out)))
        case "relu":
            return Positive(body)
    raise TypeError(f"no slope for {function}")


def _cross_entropy_slope(
    logits: Formula, target: Formula, smoothing: Formula | None
) -> tuple[Formula, Formula]:
    """The mean over the rows of softmax minus targets."""
    hot: Formula = OneHot(target, logits)
    terms: list[Formula] = [Softmax(logits, 1)]
    if smoothing is None:
        terms.append(negative(hot))
    else:
        certain = add(Number(1.0), negative(smoothing))
        spread = multiply(smoothing, Power(Count(logits, (1,)), -1.0))
        terms += [negative(multiply(certain, hot)), negative(spread)]
    return Power(Count(logits, (0,)), -1.0), add(*terms)
