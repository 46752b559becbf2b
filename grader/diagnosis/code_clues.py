"""Clues in a student's code: what only its text shows of a mistake."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from grader.execution.evidence import GradientEvidence


def overwrites(item: GradientEvidence) -> bool:
    """True if a contribution may be missing because a later assignment replaced it."""
    nodes = [node for statement in item.code for node in ast.walk(statement)]
    simple = (ast.Assign, ast.AugAssign, ast.Expr)
    writers = [node for node in nodes if isinstance(node, simple) and _writes(node, item.name)]
    replacing = [number for number, node in enumerate(writers) if _replaces(node, item.name)]
    return bool(replacing) and any(not _makes_room(node) for node in writers[: replacing[-1]])


def replaces_in_loop(item: GradientEvidence) -> bool:
    """True if each turn of a loop replaces the whole gradient."""
    loops = (n for statement in item.code for n in ast.walk(statement) if isinstance(n, ast.For))
    inside = (node for loop in loops for node in ast.walk(loop))
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and _replaces(node, item.name)
        for node in inside
    )


def written_numbers(code: Sequence[ast.stmt]) -> set[float]:
    """The numbers that stand in some statements, simple fractions with their value."""
    return {number for statement in code for number in _numbers(statement)}


def _read_number(node: ast.expr) -> float | None:
    """The number that a constant is."""
    value = node.value if isinstance(node, ast.Constant) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and isinstance(value, int | float) else None


def _numbers(tree: ast.AST) -> Iterator[float]:
    for node in ast.walk(tree):
        match node:
            case ast.Constant() if (number := _read_number(node)) is not None:
                yield number
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                above, below = _read_number(left), _read_number(right)
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
