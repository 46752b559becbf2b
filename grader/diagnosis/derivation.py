"""Derivation: the formula of a gradient, from the text of the forward program."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field

from torch import Tensor

from grader.diagnosis.formula.arithmetic import (
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
from grader.diagnosis.formula.node import Environment, Formula
from grader.diagnosis.formula.opaque import Python, PythonVjp
from grader.diagnosis.formula.places import Holds, OneHot, Route, Scatter
from grader.diagnosis.formula_parser import FormulaParser
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
from grader.diagnosis.forward_reader import ForwardReader
from grader.program.forward_program import ForwardProgram, Step, is_differentiable
from grader.program.instances import Instance


@dataclass(frozen=True, slots=True, eq=False)
class Derivation:
    """Derives gradient formulas of one program; shapes come from one of its instances.

    Which axes a step copies is the same in every instance: an axis of length 1 is one by name.
    """

    program: ForwardProgram
    instance: Instance
    _read: dict[str, tuple[Formula, Environment]] = field(default_factory=dict)

    def gradient(self, tensor: str, given: Set[str]) -> Formula:
        """The gradient of a tensor, from those of the steps in `given` and from the loss.

        Its value is `Reference.local_vjp(tensor, given)`. Each reader's part is a `Branch`.
        """
        branches = [
            Branch(part, step.name, tensor)
            for step in self.program.steps
            if tensor in step.reads and self._hands_on(step.name, given)
            for part in self._pull(step, tensor, given)
        ]
        return add(*branches) if branches else multiply(Number(0.0), Value(tensor))

    def parser(self, upstreams: Set[str] = frozenset()) -> FormulaParser:
        names = {*self.instance.sizes, *self.instance.values}
        return FormulaParser(names, upstreams, self.program.scope)

    def _hands_on(self, step: str, given: Set[str]) -> bool:
        """True if a gradient arrives at a step, from the loss or from one that is given."""
        above = self.program.descendants(step) | {step}
        is_tensor = is_differentiable(self.instance.values[step])
        return is_tensor and not above.isdisjoint({*given, self.program.loss})

    def _pull(self, step: Step, tensor: str, given: Set[str]) -> Iterator[Formula]:
        """What a step hands on to one of the tensors it reads."""
        if step.name == self.program.loss:
            upstream: Formula = Number(1.0)
        elif step.name in given:
            upstream = Upstream(step.name)
        else:
            upstream = self.gradient(step.name, given)
        forward, environment = self._forward(step)
        yield from _Pullback(tensor, environment).through(forward, upstream, Value(step.name))

    def _forward(self, step: Step) -> tuple[Formula, Environment]:
        """A step as a formula, with where that has its values."""
        if step.name not in self._read:
            environment = Environment({**self.instance.sizes, **self.instance.values}, {})
            names, scope = environment.values.keys(), self.program.scope
            reader = ForwardReader(names, frozenset(), scope, environment=environment)
            self._read[step.name] = reader.parse(step.expression), environment
        return self._read[step.name]


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
        if not self._contains(node) or not is_differentiable(self.environment(node)):
            return
        passed: Formula
        match node:
            case Sum(terms):
                for term in terms:
                    yield from self._inside(term, self._fit(upstream, self._shape(node), term))
            case Product(factors):
                for number, factor in enumerate(factors):
                    others = (*factors[:number], *factors[number + 1 :])
                    passed = multiply(upstream, *others)
                    passed = self._fit(passed, self._shape(node), factor)
                    yield from self._inside(factor, passed)
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
                batch = self._shape(node)[:-2]
                passed = Matmul(upstream, self._turned(right))
                yield from self._inside(left, self._fit(passed, (*batch, *self._ends(left)), left))
                passed = Matmul(self._turned(left), upstream)
                passed = self._fit(passed, (*batch, *self._ends(right)), right)
                yield from self._inside(right, passed)
            case Transpose(body, (-2, -1), batched):
                yield from self._inside(body, _transposed(upstream, batched))
            case Transpose(body, axes, _):
                yield from self._inside(body, Transpose(upstream, axes))
            case Permute(body, order):
                back = tuple(order.index(axis) for axis in range(len(order)))
                yield from self._inside(body, Permute(upstream, back))
            case Reshape(body, _):
                yield from self._inside(body, Reshape(upstream, body))
            case Softmax(body, axis):
                weighted = Reduce(multiply(upstream, out), (axis,), keepdim=True)
                passed = multiply(out, add(upstream, negative(weighted)))
                yield from self._inside(body, passed)
            case LogSoftmax(body, axis):
                total = Reduce(upstream, (axis,), keepdim=True)
                passed = add(upstream, negative(multiply(Elementwise("exp", out), total)))
                yield from self._inside(body, passed)
            case LogSumExp(body, axis, keepdim):
                passed = Expand(upstream, body, (axis,), keepdim)
                yield from self._inside(body, multiply(passed, Softmax(body, axis)))
            case Taken(body, index):
                yield from self._inside(body, Scatter(upstream, index, body))
            case Copied(body, _):
                yield from self._inside(body, self._fit(upstream, self._shape(node), body))
            case Largest(body, axis, keepdim):
                kept = upstream if keepdim else Reshape(upstream, Largest(body, axis, True))
                yield from self._inside(body, Route(kept, body, axis))
            case Chosen(condition, one, other):
                for part, negated in ((one, False), (other, True)):
                    passed = multiply(upstream, Holds(condition, negated))
                    yield from self._inside(part, self._fit(passed, self._shape(node), part))
            case Variance(body, axes, keepdim, correction):
                mean_of = Reduce(body, axes, keepdim=True, mean=True)
                count = add(Count(body, axes), Number(-float(correction)))
                passed = multiply(
                    Expand(upstream, body, axes, keepdim),
                    Number(2.0),
                    Power(count if correction else Count(body, axes), -1.0),
                    add(body, negative(mean_of)),
                )
                yield from self._inside(body, passed)
            case CrossEntropy(logits, target, smoothing):
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

    def _fit(self, upstream: Formula, whole: tuple[int, ...], part: Formula) -> Formula:
        """The upstream, of shape `whole`, summed over the axes along which a part was copied."""
        own = self._shape(part)
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

    def _turned(self, node: Formula) -> Formula:
        """Each of a node's matrices transposed."""
        return _transposed(node, len(self._shape(node)) > 2)

    def _ends(self, node: Formula) -> tuple[int, ...]:
        """The shape of each of a node's matrices."""
        return self._shape(node)[-2:]

    def _shape(self, node: Formula) -> tuple[int, ...]:
        value = self.environment(node)
        return tuple(value.shape) if isinstance(value, Tensor) else ()


def _transposed(formula: Formula, batched: bool) -> Formula:
    """The last two axes exchanged; the transpose of a product is one of its factors' transposes."""
    match formula:
        case Transpose(body, (-2, -1), _):
            return body
        case Matmul(left, right):
            return Matmul(_transposed(right, batched), _transposed(left, batched))
    return Transpose(formula, batched=batched)


def _slope(function: str, body: Formula, out: Formula) -> Formula:
    match function:
        case "exp":
            return out
        case "log":
            return Power(body, -1.0)
        case "expm1":
            return add(out, Number(1.0))
        case "log1p":
            return Power(add(Number(1.0), body), -1.0)
        case "sqrt":
            return multiply(Number(0.5), Power(body, -0.5))
        case "tanh":
            return add(Number(1.0), negative(Power(out, 2.0)))
        case "sigmoid":
            return multiply(out, add(Number(1.0), negative(out)))
        case "softplus":
            return Elementwise("sigmoid", body)
        case "relu":
            return Positive(body)
        case "abs":
            return Elementwise("sign", body)
        case "sign":
            return Number(0.0)
        case "sin":
            return Elementwise("cos", body)
        case "cos":
            return negative(Elementwise("sin", body))
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
