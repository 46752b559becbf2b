"""The lines of Python that a student would write for a gradient, from the forward pass."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from grader.authoring.backward.on_instances import OnInstances, UnknownOperation
from grader.authoring.backward.readable import (
    Product,
    assignment,
    expression,
    made,
    mentions,
    replaced,
    text,
    tidied,
    total,
)
from grader.authoring.backward.table import COPYING, OPTIONAL, ROWS, Row
from grader.program.compare import agrees
from grader.program.forward_program import Step, is_differentiable
from grader.program.references import Reference, References
from grader.user_error import UserError


@dataclass(frozen=True, slots=True)
class Branch:
    """What one reader of a tensor passes back.

    `text` is an expression in the program's names, which may need the lines `before` it; `rules`
    say in a word each which rules lead from the reader's value back to the tensor.
    """

    reader: str
    text: str
    rules: tuple[str, ...]
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Derived:
    """Statements that assign a gradient, and its branches, the last reader first."""

    lines: tuple[str, ...]
    branches: tuple[Branch, ...]


def derive(references: References, tensor: str) -> Derived:
    """Derive `d<tensor>` from the gradients of the steps that read the tensor.

    The lines use the program's names and sizes, and agree with autograd on the hidden instances.

    Raises:
        UserError: a step does what the table does not know; the message names line and operation.
    """
    program = references.program
    readers = frozenset(program.readers(tensor))
    derived = _Backward(tensor, references.hidden).derived()
    for reference in references.hidden:
        names = _names(reference, tensor)
        exec("\n".join(derived.lines), names)
        if not agrees(names[f"d{tensor}"], reference.local_vjp(tensor, readers), floor=1.0):
            told = "; ".join(step.line for step in program.steps if step.name in readers)
            raise UserError(f"What is derived for d{tensor} from `{told}` differs from autograd.")
    return derived


def _names(reference: Reference, tensor: str) -> dict[str, Any]:
    """What the lines may use, with random upstreams for the gradients of the tensor's readers."""
    program, instance, drawn = reference.program, reference.instance, reference.cotangents
    upstreams = {f"d{step}": drawn[step] for step in program.readers(tensor) if step in drawn}
    return {"torch": torch, **program.scope, **instance.sizes, **instance.values, **upstreams}


class _Backward:
    """The chain rule, from the steps that read a tensor back to it.

    An upstream may be shorter than what it belongs to: it has length 1, or lacks the axis, where it
    is the same all along an axis. Broadcasting does the rest, until a rule needs it whole.
    """

    def __init__(self, tensor: str, references: Sequence[Reference]) -> None:
        self.tensor = tensor
        self.program = references[0].program
        self.worlds = [_names(reference, tensor) for reference in references]
        steps = [step.name for step in self.program.steps]
        self.on = OnInstances(self.worlds, [*references[0].instance.sizes, *steps])
        self.before: list[str] = []
        self.rules: list[str] = []
        self.known = {
            text(tidied(expression(step.expression), {})): step.name
            for step in reversed(self.program.steps)
            if step.reads
        }

    def derived(self) -> Derived:
        """The branches, and the assignment of their sum."""
        branches, parts = [], list[ast.expr]()
        for step in reversed(self.program.steps):
            self.rules = []
            start = len(self.before)
            if through := [*self._through_step(step)]:
                before = tuple(self.before[start:])
                rules = tuple(dict.fromkeys(self.rules))
                branches.append(Branch(step.name, text(total(through)), rules, before))
                parts += through
        return Derived(tuple(self.lines(parts).split("\n")), tuple(branches))

    def lines(self, parts: Sequence[ast.expr]) -> str:
        """The assignment, after the statements that fill a tensor, where there are any."""
        own, gradient = expression(self.tensor), f"d{self.tensor}"
        if not parts:
            return f"{gradient} = torch.zeros_like({self.tensor})"
        whole = total(parts)
        if self.on.shape(whole) != self.on.shape(own):
            outside, inside = self.on.split(whole)
            whole = outside.of(self.on.whole(inside, own))
        if not is_differentiable(self.on.value(whole)):
            whole = made("u.type_as(x)", u=whole, x=own)
        if self.before and isinstance(whole, ast.Name):
            return re.sub(rf"\b{whole.id}\b", gradient, "\n".join(self.before))
        return "\n".join([*self.before, assignment(gradient, whole)])

    def _through_step(self, step: Step) -> Iterator[ast.expr]:
        """What a step hands on to the tensor, a part for each place where it stands."""
        upstream = expression("1" if step.name == self.program.loss else f"d{step.name}")
        try:
            for part in self._through(expression(step.expression), upstream):
                yield tidied(part, self.known)
        except UnknownOperation as unknown:
            told = f"There is no backward for `{unknown}` in the line `{step.line}`"
            raise UserError(f"{told}: d{self.tensor} has to be written by hand.") from None

    def _through(self, node: ast.expr, upstream: ast.expr) -> Iterator[ast.expr]:
        if not self._is_reached(node):
            return
        if isinstance(node, ast.Name):
            yield upstream
            return
        operation = self.on.operation(node)
        fitting = ((row, row.bound(operation)) for row in ROWS)
        row, given = next(((row, given) for row, given in fitting if given), (None, {}))
        reached = [name for name in given if name[0] != "*" and self._is_reached(given[name])]
        # `torch.max(x, y)` has a tensor where a reduction has its axes.
        has_tensor = "dim" in given and isinstance(self.on.value(given["dim"]), Tensor)
        if row is None or has_tensor or not {*reached} <= {*row.rules}:
            raise UnknownOperation(node)
        self.rules.append(row.name)
        for name in reached:
            part = self._pulled(row, name, {**given, "y": node}, upstream)
            like = node if row.name in COPYING else given[name]
            yield from self._through(given[name], self.on.fitted(part, given[name], like))

    def _is_reached(self, node: ast.expr) -> bool:
        """True if a gradient goes through an expression to the tensor."""
        if not mentions(node, self.tensor):
            return False
        value = self.on.value(node)
        return any(map(is_differentiable, value if isinstance(value, tuple | list) else [value]))

    def _pulled(
        self, row: Row, name: str, given: Mapping[str, ast.expr], upstream: ast.expr
    ) -> ast.expr:
        """What the rule for one operand makes of an upstream; plain numbers stay outside."""
        y, axes = given["y"], self.on.axes(given["x"], given.get("dim"))
        outside, u = self.on.split(upstream)
        dimensions = {key: len(self.on.shape(given[key])) for key in row.rules}
        rule = ast.parse(row.rule(name, {**dimensions, "u": len(self.on.shape(y))}))
        is_whole = _takes_whole(rule)
        lost = axes if row.takes_axes_away and not self._keeps_axes(given) else []
        if not is_whole and lost == [*range(len(lost))]:
            lost = []  # broadcasting puts back what comes first
        if is_whole or (lost and self.on.shape(u)):
            u = _with_axes(self.on.whole(u, y), lost)
        *statements, result = rule.body
        assert isinstance(result, ast.Expr)
        if statements and not mentions(result, "u"):
            outside, u = Product(), outside.of(u)
        names = {**dict.fromkeys(OPTIONAL), **given, **self._named(rule, given, axes)}
        names |= {"u": u, "y": _with_axes(y, lost)}
        for statement in statements:
            line = text(tidied(replaced(statement, names), self.known))
            try:
                exec(line, self.worlds[0])
            except (IndexError, RuntimeError) as error:
                raise UnknownOperation(y) from error
            self.before.append(line)
        return outside.of(replaced(result.value, names))

    def _named(
        self, rule: ast.Module, given: Mapping[str, ast.expr], axes: Sequence[int]
    ) -> dict[str, ast.expr]:
        """The expressions that stand for the names in a rule that its operation is not given."""
        x, count = given["x"], self.on.count
        makers: dict[str, Callable[[], ast.expr]] = {
            "count": lambda: count(x, axes),
            "freedom": lambda: self._freedom(count(x, axes), given),
            "rows": lambda: count(x, [0]),
            "classes": lambda: count(x, [1]),
            "inverse": lambda: self._inverse(given["*order"]),
            "p": self._new_name,
        }
        return {name: make() for name, make in makers.items() if mentions(rule, name)}

    def _freedom(self, count: ast.expr, given: Mapping[str, ast.expr]) -> ast.expr:
        told = given.get("correction") or given.get("unbiased")
        correction = 1 if told is None else int(self.on.value(told))
        return made(f"n - {correction}", n=count) if correction else count

    def _inverse(self, told: ast.expr) -> ast.expr:
        axes = self.on.value(told)
        order = [axis % len(axes) for axis in axes]
        return expression(str(tuple(order.index(axis) for axis in range(len(order)))))

    def _keeps_axes(self, given: Mapping[str, ast.expr]) -> bool:
        return "dim" not in given or ("keepdim" in given and self.on.value(given["keepdim"]))

    def _new_name(self) -> ast.expr:
        name = f"d{self.tensor}_part"
        return expression(name if name not in self.worlds[0] else f"{name}{len(self.before)}")


def _takes_whole(rule: ast.Module) -> bool:
    """True if a rule does more with `u` than to multiply and to add."""
    return any(
        mentions(part, "u")
        for part in ast.walk(rule)
        if isinstance(part, ast.Call | ast.Attribute)
        or isinstance(getattr(part, "op", None), ast.MatMult)
    )


def _with_axes(node: ast.expr, axes: Sequence[int]) -> ast.expr:
    for axis in axes:
        node = made(f"x.unsqueeze({axis})", x=node)
    return node
