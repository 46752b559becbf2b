"""The script: an answer's statements as a worker runs them, with the names in their text.

For most statements the text shows every name. The forced run sees those that it does not show.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from types import CodeType

from grader.answer.effects import read_effects, root
from grader.answer.parse import Answer, compile_statement, is_blank
from grader.answer.statements import COMPOUND, blocks, walk_statements, with_blocks
from grader.answer.torch_words import MODULES
from grader.worker.job import Line, Statement
from grader.worker.terms import MARK

UNCOUNTED = re.compile(r"\b(data|numpy|np|asarray|from_dlpack|storage|untyped_storage)\b")
"""Words in an answer that may change memory without PyTorch counting the change."""

Names = frozenset[str]


@dataclass(frozen=True)
class Script:
    """An answer's statements, ready to run, without blanks and `del`.

    They have numbers of their own, because `a, b = x, y` counts as two. `written_as` maps these
    numbers to the answer's, and `around` maps each statement in a block to the statement to which
    the block belongs.
    """

    statements: tuple[Statement, ...]
    written_as: Mapping[int, int]
    around: Mapping[int, int]
    uncounted: bool

    @cached_property
    def lines(self) -> list[Line]:
        """All statements, at any depth, in the order of the text."""
        return [line for statement in self.statements for line in statement.lines]

    @cached_property
    def reads(self) -> dict[int, Names]:
        """The names that each statement reads, by its number."""
        return {line.number: line.reads for line in self.lines}

    def writing(self, name: str) -> frozenset[int]:
        """The numbers of the statements that write a name."""
        return frozenset(line.number for line in self.lines if name in line.writes)

    def with_unshown(self, unshown: Iterable[tuple[int, str]]) -> Script:
        """Add the writes that were seen when the script ran: a statement's number and a name."""
        found = dict[int, Names]()
        for number, name in unshown:
            found[number] = found.get(number, frozenset()) | {name}
        if not found:
            return self
        statements = (
            replace(
                statement,
                lines=tuple(
                    replace(line, writes=line.writes | found.get(line.number, frozenset()))
                    for line in statement.lines
                ),
            )
            for statement in self.statements
        )
        return replace(self, statements=tuple(statements))

    def making(self, name: str, given: Set[str]) -> frozenset[int]:
        """The numbers of the statements that make the value of a name.

        These are the statements that write it, then those that write what these read, and so on
        from the last to the first, except for the names that are `given`. Inside a block, a value
        may also come from a later line, through the next iteration of a loop; `break` and
        `continue` decide which iterations there are.
        """
        needed, kept = {name}, set[int]()
        for statement in reversed(self.statements):
            outside, before = set(needed), -1
            while before != len(kept):
                before = len(kept)
                for line in reversed(statement.lines):
                    is_jump = statement.number in kept and not (line.reads or line.writes)
                    if is_jump or not needed.isdisjoint(line.writes):
                        number: int | None = line.number
                        while number is not None and number not in kept:
                            kept.add(number)
                            needed |= self.reads[number] - given
                            number = self.around.get(number)
            needed = outside
            if statement.number in kept:
                if len(statement.lines) == 1:
                    needed -= statement.lines[0].writes
                needed |= _from_outside(line for line in statement.lines if line.number in kept)
                needed -= given
        return frozenset(kept)


def _from_outside(lines: Iterable[Line]) -> set[str]:
    """The names that some lines read before they bind them."""
    read, bound = set[str](), set[str]()
    for line in lines:
        read |= line.reads - bound
        bound |= line.writes - line.reads
    return read


class Trial:
    """Some of an answer's statements, with edited versions of them; `statements` has all so far."""

    def __init__(self, answer: Answer, keep: frozenset[int], gradients: Set[str]) -> None:
        self.answer, self.gradients = answer, gradients
        self.statements = list[Statement]()
        self._next = 0
        kept = (read_effects(answer.statements[number]).writes for number in keep)
        self._names = frozenset[str]().union(*kept)
        self._kept = {
            answer.number[top]: self._add(top, answer.number[top])
            for top in answer.top
            if not keep.isdisjoint(answer.inside[top])
        }

    def with_texts(
        self, new: Mapping[int, Sequence[ast.stmt]], read: Callable[[ast.stmt], ast.stmt]
    ) -> tuple[int, ...]:
        """The indices of the statements, after those with these numbers were replaced by texts.

        Raises:
            SyntaxError: a text does not compile.
        """
        indices = list[int]()
        for number, kept in self._kept.items():
            if number not in new:
                indices.append(kept)
            else:
                indices += [self._add(read(one), number) for one in new[number]]
        return tuple(indices)

    def _spares(self, statement: ast.stmt) -> bool:
        """True for a line that others need, although a name that it reads may be missing."""
        written = read_effects(statement).writes
        return bool(written) and written.isdisjoint(self._names)

    def _add(self, statement: ast.stmt, number: int) -> int:
        if isinstance(statement, COMPOUND):
            statement = forgiving(statement, self._spares)
        # Numbers of their own, so that one edit cannot be blamed for what another one does.
        inside = [*walk_statements([statement])]
        numbers = {one: self._next + place for place, one in enumerate(inside)}
        self._next += len(inside)
        cell = self.answer.places[number].cell
        code = compile_statement(statement, cell)
        self.statements.append(make_statement(statement, cell, code, numbers, self.gradients))
        return len(self.statements) - 1


def read_script(answer: Answer, gradients: Set[str], is_forgiving: bool = False) -> Script:
    """Take an answer's statements apart, and compile them for a worker.

    If the script `is_forgiving`, blocks and functions continue after a line that raises.
    """
    statements, written_as, around = list[Statement](), dict[int, int](), dict[int, int]()
    for top in answer.top:
        whole = forgiving(top) if is_forgiving else top
        for piece in split(whole):
            if is_skipped(piece):
                continue
            cell = answer.places[answer.number[top]].cell
            number = dict[ast.stmt, int]()
            for inner in walk_statements([piece]):
                if not is_skipped(inner):
                    number[inner] = len(written_as)
                    written_as[len(written_as)] = answer.number.get(inner, answer.number[top])
            for outer in number if isinstance(piece, COMPOUND) else ():
                inner_blocks = blocks(outer) if isinstance(outer, COMPOUND) else ()
                live = (inner for block in inner_blocks for inner in block if inner in number)
                around |= {number[inner]: number[outer] for inner in live}
            code = answer.codes[top] if piece is top else compile_statement(piece, cell)
            statements.append(make_statement(piece, cell, code, number, gradients))
    uncounted = any(UNCOUNTED.search(cell.source) for cell in answer.cells)
    return Script(tuple(statements), written_as, around, uncounted)


def forgiving(statement: ast.stmt, spares: Callable[[ast.stmt], bool] = lambda _: True) -> ast.stmt:
    """Let a block or function continue after a line that raises, as the answer itself does.

    This holds for the lines that it `spares`, which by default are all of them.
    """

    def lines_of(block: Sequence[ast.stmt]) -> list[ast.stmt]:
        lines = list[ast.stmt]()
        for inner in block:
            match inner:
                case ast.Return(ast.Tuple(values)) if spares(inner):
                    # Each value gets a variable of its own, whose name is not a Python name.
                    names = [f"<{place}>" for place in range(len(values))]
                    for name, value in zip(names, values, strict=True):
                        stored = ast.Assign([ast.Name(name, ast.Store())], value)
                        lines.append(_passed_over(ast.copy_location(stored, inner)))
                    read = [ast.Name(name, ast.Load()) for name in names]
                    returned = ast.Return(ast.Tuple([*read], ast.Load()))
                    lines.append(ast.fix_missing_locations(ast.copy_location(returned, inner)))
                case ast.Assign() | ast.AugAssign() | ast.Expr() | ast.Assert() if spares(inner):
                    lines += map(_passed_over, split(inner))
                case _:
                    lines.append(forgiving(inner, spares))
        return lines

    if isinstance(statement, ast.FunctionDef):
        copied = copy.copy(statement)
        copied.body = lines_of(statement.body)
        return copied
    return with_blocks(statement, lines_of)


def _passed_over(statement: ast.stmt) -> ast.stmt:
    """Let a statement do no harm if it raises; `a = x` then leaves None in `a`."""
    instead: ast.stmt = ast.Pass()
    match statement:
        case ast.Assign([ast.Name(name)]):
            instead = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None))
    caught = ast.ExceptHandler(ast.Name("Exception", ast.Load()), None, [instead])
    tried = ast.copy_location(ast.Try([statement], [caught], [], []), statement)
    return ast.fix_missing_locations(tried)


def make_statement(
    statement: ast.stmt,
    cell: str,
    code: CodeType,
    number: Mapping[ast.stmt, int],
    gradients: Set[str],
) -> Statement:
    """Compile a statement, and find the names in it and in the statements inside it."""
    lines = tuple(
        Line(number[one], one.lineno, one.end_lineno or one.lineno, *_names_of(one, gradients))
        for one in number
    )
    if not isinstance(statement, COMPOUND):
        return Statement(cell, lines, code, code)
    if any(map(is_skipped, walk_statements([statement]))):
        code = compile_statement(_without_skipped(statement), cell)
    return Statement(cell, lines, code, compile_statement(_marked(statement, number), cell))


def is_skipped(statement: ast.stmt) -> bool:
    """True for `dX = ...`, and for `del`, which would only remove what others read."""
    return isinstance(statement, ast.Delete) or is_blank(statement)


def split(statement: ast.stmt) -> list[ast.stmt]:
    """Split `a, b = x, y` in two, unless y reads a: then b may still be right if x raises."""
    match statement:
        case ast.Assign(
            [ast.Tuple(targets) | ast.List(targets)], ast.Tuple(values) | ast.List(values)
        ) if len(targets) == len(values) > 0:
            if any(isinstance(one, ast.Starred) for one in (*targets, *values)):
                return [statement]
            pieces = [
                piece
                for target, value in zip(targets, values, strict=True)
                for piece in split(ast.copy_location(ast.Assign([target], value), value))
            ]
            effects = [*map(read_effects, pieces)]
            clashes = any(
                not effects[later].reads.isdisjoint(effects[earlier].writes)
                for later in range(len(pieces))
                for earlier in range(later)
            )
            return [statement] if clashes else pieces
    return [statement]


def _without_skipped(statement: ast.stmt) -> ast.stmt:
    def prune(block: Sequence[ast.stmt]) -> list[ast.stmt]:
        kept = [_without_skipped(inner) for inner in block if not is_skipped(inner)]
        return kept or [ast.copy_location(ast.Pass(), statement)]

    return with_blocks(statement, prune)


def _marked(statement: ast.stmt, number: Mapping[ast.stmt, int]) -> ast.stmt:
    """Make a compound statement call MARK before each statement inside, and after each block."""

    def call(at: ast.stmt) -> ast.stmt:
        called = ast.Call(ast.Name(MARK, ast.Load()), [ast.Constant(number[at])], [])
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(called), at))

    def mark(block: Sequence[ast.stmt]) -> list[ast.stmt]:
        live = (inner for inner in block if not is_skipped(inner))
        pairs = ((call(inner), _marked(inner, number)) for inner in live)
        # After a block, the whole statement runs again, as with the test of a loop.
        return [*(one for pair in pairs for one in pair), call(statement)]

    return with_blocks(statement, mark)


def _names_of(statement: ast.stmt, gradients: Set[str]) -> tuple[Names, Names]:
    """The names that a statement's own line reads and writes, without its blocks."""
    shown = read_effects(statement)
    match statement:
        case ast.Expr(ast.Call(func=ast.Attribute(value=of))):
            # `parts.append(x)` is written for its effect, but `dX.sum(0)` has none.
            return shown.reads, shown.writes | root(of) - gradients - MODULES
    return shown.reads, shown.writes
