"""Clues in a student's code: what only its text shows of a mistake."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from grader.diagnosis.formula.node import Formula
from grader.diagnosis.formula_parser import FormulaParser, NotAFormula, read_number
from grader.diagnosis.kinds import Kind
from grader.execution.evidence import GradientEvidence

LOOPS = (ast.For, ast.While)


def overwrites(item: GradientEvidence, kind: Kind, takes_last: bool) -> bool:
    """True if a contribution is missing because a later assignment replaced it.

    Args:
        item: the gradient with its code.
        kind: `missing-branch`, or `partial-rows` where only some contributions count.
        takes_last: whether those are the last ones.
    """
    nodes = [node for statement in item.code for node in ast.walk(statement)]
    simple = (ast.Assign, ast.AugAssign, ast.Expr)
    writers = [node for node in nodes if isinstance(node, simple) and _writes(node, item.name)]
    replacing = [number for number, node in enumerate(writers) if _replaces(node, item.name)]
    if not replacing:
        return False
    if kind is Kind.MISSING_BRANCH:
        return any(not _makes_room(node) for node in writers[: replacing[-1]])
    # The turns of a loop replace one another only where the replacing stands in the loop.
    looped = {inner for node in nodes if isinstance(node, LOOPS) for inner in ast.walk(node)}
    return takes_last and any(writers[number] in looped for number in replacing)


def last_assigned(item: GradientEvidence, parser: FormulaParser) -> Formula | None:
    """The student's expression as a formula, if it is one; it is read, never run."""
    for statement in reversed(item.code):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == item.name:
                try:
                    return parser.read(value)
                except NotAFormula:
                    return None
    return None


def written_numbers(code: Sequence[ast.stmt]) -> set[float]:
    """The numbers that stand in some statements, simple fractions with their value."""
    return {number for statement in code for number in _numbers(statement)}


def _numbers(tree: ast.AST) -> Iterator[float]:
    for node in ast.walk(tree):
        match node:
            case ast.Constant() if (number := read_number(node)) is not None:
                yield number
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                above, below = read_number(left), read_number(right)
                if above is not None and below:
                    yield above / below


def _writes(statement: ast.stmt, gradient: str) -> bool:
    """True if a statement binds a name, stores into it or calls one of its in-place methods."""
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) if name == gradient:
                return True
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()) if name == gradient:
                return True
            case ast.Attribute(value=ast.Name(id=name), attr=method) if name == gradient:
                return method.endswith("_")
    return False


def _replaces(statement: ast.stmt, gradient: str) -> bool:
    """True if a statement puts something in the place of what a gradient was."""
    for node in ast.walk(statement):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == gradient:
                # `dX = dX + ...` keeps it.
                return not any(
                    isinstance(inner, ast.Name) and inner.id == gradient
                    for inner in ast.walk(value)
                )
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]) if name == gradient:
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="copy_")) if (
                name == gradient
            ):
                return True
    return False


def _makes_room(statement: ast.AST) -> bool:
    """True for `dX = torch.zeros_like(X)`, `dX = None` and their like."""
    match statement:
        case ast.Assign(value=ast.Constant()):
            return True
        case ast.Assign(value=ast.Call(func=ast.Attribute(attr=name))):
            return name.startswith(("zeros", "empty", "new_zeros", "new_empty"))
    return False
