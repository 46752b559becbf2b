"""Suspicions: the lines of an answer that a human should look at, whatever points it earns."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from grader.answer.parse import Answer
from grader.verdict import Flag, Place

_WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

ASKING, ANSWERS = frozenset[str](_WORDS["asking"]), frozenset[str](_WORDS["answers"])
HARMLESS_MODULES = frozenset[str](_WORDS["harmless_modules"])
REACHED_THROUGH_OTHERS = frozenset[str](_WORDS["reached_through_others"])
INNER_NAMES = frozenset[str](_WORDS["inner_names"])
INNER_ATTRIBUTES = frozenset[str](_WORDS["inner_attributes"])
NAMES_AS_VALUES = frozenset[str](_WORDS["names_as_values"])
INNOCENT_DUNDERS = frozenset[str](_WORDS["innocent_dunders"])
SENTENCES: Mapping[str, str] = _WORDS["sentences"]

ENGINE_MODULES = re.compile(
    r"torch\.(autograd|func|_C|ops|nn\.grad|_functorch|_decomp|fx|utils\.checkpoint)\b|functorch\b"
)
"""Modules that compute derivatives."""

INNOCENT = re.compile(r"\b(autograd\.profiler|func\.vmap)\b")
"""The parts of such a module that compute none."""

PRIVATE = re.compile("_(?!_)|" + "|".join(f"{name}$" for name in REACHED_THROUGH_OTHERS))
"""The parts of modules that a gradient never needs."""

BACKWARD_OPERATOR = re.compile(r"_backward(_|$)|backward_data")
"""The names of the aten operators of which autograd's own backward pass consists."""

LARGEST_CONSTANTS = 2_000
"""The bytes that one statement's constants may have. A number has 28; docstrings do not count."""

AUTOGRAD = frozenset({"autograd", "grad"})
"""The kinds of suspicion about autograd: it is called, or its results are read."""

TABLE = "table"
"""The kind that means nothing in lines that make no gradient, as in notes, checks and pictures."""


class Suspicion(NamedTuple):
    """A suspicion about one line of an answer: its kind, its statement's number and the flag."""

    kind: str
    statement: int
    flag: Flag


def find_suspicions(answer: Answer) -> list[Suspicion]:
    """Find the code in an answer that a hand-written gradient never needs, line by line, in order.

    None of it proves cheating. The kinds are those of `SENTENCES` and `AUTOGRAD`. Since the worker
    has switched autograd off, a suspicion about it only says where it was called.
    """
    context = _Context.of(answer)
    found: dict[tuple[int, int, str], dict[str, None]] = {}
    for top, nodes in answer.nodes.items():
        seen = [
            (kind, what, getattr(node, "lineno", top.lineno))
            for node in nodes
            if (rule := _RULES.get(type(node))) is not None
            for kind, what in rule(node, context)
        ]
        seen += [(kind, what, top.lineno) for kind, what in _tables(nodes)]
        if seen:
            first, inside = answer.number[top], len(answer.inside[top])
            lines = [statement.lineno for statement in answer.statements[first : first + inside]]
        for kind, what, line in seen:
            number = first + max(0, bisect_right(lines, line) - 1)
            found.setdefault((number, line, kind), {})[what] = None
    return [_suspicion(answer, *place, what) for place, what in sorted(found.items())]


def _suspicion(answer: Answer, number: int, line: int, kind: str, what: Iterable[str]) -> Suspicion:
    flagged = "autograd" if kind == "grad" else kind
    message = f"{' and '.join(what)}: {SENTENCES[flagged]}"
    return Suspicion(kind, number, Flag(flagged, message, Place(answer.places[number].cell, line)))


Suspicions = Iterator[tuple[str, str]]
"""Kind and spelling of what is suspicious."""


@dataclass(frozen=True, slots=True)
class _Context:
    """The names that an answer gives to modules, and the names that it defines itself.

    `inside` holds the attributes that are not the last of their path, such as `a.b` of `a.b.c`.
    """

    modules: frozenset[str]
    defined: frozenset[str]
    inside: frozenset[ast.AST]

    @classmethod
    def of(cls, answer: Answer) -> _Context:
        modules, defined, inside = {"torch", "F", "math"}, set[str](), set[ast.AST]()
        for node in chain.from_iterable(answer.nodes.values()):
            match node:
                case ast.Attribute(value=value, attr=name):
                    inside.add(value)
                    if isinstance(node.ctx, ast.Store) and _path(value) == ["self"]:
                        defined.add(name)
                case ast.Import(names=names):
                    modules |= {(n.asname or n.name).split(".")[0] for n in names}
                case ast.FunctionDef(name=name):
                    defined.add(name)
        return cls(frozenset(modules), frozenset(defined), frozenset(inside))


def _name(node: ast.Name, _: _Context) -> Suspicions:
    if node.id in INNER_NAMES or _is_dunder(node.id):
        yield "dunder", f"`{node.id}`"


def _import(node: ast.Import, _: _Context) -> Suspicions:
    for alias in node.names:
        yield from _imported(alias.name, f"`import {alias.name}`")


def _import_from(node: ast.ImportFrom, _: _Context) -> Suspicions:
    module = node.module or ""
    for alias in node.names:
        spelling = f"`from {module or '.'} import {alias.name}`"
        yield from _imported(f"{module}.{alias.name}", spelling)
        if alias.name in INNER_ATTRIBUTES:
            yield "dunder", spelling


def _imported(path: str, spelling: str) -> Suspicions:
    path = INNOCENT.sub("", path)
    first, *parts = path.split(".")
    if ENGINE_MODULES.match(path) or (first == "torch" and any(map(_asks, parts))):
        yield "autograd", spelling
    elif first not in HARMLESS_MODULES or (
        first == "torch" and not REACHED_THROUGH_OTHERS.isdisjoint(parts)
    ):
        yield "module", spelling


def _asks(name: str) -> str | None:
    """The kind of suspicion about autograd that an attribute raises, if any."""
    if name in ASKING or BACKWARD_OPERATOR.search(name):
        return "autograd"
    return "grad" if name in ANSWERS else None


def _attribute(node: ast.Attribute, context: _Context) -> Suspicions:
    if node in context.inside:
        return
    root, *names = _path(node)
    asked = INNOCENT.sub("", ".".join([root, *names])).split(".")[1:]
    if not isinstance(node.ctx, ast.Load):
        asked = asked[:-1]
    if root not in ("torch", "loss"):  # a `Layer` may have a `backward`, a node a `grad`
        asked = [name for name in asked if name not in context.defined]
    kinds = {name: kind for name in asked if (kind := _asks(name))}
    if root == "torch" and "func" in asked:
        kinds["func"] = "autograd"
    for name in kinds:  # `torch.autograd.grad` reads no answer
        yield "autograd" if "autograd" in kinds.values() else "grad", f"`.{name}`"
    for name in names:
        if name in INNER_ATTRIBUTES or (_is_dunder(name) and root != "self"):
            yield "dunder", f"`.{name}`"
        elif root in context.modules and PRIVATE.match(name):
            yield "module", f"`{root}.{'.'.join(names)}`"


def _assign(node: ast.Assign, _: _Context) -> Suspicions:
    targets = {getattr(target, "attr", None) for target in node.targets}
    if "requires_grad" in targets and not _is_false(node.value):
        yield "autograd", "`.requires_grad =`"


def _call(node: ast.Call, _: _Context) -> Suspicions:
    if any(k.arg == "requires_grad" and not _is_false(k.value) for k in node.keywords):
        yield "autograd", "`requires_grad=`"
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    if name in ("requires_grad_", "set_grad_enabled") and not (
        values and all(map(_is_false, values))
    ):
        yield "autograd", f"`.{name}`"
    if name in NAMES_AS_VALUES:
        texts = (one.value for one in node.args[:2] if isinstance(one, ast.Constant))
        for part in chain.from_iterable(str(text).split(".") for text in texts):
            if kind := "dunder" if _is_dunder(part) else _asks(part):
                yield kind, f'`{name}(..., "{part}")`'


_RULES: Mapping[type[ast.AST], Callable[[Any, _Context], Suspicions]] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Assign: _assign,
    ast.Call: _call,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
}


def _tables(nodes: Sequence[ast.AST]) -> Suspicions:
    notes = {id(node.value) for node in nodes if type(node) is ast.Expr}
    values = (node for node in nodes if type(node) is ast.Constant and id(node) not in notes)
    size = sum(sys.getsizeof(node.value) for node in values)
    if size > LARGEST_CONSTANTS:
        yield TABLE, f"constants of {size} bytes in one statement"


def _path(node: ast.expr) -> list[str]:
    """The names in `torch.Tensor.sub`, without `ast.unparse`, which raises on some code."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id if isinstance(node, ast.Name) else "", *reversed(names)]


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in INNOCENT_DUNDERS


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
