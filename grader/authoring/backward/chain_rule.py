"""The chain rule, from the steps that read a tensor back to it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import torch

from grader.authoring.backward.on_instances import OnInstances
from grader.authoring.backward.operations import UnknownOperation, noun, operations
from grader.authoring.backward.readable import (
    Tree,
    expression,
    made,
    mentions,
    replaced,
    text,
)
from grader.authoring.backward.table import ROWS, Operation, Row
from grader.authoring.backward.tidying import Tidying
from grader.program.forward_program import Step, is_differentiable
from grader.program.references import Reference

LONGEST_UPSTREAM = 32
"""A longer upstream gets a name, as does any product that a rule takes whole."""

LONGEST_OPERAND, LONGEST_VALUE = 28, 12
"""A longer operand gets a name, a longer value of a function too, which would be computed again."""

PASSING = ("addition", "shape", "sum")
"""Kinds of rules that leave an upstream as it is, but for its shape."""


def names_of(reference: Reference, tensor: str) -> dict[str, Any]:
    """What the lines may use, with random upstreams for the gradients of the tensor's readers."""
    program, instance, drawn = reference.program, reference.instance, reference.cotangents
    upstreams = {f"d{step}": drawn[step] for step in program.readers(tensor) if step in drawn}
    return {"torch": torch, **program.scope, **instance.sizes, **instance.values, **upstreams}


class ChainRule:
    """What each step hands on to a tensor.

    An upstream may be shorter than what it belongs to: it has length 1, or lacks the axis, where it
    is the same all along an axis. Broadcasting does the rest, until a rule needs it whole.

    `helpers` are statements by the name that they assign; `fills` those that add to places of what
    is a gradient of zeros before.
    """

    def __init__(self, tensor: str, references: Sequence[Reference]) -> None:
        self.tensor, self.program = tensor, references[0].program
        steps = [step.name for step in self.program.steps]
        worlds = [names_of(reference, tensor) for reference in references]
        self.on = OnInstances(worlds, [*references[0].instance.sizes, *steps])
        self.helpers: dict[str, list[str]] = {}
        self.fills: dict[str, str] = {}
        self.known: dict[str, str] = {}
        self.known = {
            text(self._tidied(expression(step.expression))): step.name
            for step in reversed(self.program.steps)
            if step.reads and not step.expression.isidentifier()
        }
        self._rules: list[str] = []

    def through(self, step: Step) -> tuple[list[ast.expr], tuple[str, ...]]:
        """What a step hands on to the tensor, a part for each place where it stands; the rules.

        Raises:
            UnknownOperation: the table does not know what the step does.
        """
        self._rules = []
        upstream = expression("1" if step.name == self.program.loss else f"d{step.name}")
        node = expression(step.expression)
        try:
            node = cast(ast.expr, Tidying(self.on, {}).visit(node))
            parts = [*self._through(node, upstream)] if self._is_reached(node) else []
        except UnknownOperation:
            raise
        except Exception as error:  # whatever a part raises that is not an expression by itself
            raise UnknownOperation(node) from error
        return parts, tuple(dict.fromkeys(self._rules))

    def needed(self, lines: Sequence[str]) -> list[str]:
        """The statements that some lines need before them."""
        needed: list[str] = []
        for name, statements in reversed(self.helpers.items()):
            if any(mentions(ast.parse(line), name) for line in [*needed, *lines]):
                needed = [*statements, *needed]
        return needed

    def short(self, tree: ast.expr, name: str, longest: int = LONGEST_UPSTREAM) -> ast.expr:
        """An expression, or a name for it where it is long."""
        return tree if len(text(tree)) <= longest else self._named(tree, name)

    def _named(self, tree: ast.expr, name: str) -> ast.expr:
        told = text(tree)
        if told not in self.known:
            self.known[told] = self._free(name)
            self._run(self.known[told], f"{self.known[told]} = {told}")
        return expression(self.known[told])

    def _free(self, name: str) -> str:
        """A name that is not taken: not by a gradient of the program either."""
        taken = {*dir(builtins), *(f"d{each}" for each in self.program.names), *self.on.worlds[0]}
        others = (f"{name}{number}" for number in range(2, 100))
        return next(each for each in (name, *others) if each not in taken)

    def _run(self, name: str, statement: str) -> None:
        self.helpers.setdefault(name, []).append(statement)
        self.on.run(statement)

    def _tidied(self, tree: Tree) -> Tree:
        return cast(Tree, Tidying(self.on, self.known).visit(tree))

    def _through(self, node: ast.expr, upstream: ast.expr) -> Iterator[ast.expr]:
        if isinstance(node, ast.Name):
            yield upstream
            return
        for operation in operations(node, self.on):
            row, given = self._row(operation, node)
            for name, operand in given.items():
                if self._is_reached(operand) and row.rules[name]:
                    part = self._pulled(row, name, {**given, "y": node}, upstream)
                    yield from self._through(operand, part)

    def _row(self, operation: Operation, node: ast.expr) -> tuple[Row, dict[str, ast.expr]]:
        """The row of the table that knows an operation, with what this is given."""
        for row in ROWS:
            given = row.given(operation, self.on.value)
            reached = {name for name, each in (given or {}).items() if self._is_reached(each)}
            if given is not None and reached <= row.rules.keys():
                return row, given
        raise UnknownOperation(node)

    def _is_reached(self, node: ast.expr) -> bool:
        """True if autograd goes through an expression to the tensor."""
        if isinstance(node, ast.Slice | ast.Tuple) or not mentions(node, self.tensor):
            return False
        world = self.on.worlds[0]
        leaf = world[self.tensor].clone().requires_grad_()
        with torch.enable_grad():
            value = self.on.value(node, {**world, self.tensor: leaf})
        parts = value if isinstance(value, tuple) else (value,)
        return any(is_differentiable(part) and part.requires_grad for part in parts)

    def _pulled(
        self, row: Row, name: str, given: Mapping[str, ast.expr], upstream: ast.expr
    ) -> ast.expr:
        """What the rule for one operand makes of an upstream, in the operand's shape."""
        operand, y = given[name], given["y"]
        self._rules.append(row.kind)
        try:
            part = self._by_rule(row, name, given, upstream)
            fitted = self.on.fitted(part, operand, y if row.copies else operand)
        except Exception as error:  # whatever a template raises that does not fit
            raise UnknownOperation(y) from error
        if fitted is not part:
            self._rules.append("copied axis")
        return self._tidied(fitted)

    def _by_rule(
        self, row: Row, name: str, given: Mapping[str, ast.expr], upstream: ast.expr
    ) -> ast.expr:
        """A rule's template filled in; plain numbers stay outside."""
        rule, y = ast.parse(row.rules[name].strip()), given["y"]
        axes = self.on.axes(given["x"], given.get("dim"))
        outside, u = self.on.split(upstream)
        is_whole = _takes_whole(rule)
        is_product = is_whole and isinstance(getattr(u, "op", None), ast.Mult | ast.Div)
        if is_product or (len(text(upstream)) > LONGEST_UPSTREAM and row.kind not in PASSING):
            upstream = self._named(upstream, f"d{noun(y, self.on)}")
            outside, u = self.on.split(upstream)
        lost = axes if row.takes_axes_away and not self._keeps_axes(given) else []
        if not is_whole and lost == [*range(len(lost))]:
            lost = []  # broadcasting puts back what comes first
        if is_whole or (lost and self.on.shape(u)):
            u = _with_axes(self.on.whole(u, y), lost)
        names = {**given, **self._made(rule, given, axes), "u": u}
        for each in ("y", *row.rules):
            if mentions(rule, each) and row.kind != "shape":
                known = self._tidied(replaced(given[each], {}))
                longest = LONGEST_VALUE if each == "y" else LONGEST_OPERAND
                names[each] = self.short(known, noun(given[each], self.on), longest)
        names["y"] = _with_axes(names["y"], lost)
        *statements, result = rule.body
        for statement in statements:
            assert isinstance(statement, ast.Assign)
            target, value = text(statement.targets[0]), replaced(statement.value, names)
            names[target] = self._named(self._tidied(value), target)
        if isinstance(result, ast.Expr):
            return outside.of(replaced(result.value, names))
        return self._filled(result, {**names, "u": outside.of(u)})

    def _filled(self, fill: ast.stmt, names: Mapping[str, ast.expr]) -> ast.expr:
        """Zeros like `x`, of which a statement fills some places."""
        operand = names["x"]
        is_own = text(operand) == self.tensor
        name = self._free("filled" if is_own else f"d{noun(operand, self.on)}")
        self._run(name, f"{name} = torch.zeros_like({text(operand)})")
        statement = text(self._tidied(replaced(fill, {**names, "p": expression(name)})))
        self._run(name, statement)
        if is_own:
            self.fills[name] = statement
        return expression(name)

    def _made(
        self, rule: ast.Module, given: Mapping[str, ast.expr], axes: Sequence[int]
    ) -> dict[str, ast.expr]:
        """The expressions that stand for the names in a rule that its operation is not given."""
        x, count = given["x"], self.on.count
        makers: dict[str, Callable[[], ast.expr]] = {
            "count": lambda: count(x, axes),
            "axis": lambda: ast.Constant(axes[0]),
            "after": lambda: ast.Constant(axes[0] + 1),
            "inverse": lambda: self._inverse(given["order"]),
            "to_x": lambda: self._equation(given["equation"], 0),
            "to_z": lambda: self._equation(given["equation"], 1),
            "F": lambda: expression("F" if "F" in self.on.worlds[0] else "torch.nn.functional"),
        }
        return {name: make() for name, make in makers.items() if mentions(rule, name)}

    def _inverse(self, told: ast.expr) -> ast.expr:
        axes = self.on.value(told)
        order = [axis % len(axes) for axis in axes]
        return expression(str(tuple(order.index(axis) for axis in range(len(order)))))

    def _equation(self, told: ast.expr, place: int) -> ast.expr:
        """Einsum's equation with the result in place of an operand, which becomes the result."""
        operands, arrow, result = self.on.value(told).replace(" ", "").partition("->")
        if not arrow:
            once = {letter for letter in operands if operands.count(letter) == 1} - {","}
            result = "".join(sorted(once))
        letters = operands.split(",")
        own, letters[place] = letters[place], result
        return ast.Constant(f"{','.join(letters)}->{own}")

    def _keeps_axes(self, given: Mapping[str, ast.expr]) -> bool:
        return self.on.value(given["dim"]) is None or bool(self.on.value(given["keepdim"]))


def _takes_whole(rule: ast.Module) -> bool:
    """True if a rule does more with `u` than to multiply and to add."""
    return any(
        mentions(part, "u")
        for part in ast.walk(rule)
        if isinstance(part, ast.Call | ast.Attribute | ast.Subscript)
        or isinstance(getattr(part, "op", None), ast.MatMult)
    )


def _with_axes(node: ast.expr, axes: Sequence[int]) -> ast.expr:
    for axis in axes:
        node = made(f"x.unsqueeze({axis})", x=node)
    return node
