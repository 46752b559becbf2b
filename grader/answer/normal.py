"""Normal lines: a student's statements without layout, comments and names of the student's own."""

# What stays of `tmp = dlogits  @ W2.T  # at last` is `_1 = dlogits @ W2.T`: two students who wrote
# the same in other names and another layout have the same normal lines. Nothing is run here.

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from grader.answer.cell_source import hide_magics, parsed
from grader.answer.effects import MODULES
from grader.answer.parse import LONGEST_ANSWER, AnswerCell, is_blank
from grader.answer.statements import BLOCKS, PARTS, children
from grader.verdict import Place

MOST_LINES = 500
"""Statements of a notebook that are read; the longest right answer known has 135."""

LONGEST_PART = 8
"""Statements that may belong together without an assignment of a gradient between them."""

KNOWN = MODULES | frozenset(dir(builtins))
"""Names that mean the same to everybody."""


@dataclass(frozen=True, slots=True)
class NormalLine:
    """A statement, or the head of a compound one, in its normal form.

    `place` is where it begins. `part` numbers what belongs together: the lines up to the one that
    assigns the next gradient. Whoever writes one line of a loop writes its others, too.
    """

    text: str
    place: Place
    part: int


def normal_lines(
    cells: Sequence[AnswerCell], names: frozenset[str], gradients: frozenset[str]
) -> list[NormalLine]:
    """The normal lines of a notebook's answer cells, in order.

    A cell that is not Python has none, and neither has a blank (`dX = ...`).

    Args:
        cells: the answer cells.
        names: those of the exercise, which stay; all others are the student's own.
        gradients: those among them that are asked for.
    """
    found: list[NormalLine] = []
    part = length = 0
    for cell in cells:
        if len(cell.source) > LONGEST_ANSWER:
            continue
        source = hide_magics(cell.source)
        tree = parsed(source)
        if tree is None:
            continue
        lines = source.split("\n")
        for statement in _statements(tree):
            text, assigns = _normal(statement, lines, names, gradients)
            if text:
                found.append(NormalLine(text, Place(cell.grade_id, statement.lineno), part))
                length += 1
            if assigns or length == LONGEST_PART:
                part, length = part + 1, 0
            if len(found) == MOST_LINES:
                return found
    return found


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Every statement in the order of the text, those of functions and classes too."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if _is_compound(node):
            pending += (c for c in reversed(children(node)) if isinstance(c, _INSIDE))
        if isinstance(node, ast.stmt):
            yield node


_INSIDE = (ast.stmt, ast.ExceptHandler, ast.match_case)


def _is_compound(node: ast.AST) -> bool:
    return isinstance(getattr(node, "body", None), list)


def _normal(
    statement: ast.stmt, lines: Sequence[str], names: frozenset[str], gradients: frozenset[str]
) -> tuple[str, bool]:
    """The normal form, "" for what says nothing, and whether a gradient is assigned."""
    if _is_compound(statement):
        return _of_tree(_head(statement), names, gradients)
    # Most students write most lines alike to the letter: to look one up takes a tenth of the time.
    first, last = statement.lineno - 1, (statement.end_lineno or statement.lineno) - 1
    own = [*lines[first : last + 1]]
    if not all(map(str.isascii, own)):  # columns count bytes
        return _of_tree(statement, names, gradients)
    own[-1] = own[-1][: statement.end_col_offset]
    own[0] = own[0][statement.col_offset :]
    return _of_text("\n".join(own), names, gradients)


@lru_cache(maxsize=20_000)
def _of_text(text: str, names: frozenset[str], gradients: frozenset[str]) -> tuple[str, bool]:
    tree = parsed(text)
    if tree is None or not tree.body:  # `return` parses, and so does all that stood in a tree
        return "", False
    return _of_tree(tree.body[0], names, gradients)


def _head(statement: ast.stmt) -> ast.stmt:
    """A compound statement with nothing in it."""
    head = copy.copy(statement)
    for field in {*BLOCKS, *PARTS, "decorator_list"} & {*head._fields}:
        setattr(head, field, [])
    return head


def _of_tree(
    statement: ast.stmt, names: frozenset[str], gradients: frozenset[str]
) -> tuple[str, bool]:
    match statement:
        case ast.Assign() if is_blank(statement):
            return "", False
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return "", False  # a text that stands alone is a comment
        case ast.AnnAssign(target=target, value=ast.expr() as right):
            statement = ast.copy_location(ast.Assign([target], right), statement)
    try:
        assigns = any(_stored(node) in gradients for node in ast.walk(statement))
        # In place: nobody else has this tree, and a copy takes as long as all the rest.
        _rename(statement, names)
        return ast.unparse(statement), assigns
    except (RecursionError, MemoryError, ValueError):  # nested as deep as Python can parse
        return "", False


def _stored(node: ast.AST) -> str:
    """The name that is assigned, stored into, or changed by a method such as `add_`."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            return name
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
            return name if method.endswith("_") else ""
    return ""


def _rename(statement: ast.stmt, names: frozenset[str]) -> None:
    """Number the student's own names in the order in which the statement has them.

    In a statement, not in the whole answer: a line that one of two students added would give
    others to all names that follow.
    """
    kept, numbers = names | KNOWN, dict[str, str]()

    def new(name: str) -> str:
        return name if name in kept else numbers.setdefault(name, f"_{len(numbers) + 1}")

    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        match node:
            case ast.Name():
                node.id = new(node.id)
            case ast.arg():
                node.arg, node.annotation = new(node.arg), None
            case ast.FunctionDef():
                node.name, node.returns = new(node.name), None
            case ast.ClassDef():
                node.name = new(node.name)
            case ast.Global():
                node.names = [*map(new, node.names)]
            case ast.alias(asname=str(own)):
                node.asname = new(own)
        pending += reversed(children(node))
