"""Three hints for a gradient, made from its derivation."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from grader.authoring.backward.derive import Derived
from grader.authoring.backward.readable import text
from grader.authoring.blank import squeezed
from grader.printable import listed
from grader.program.forward_program import Step

GAP = ast.Constant(...)

NUMBERS = {1: "One line", 2: "Two lines", 3: "Three lines", 4: "Four lines"}


def make_hints(
    tensor: str,
    readers: Sequence[Step],
    loss: str,
    derived: Derived | None,
    rules: Mapping[str, str],
    secrets: Mapping[str, str],
) -> list[str]:
    """Say which lines read a tensor, what each passes back, the line without its last factor.

    Args:
        tensor: its name.
        readers: the steps that read it, the last one first.
        loss: the last step, at which 1 arrives.
        derived: its gradient; None where it could not be derived.
        rules: what a hint says of each rule.
        secrets: what would give a solution away, without spaces.
    """
    shape = f"`d{tensor}` has the shape of `{tensor}`. So has every part that is added to it."
    if derived is None:
        return [which_lines(tensor, readers), shape, "Go through the line on paper, with two rows."]
    lines = {step.name: step.line for step in readers}
    passed = []
    for reader, words in derived.rules.items():
        told = "; then ".join(rules[word] for word in words) or "nothing is changed"
        arrives = "1" if reader == loss else f"d{reader}"
        passed.append(f"`{arrives}` arrives at `{lines[reader]}`. On the way back, {told}.")
    last = nearly_there(derived.lines)
    if not last or any(secret in squeezed(last) for secret in secrets):
        last = shape
    return [which_lines(tensor, readers), " ".join(passed), last]


def nearly_there(lines: Sequence[str]) -> str:
    """The last hint: all lines, each without its last factor, so that no name in it is new.

    It is "" where that would leave nothing.
    """
    left = [without_last_factor(line) for line in lines]
    if len(left) > 1:
        return f"The lines, each without its last factor: {'; '.join(map('`{}`'.format, left))}"
    if not left[0].endswith(" = ..."):
        return f"The line, without its last factor: `{left[0]}`"
    value = lines[0].partition(" = ")[2]
    if value.isidentifier():
        return "The right-hand side is one name alone: there is nothing to multiply or to add."
    return f"The right-hand side ends in `{value[value.rindex('.') :]}`." if "." in value else ""


def which_lines(tensor: str, readers: Sequence[Step]) -> str:
    """The first hint: where the gradient comes from."""
    count = NUMBERS.get(len(readers), f"{len(readers)} lines")
    verb, lines = "read" if len(readers) > 1 else "reads", listed(f"`{s.line}`" for s in readers)
    ending = " What they pass back is added up." if len(readers) > 1 else ""
    return f"{count} {verb} `{tensor}`: {lines}.{ending}"


def without_last_factor(line: str) -> str:
    """A statement with `...` in place of its last factor.

    >>> without_last_factor("dx = dxhat * inv + 2 * x * dms / d")
    'dx = dxhat * inv + 2 * x * dms / ...'
    >>> without_last_factor("dgain = (dout * xhat).sum(0)")
    'dgain = (dout * ...).sum(0)'
    """
    (last,) = ast.parse(line).body
    if isinstance(last, ast.Assign | ast.AugAssign | ast.Expr):
        last.value = _gapped(last.value)
    return text(ast.fix_missing_locations(last))


def _gapped(node: ast.expr) -> ast.expr:
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            node.right = _gapped(node.right)
        case ast.BinOp(op=ast.Mult() | ast.Div() | ast.MatMult()):
            node.right = GAP
        case ast.UnaryOp():
            node.operand = _gapped(node.operand)
        case ast.Call(func=ast.Attribute(value=ast.BinOp() | ast.UnaryOp() | ast.Call()) as method):
            method.value = _gapped(method.value)
        case ast.Call(args=[*_, _]):
            node.args[-1] = GAP
        case _:
            return GAP
    return node
