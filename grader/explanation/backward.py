"""A backward function, read as an answer that the grader can judge."""

from __future__ import annotations

import ast
import inspect
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import Any

from grader.answer.parse import AnswerCell
from grader.answer.statements import stored_names, walk_names, walk_statements
from grader.program.forward_program import NotAForwardProgram
from grader.program.parse import source_of
from grader.worker.terms import DYNAMIC_NAMES

WHOLE = "_returned"
"""What a returned value is called that is not taken apart where it is returned."""

Key = int | str | None
"""Where a gradient is in what was returned: a place, a key, or None for the whole."""


@dataclass(frozen=True, slots=True, eq=False)
class Backward:
    """The source of a backward function.

    `text` is its file up to its end, so that each line has its own number; `file` is what the
    file is called.
    """

    function: Callable[..., Any]
    definition: ast.FunctionDef
    text: str
    file: str
    is_cell: bool = False
    """Whether it is a notebook's cell, which need not have all gradients yet."""
    is_call: bool = False
    """Whether it cannot be read, such as a kernel; then this is a function that calls it."""

    @classmethod
    def of(cls, function: Callable[..., Any], known: Set[str], order: Sequence[str]) -> Backward:
        """Read a function, or write one that calls it.

        Args:
            function: in Python or not.
            known: the names that it may ask for.
            order: what it is called with if it does not say what its arguments are.
        """
        function = inspect.unwrap(function)
        try:
            definition, text = source_of(function)
        except NotAForwardProgram:
            return cls._call_of(function, known, order)
        return cls(function, definition, text, _shown_file(function))

    @classmethod
    def _call_of(
        cls, function: Callable[..., Any], known: Set[str], order: Sequence[str]
    ) -> Backward:
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):  # of C++, it often has none
            parameters = MappingProxyType({})
        asked = [name for name, one in parameters.items() if one.default is one.empty]
        given = ", ".join(asked if asked and known >= {*asked} else order)
        name = getattr(function, "__name__", "")
        name = name if name.isidentifier() and name not in known else "backward"
        text = f"def {name}({given}):\n    return {name}({given})"
        made: dict[str, Any] = {}
        exec(compile(text, f"<a call of {name}>", "exec"), made)
        caller = FunctionType(made[name].__code__, {**made, name: function}, name)
        definition = ast.parse(text).body[0]
        assert isinstance(definition, ast.FunctionDef)
        return cls(caller, definition, text, f"a call of {name}", is_call=True)

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """Its parameters by name, in order."""
        return inspect.signature(self.function).parameters

    def at(self, line: int) -> str:
        """What a sentence about one of its lines begins with."""
        return f"{self.definition.name}, line {line}"

    @property
    def body(self) -> list[ast.stmt]:
        """Its statements, without the docstring."""
        return self.definition.body[ast.get_docstring(self.definition) is not None :]

    @property
    def returns(self) -> list[ast.Return]:
        """Its return statements, those in branches and loops too."""
        return [one for one in walk_statements(self.body) if isinstance(one, ast.Return)]

    @property
    def is_straight(self) -> bool:
        """Whether it ends at its end: only then its statements can be run one by one."""
        return not self.returns or self.returns == self.body[-1:]

    @property
    def _names(self) -> list[ast.Name]:
        return [*walk_names(*self.body)]

    @property
    def mentioned(self) -> dict[str, list[int]]:
        """The names in it, each with the lines where it stands, the first of them first."""
        lines: dict[str, list[int]] = {}
        for name in self._names:
            lines[name.id] = sorted([*lines.get(name.id, ()), name.lineno])
        return lines

    @property
    def read(self) -> frozenset[str]:
        """The names whose values are used in it."""
        return frozenset(name.id for name in self._names if isinstance(name.ctx, ast.Load))

    @property
    def assigned(self) -> frozenset[str]:
        """The names that its statements assign, if they can be run one by one."""
        return self.own - self.parameters.keys() if self.is_straight else frozenset()

    def place(self, name: str) -> tuple[int, int]:
        """Where a name is assigned first, as a line and a column; behind all lines if nowhere."""
        stored = (
            (one.lineno, one.col_offset)
            for one in self._names
            if isinstance(one.ctx, ast.Store) and one.id == name
        )
        return min(stored, default=(self.definition.end_lineno or 0, 0))

    @property
    def own(self) -> frozenset[str]:
        """The names that it or a function in it has for its own, the parameters among them."""
        nodes = ast.walk(self.definition)
        arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
        code = self.function.__code__  # it knows what imports and `except` bind, too
        return stored_names(self.definition) | arguments | {*code.co_varnames, *code.co_cellvars}

    @property
    def scope(self) -> dict[str, Any]:
        """What the names in it mean that it finds outside itself."""
        free = inspect.getclosurevars(self.function).nonlocals
        outside = {**self.function.__globals__, **free}
        names = self.mentioned.keys() - self.own
        if not DYNAMIC_NAMES.isdisjoint(names):
            return outside
        return {name: value for name, value in outside.items() if name in names}

    def answer(self, returned: Mapping[Key, str]) -> AnswerCell:
        """Its statements, each in its own line, with an assignment for what it returns.

        Args:
            returned: the gradients that it returns, by where they are in what it returns.
        """
        lines = self.text.split("\n")
        if not self.is_straight:
            code = _dedented(lines, self.definition)
            given = ", ".join(f"{name}={name}" for name in self.parameters)
            call = f"{WHOLE} = {self.definition.name}({given})"
            return AnswerCell(self.file, "\n".join([*code, call, *_taken_apart(returned)]))
        code = _dedented(lines, self.body[0])
        if not self.returns:
            return AnswerCell(self.file, "\n".join(code))
        last = self.returns[0]
        before = code[last.lineno - 1][: max(0, last.col_offset - self.body[0].col_offset)]
        text = "\n".join([*code[: last.lineno - 1], before.rstrip("; ")])
        for line, statement in self._assignments(last, returned):
            further = "\n" * (line - 1 - text.count("\n"))
            text += further or ("; " if text.rpartition("\n")[2].strip() else "")
            text += statement
        return AnswerCell(self.file, text)

    def _assignments(
        self, last: ast.Return, returned: Mapping[Key, str]
    ) -> Iterator[tuple[int, str]]:
        """The assignments that stand for a return statement, each with the line it begins in."""
        parts = dict(shown_parts(last.value))
        if not returned.keys() <= parts.keys():
            parts = {None: last.value} if last.value is not None else {}
        found = {name: parts[key] for key, name in returned.items() if key in parts}
        if parts and not found and returned:
            yield last.lineno, f"{WHOLE} = {self._source(parts[None])}"
            for statement in _taken_apart(returned):
                yield last.lineno, statement
            return
        # `return dx, dW` says nothing new.
        new = {name: one for name, one in found.items() if ast.unparse(one) != name}
        reads = {gradient: {name.id for name in walk_names(one)} for gradient, one in new.items()}
        if any(reads[gradient] & new.keys() - {gradient} for gradient in new):
            # Each is returned as it was before the others were.
            values = ", ".join(map(self._source, new.values()))
            yield last.lineno, f"{', '.join(new)} = {values}"
            return
        for gradient, one in new.items():
            yield one.lineno, f"{gradient} = {self._source(one)}"

    def _source(self, node: ast.expr) -> str:
        source = ast.get_source_segment(self.text, node) or ast.unparse(node)
        return f"({source})" if "\n" in source or isinstance(node, ast.Tuple) else source


def shown_parts(value: ast.expr | None) -> Iterator[tuple[Key, ast.expr]]:
    """The gradients that a return statement shows, each with where it is in what is returned."""
    match value:
        case None:
            return
        case ast.Tuple(elts=several) | ast.List(elts=several) if not any(
            isinstance(one, ast.Starred) for one in several
        ):
            yield from enumerate(several)
        case ast.Dict(keys=keys, values=values):
            for key, one in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, one
        case ast.Call(func=ast.Name("dict"), args=[], keywords=named):
            yield from ((one.arg, one.value) for one in named if one.arg)
        case _:
            yield None, value


def _taken_apart(returned: Mapping[Key, str]) -> list[str]:
    return [
        f"{gradient} = {WHOLE}" + ("" if key is None else f"[{key!r}]")
        for key, gradient in returned.items()
    ]


def _dedented(lines: Sequence[str], first: ast.stmt) -> list[str]:
    """The lines from a statement on, moved to the margin; those before are empty."""
    before, column = first.lineno - 1, first.col_offset
    moved = [line[column:] if line[:column].isspace() else line for line in lines[before + 1 :]]
    return [*[""] * before, lines[before].encode()[column:].decode(), *moved]


def _shown_file(function: Callable[..., Any]) -> str:
    """A function's file as a report names it."""
    path = Path(inspect.getsourcefile(function) or "")
    # Where a notebook's cells seem to stand; in IPython they have no file at all.
    temporary = Path(tempfile.gettempdir()).resolve() / "ipykernel_"
    if not path.is_file() or str(path.resolve()).startswith(str(temporary)):
        return "its cell"
    path = path.resolve()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else path.name
