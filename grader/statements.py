"""The statements of an answer, numbered in the order in which they stand."""

from __future__ import annotations

import ast
import copy
from collections.abc import Container, Iterator, Sequence

COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.TryStar, ast.Match)
"""Statements that hold other statements of the same scope. A `def` or `class` counts as one."""

BLOCKS = ("body", "orelse", "finalbody")
PARTS = ("handlers", "cases")
"""Fields of a compound statement: lists of statements, lists of parts with a body of their own."""


def walk_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement, a compound one before those inside it.

    The numbering that the worker and the slices share: both parse the same text with the same
    Python, so that a statement's position in this order names it.
    """
    for statement in body:
        yield statement
        if isinstance(statement, COMPOUND):
            for block in blocks(statement):
                yield from walk_statements(block)


def blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The lists of statements directly inside a compound statement."""
    for field, value in ast.iter_fields(statement):
        if field in BLOCKS and value:
            yield value
        elif field in PARTS:
            yield from (part.body for part in value)


def pruned(statement: ast.stmt, keep: Container[ast.stmt]) -> ast.stmt:
    """A statement without the inner statements that are not kept; an emptied block passes."""
    if not isinstance(statement, COMPOUND):
        return statement
    copied = copy.copy(statement)
    for field in BLOCKS:
        if block := getattr(statement, field, None):
            setattr(copied, field, _pruned_block(statement, block, keep))
    for field in PARTS:
        if parts := getattr(statement, field, None):
            copies = [copy.copy(part) for part in parts]
            for part in copies:
                part.body = _pruned_block(statement, part.body, keep)
            setattr(copied, field, copies)
    return copied


def _pruned_block(
    parent: ast.stmt, block: Sequence[ast.stmt], keep: Container[ast.stmt]
) -> list[ast.stmt]:
    kept = [pruned(statement, keep) for statement in block if statement in keep]
    return kept or [ast.copy_location(ast.Pass(), parent)]
