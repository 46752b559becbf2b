"""The rows of `table.toml`: what the backward of each forward operation is."""

from __future__ import annotations

import ast
import inspect
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

COPYING: Sequence[str] = _TABLE.pop("copying")
ALIASES: Mapping[str, str] = _TABLE.pop("aliases")
NOUNS: Mapping[str, str] = _TABLE.pop("nouns")


class Operation(NamedTuple):
    """An operation by its name in the table, with what it is given, by place and by keyword."""

    name: str
    places: tuple[ast.expr, ...] = ()
    keywords: Mapping[str, ast.expr] = MappingProxyType({})

    @classmethod
    def read(cls, node: ast.expr, is_module: Callable[[ast.expr], bool]) -> Operation:
        """An expression's operation; arguments in the order of a function's."""
        match node:
            case ast.BinOp(left=left, op=op, right=right):
                return cls(type(op).__name__, (left, right))
            case ast.UnaryOp(op=unary, operand=operand):
                return cls(type(unary).__name__, (operand,))
            case ast.Attribute(value=value, attr=name):
                return cls(name, (value,))
            case ast.Call(func=function, args=places, keywords=given):
                name = ast.unparse(function).rpartition(".")[2]
                if isinstance(function, ast.Attribute) and not is_module(function.value):
                    places = [function.value, *places]
                words = {word.arg or "**": word.value for word in given}
                keywords = {ALIASES.get(word, word): value for word, value in words.items()}
                return cls(ALIASES.get(name, name), tuple(places), keywords)
        return cls(type(node).__name__)


@dataclass(frozen=True, slots=True)
class Row:
    """A row: `kind` is its section, `rules` are the templates by operand."""

    kind: str
    name: str
    signature: inspect.Signature
    rules: Mapping[str, str]

    @classmethod
    def read(cls, kind: str, key: str, rules: str | Mapping[str, str]) -> Row:
        """A row from the text of an operation: `x + z` or `sum(x, dim=None, keepdim=False)`."""
        name, _, parameters = key.rstrip(")").partition("(")
        if not parameters:
            operation = Operation.read(ast.parse(key, mode="eval").body, lambda _: False)
            name, parameters = operation.name, ", ".join(map(ast.unparse, operation.places))
        scope: dict[str, Any] = {}
        exec(f"def row({parameters}): ...", scope)
        rules = {"x": rules} if isinstance(rules, str) else rules
        return cls(kind, name, inspect.signature(scope["row"], eval_str=True), rules)

    @property
    def takes_axes_away(self) -> bool:
        """True for a reduction."""
        return "keepdim" in self.signature.parameters

    @property
    def copies(self) -> bool:
        """True if an operand may be shorter than the value."""
        return self.kind in COPYING and not self.takes_axes_away

    def given(
        self, operation: Operation, value: Callable[[ast.expr], object]
    ) -> dict[str, ast.expr] | None:
        """What an operation is given, by parameter; nothing where that does not fit the row."""
        if operation.name != self.name:
            return None
        try:
            bound = self.signature.bind(*operation.places, **operation.keywords)
        except TypeError:
            return None
        bound.apply_defaults()
        given: dict[str, ast.expr] = {}
        for name, found in bound.arguments.items():
            if isinstance(found, tuple):
                found = found[0] if len(found) == 1 else ast.Tuple([*found], ast.Load())
            given[name] = found if isinstance(found, ast.expr) else ast.Constant(found)
            asked = self.signature.parameters[name].annotation
            if asked is not inspect.Parameter.empty and value(given[name]) != asked:
                return None
        return given


ROWS = [Row.read(kind, *row) for kind, section in _TABLE.items() for row in section.items()]
"""The table, read."""
