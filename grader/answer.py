"""The answer: the code of an exercise's answer cells, read as one program."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from grader.effects import Effects, FunctionEffects, find_effects, find_functions
from grader.evidence import Raised
from grader.sharing import Sharing
from grader.statements import COMPOUND, walk_statements
from grader.verdict import Place

DEEPEST = 150
"""Levels of nesting that are read; a sum of 150 terms is no gradient."""

TOO_DEEP = "This cell cannot be read: its code is nested too deeply."


@dataclass(frozen=True, slots=True)
class AnswerCell:
    """One answer cell: its `grade_id` ("ex1-softmax") with the code the student left in it."""

    grade_id: str
    source: str


@dataclass(frozen=True, slots=True)
class BrokenCell:
    """An answer cell that is not Python, with the sentence that says where."""

    cell: AnswerCell
    reason: Raised


@dataclass(frozen=True, eq=False)
class Answer:
    """An answer's statements in order, each with the cell and line in which it stands.

    `statements` are numbered as `grader.statements.walk_statements` numbers them; `top` are
    those of the outermost level. Blanks nobody has filled (`dX = ...`) are left out of `live`.
    """

    cells: tuple[AnswerCell, ...]
    top: tuple[ast.stmt, ...]
    statements: tuple[ast.stmt, ...]
    places: tuple[Place, ...]
    broken: tuple[BrokenCell, ...]

    @cached_property
    def number(self) -> dict[ast.stmt, int]:
        return {statement: number for number, statement in enumerate(self.statements)}

    @cached_property
    def functions(self) -> dict[str, FunctionEffects]:
        return find_functions(list(self.top))

    @cached_property
    def effects(self) -> dict[ast.stmt, Effects]:
        """What each statement does, by itself with all that it contains."""
        return {statement: find_effects(statement, self.functions) for statement in self.statements}

    @cached_property
    def sharing(self) -> tuple[Sharing, ...]:
        """For each top-level statement, which names may share memory while it runs."""
        current = Sharing()
        seen = []
        for statement in self.top:
            effects = self.effects[statement]
            during = current.copy()
            during.link(effects.aliases)
            seen.append(during)
            if not isinstance(statement, COMPOUND):
                # A name bound anew no longer shares the memory it shared before, but for `a = a.T`.
                sources = {source for _, source in effects.aliases}
                current.forget(effects.binds - (effects.reads & sources))
            current.link(effects.aliases)
        return tuple(seen)

    @cached_property
    def is_dynamic(self) -> bool:
        """True if some statement's effects cannot be read off its text (`exec`, `globals`)."""
        return any(effects.dynamic for effects in self.effects.values())

    @cached_property
    def live(self) -> frozenset[int]:
        """The numbers of all statements but unfilled blanks, and `del`, which makes nothing."""
        return frozenset(
            number
            for number, statement in enumerate(self.statements)
            if not is_blank(statement) and not isinstance(statement, ast.Delete)
        )


def is_blank(statement: ast.stmt) -> bool:
    """True for `dX = ...`: the blank as the student found it."""
    match statement:
        case ast.Assign(targets=[ast.Name()], value=ast.Constant(value=value)):
            return value is ...
    return False


def parse_answer(cells: Sequence[AnswerCell]) -> Answer:
    """Read answer cells as one program; a cell that is not Python is set aside with its reason."""
    top: list[ast.stmt] = []
    places: dict[ast.stmt, Place] = {}
    good: list[AnswerCell] = []
    broken: list[BrokenCell] = []
    for cell in cells:
        runnable = AnswerCell(cell.grade_id, hide_magics(cell.source))
        tree = _parse_cell(runnable)
        if isinstance(tree, Raised):
            broken.append(BrokenCell(cell, tree))
            continue
        good.append(runnable)
        top.extend(tree.body)
        for statement in walk_statements(tree.body):
            places[statement] = Place(cell.grade_id, statement.lineno)
    statements = tuple(walk_statements(top))
    return Answer(
        tuple(good),
        tuple(top),
        statements,
        tuple(places[statement] for statement in statements),
        tuple(broken),
    )


MAGIC_LINE = re.compile(r"(?m)^([ \t]*)(?:[%!?].*|[\w, \t]+=[ \t]*[%!].*|[\w.\[\]]+\?\??[ \t]*)$")
"""Lines of IPython's own: `%magic`, `!shell`, `t = %timeit ...`, `torch.sum?`."""


def hide_magics(source: str) -> str:
    """Turn IPython's own lines into `pass`, line by line.

    Only where the cell does not parse as it stands: a continued expression may begin with `%`.
    """
    if not MAGIC_LINE.search(source):
        return source
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return MAGIC_LINE.sub(r"\1pass", source)
    return source


def _depth(tree: ast.AST) -> int:
    """How deep a syntax tree is nested, found without recursion."""
    deepest, waiting = 0, [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting.extend((child, depth + 1) for child in ast.iter_child_nodes(node))
    return deepest


def _parse_cell(cell: AnswerCell) -> ast.Module | Raised:
    try:
        with warnings.catch_warnings():
            # A student's "\\d" is for the student's own Python to complain about.
            warnings.simplefilter("ignore")
            tree = ast.parse(cell.source)
            # The parser accepts what the compiler does not: `return` outside a function.
            compile(tree, "<answer>", "exec")
    except SyntaxError as error:
        line = error.lineno or 1
        message = f"Python cannot read this cell: {error.msg}."
        return Raised(message, Place(cell.grade_id, line))
    except ValueError as error:
        return Raised(f"Python cannot read this cell: {error}.", Place(cell.grade_id, 1))
    except (RecursionError, MemoryError):
        return Raised(TOO_DEEP, Place(cell.grade_id, 1))
    return tree if _depth(tree) <= DEEPEST else Raised(TOO_DEEP, Place(cell.grade_id, 1))
