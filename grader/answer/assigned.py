"""Where a cell assigns gradients, as far as can be seen without running it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from grader.answer.cell_source import hide_magics, parsed
from grader.answer.parse import LONGEST_ANSWER
from grader.answer.statements import children

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_PLACEHOLDER = re.compile(r"(?:[\w\s,]+=)*\s*(?:\.\.\.|None|pass)")


def has_only_blanks(source: str) -> bool:
    """True if the cell has nothing but comments, and lines like `dX = ...`."""
    lines = (line.partition("#")[0].strip() for line in source.split("\n"))
    return all(_PLACEHOLDER.fullmatch(line) for line in lines if line)


@lru_cache(maxsize=256)
def first_assignments(source: str, names: tuple[str, ...]) -> Mapping[str, int]:
    """For each of `names` that the cell itself assigns, or stores into: its first such line.

    Function bodies are scopes of their own and do not count.

    A notebook asks it of the same cells again at every check.

    >>> first_assignments("x = 1\\ndlogits, dh = a, b", ("dh", "dC"))
    {'dh': 2}
    """
    wanted = [name for name in names if name in source]
    if not wanted:
        return {}
    tree = parsed(hide_magics(source)) if len(source) <= LONGEST_ANSWER else None
    found = _in_text(source, wanted) if tree is None else _in_tree(tree, set(wanted))
    first: dict[str, int] = {}
    for name, line in sorted(found, key=lambda item: item[1]):
        first.setdefault(name, line)
    return first


def _in_tree(tree: ast.Module, names: set[str]) -> Iterator[tuple[str, int]]:
    pending: list[ast.AST] = [tree]  # no recursion: code may be nested as deep as it parses
    while pending:
        node = pending.pop()
        stored = _stored_name(node)
        if stored is not None and stored.id in names:
            yield stored.id, stored.lineno
        if not isinstance(node, _SCOPES):
            pending += children(node)


def _stored_name(node: ast.AST) -> ast.Name | None:
    """The name that `node` assigns, or stores into by a subscript."""
    if not isinstance(getattr(node, "ctx", None), ast.Store):
        return None
    while isinstance(node, ast.Subscript):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def _in_text(source: str, names: Sequence[str]) -> Iterator[tuple[str, int]]:
    """For a cell that does not parse, or is too long to: lines that begin like an assignment."""
    pattern = re.compile(rf"\s*({'|'.join(map(re.escape, names))})\b[^=!<>]*=(?!=)")
    for number, line in enumerate(source.split("\n"), start=1):
        if match := pattern.match(line):
            yield match[1], number
