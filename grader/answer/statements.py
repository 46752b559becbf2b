"""The statements of an answer, numbered in the order of the text."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence

COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.TryStar, ast.Match)
"""Statements that contain others of the same scope. A `def` or `class` counts as one statement."""

BLOCKS = ("body", "orelse", "finalbody")
PARTS = ("handlers", "cases")
"""The fields of a compound statement that hold statements, or parts with a body of their own."""


LEAVES = frozenset({ast.Name, ast.Constant, *ast.operator.__subclasses__()})
"""Nodes that contain nothing but `Load` and `Store`. They are seven out of ten."""


def walk_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement in order, a compound one before those inside it.

    A statement's position in this order is its number.
    """
    for statement in body:
        yield statement
        if isinstance(statement, COMPOUND):
            for block in blocks(statement):
                yield from walk_statements(block)


def blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks directly inside a compound statement."""
    for field, value in ast.iter_fields(statement):
        if field in BLOCKS and value:
            yield value
        elif field in PARTS:
            yield from (part.body for part in value)


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly inside a node, except `Load` and `Store`, which are a third of all nodes.

    `ast.iter_child_nodes` takes three times as long, and the judge asks for every node's children
    twice.
    """
    found: list[ast.AST] = []
    for field in () if type(node) in LEAVES else node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            found += [one for one in value if isinstance(one, ast.AST)]
        elif isinstance(value, ast.AST) and field != "ctx":
            found.append(value)
    return found


def walk_names(*trees: ast.AST) -> Iterator[ast.Name]:
    """All names in some trees, including those inside functions."""
    return (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name))


def stored_names(*trees: ast.AST) -> frozenset[str]:
    """The names that some trees bind, including those inside functions."""
    return frozenset(name.id for name in walk_names(*trees) if type(name.ctx) is ast.Store)


def with_blocks(
    statement: ast.stmt, change: Callable[[Sequence[ast.stmt]], list[ast.stmt]]
) -> ast.stmt:
    """Copy a compound statement with its blocks changed; return any other statement as it is."""
    if not isinstance(statement, COMPOUND):
        return statement
    copied = copy.copy(statement)
    for field in BLOCKS:
        if block := getattr(statement, field, None):
            setattr(copied, field, change(block))
    for field in PARTS:
        if parts := getattr(statement, field, None):
            copies = [copy.copy(part) for part in parts]
            for part in copies:
                part.body = change(part.body)
            setattr(copied, field, copies)
    return copied
