"""Suspicion: what in an answer a human should look at, whatever it earns."""

from __future__ import annotations

import ast
import itertools
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from grader.answer import suspicious_words as words
from grader.answer.parse import Answer
from grader.verdict import Flag, Place

LARGEST_CONSTANTS = 2_000
"""Bytes of all constants in one statement, a number's 28 of them; docstrings do not count."""

AUTOGRAD = frozenset({"autograd", "grad"})
"""Kinds of suspicions about autograd: that it is asked, that its answer is read."""


class Suspicion(NamedTuple):
    """What stands in one line of an answer: its kind, the number of its statement, the flag."""

    kind: str
    statement: int
    flag: Flag


def find_suspicions(answer: Answer) -> list[Suspicion]:
    """What stands in an answer that no hand-written gradient needs, line by line, in order.

    None of it says that something is wrong. Kinds are those of `words.SENTENCES` and `AUTOGRAD`.
    What shows here of autograd says only where: the worker has switched it off.
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
    message = f"{' and '.join(what)}: {words.SENTENCES[flagged]}"
    return Suspicion(kind, number, Flag(flagged, message, Place(answer.places[number].cell, line)))


Suspicions = Iterator[tuple[str, str]]
"""Kind and spelling of what is suspicious."""


@dataclass(slots=True)
class _Context:
    """What the answer's names are: modules, functions and attributes of its own."""

    modules: set[str] = field(default_factory=lambda: {"torch", "F", "math"})
    functions: set[str] = field(default_factory=set)
    texts: dict[str, list[str]] = field(default_factory=dict)
    """Texts written down for a name to run through, or for a parameter to have."""
    innocent: set[int] = field(default_factory=set)
    """Calls of `globals()` that only put names there, `torch.func` for its `vmap`,
    `torch.autograd` for its `profiler`, usual dtypes."""

    @classmethod
    def of(cls, answer: Answer) -> _Context:
        found = cls()
        every = itertools.chain.from_iterable(answer.nodes.values())
        for node in (node for node in every if type(node) in _DEFINING):
            match node:
                case ast.Import(names=names):
                    found.modules |= {(n.asname or n.name).split(".")[0] for n in names}
                case ast.FunctionDef(name=name, args=arguments):
                    found.functions.add(name)
                    defaults = arguments.defaults[::-1]
                    for argument, default in zip(arguments.args[::-1], defaults, strict=False):
                        found.write_down(argument, [default])
                case (
                    ast.For(target=target, iter=ast.Tuple(elts=texts) | ast.List(elts=texts))
                    | ast.comprehension(
                        target=target, iter=ast.Tuple(elts=texts) | ast.List(elts=texts)
                    )
                ):
                    found.write_down(target, texts)
                case (
                    ast.Attribute(value=ast.Call() as used, attr="update")
                    | ast.Subscript(value=ast.Call() as used, ctx=ast.Store())
                    | ast.Attribute(value=ast.Attribute() as used, attr="vmap" | "profiler")
                    | ast.Call(
                        func=ast.Attribute(attr="set_default_dtype") as used,
                        args=[ast.Attribute(attr="float32" | "float64" | "double")],
                    )
                ):
                    found.innocent.add(id(used))
                case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                    found.functions.add(name)
        return found

    def write_down(self, target: ast.AST, values: Sequence[ast.expr]) -> None:
        """Note the texts that a loop's name or a parameter is given, if all are written out."""
        name = getattr(target, "id", getattr(target, "arg", ""))
        texts = [value.value for value in values if isinstance(value, ast.Constant)]
        if texts and len(texts) == len(values) and {*map(type, texts)} == {str}:
            self.texts[name] = [*self.texts.get(name, ()), *map(str, texts)]


_DEFINING = frozenset(
    {ast.Import, ast.FunctionDef, ast.Attribute, ast.Subscript, ast.Call}
    | {ast.For, ast.comprehension}
)


def _name(node: ast.Name, _: _Context) -> Suspicions:
    kind = words.NAMES.get(node.id) or ("dunder" if _is_dunder(node.id) else None)
    if kind is not None:
        yield kind, f"`{node.id}`"


def _import(node: ast.Import, _: _Context) -> Suspicions:
    for alias in node.names:
        if words.ENGINE_MODULES.match(alias.name):
            yield "autograd", f"`import {alias.name}`"
        else:
            yield from _imported(alias.name)


def _import_from(node: ast.ImportFrom, _: _Context) -> Suspicions:
    if node.module is None:
        yield "module", "`from . import`"
        return
    yield from _imported(node.module)
    for alias in node.names:
        name, is_of_torch = alias.name, node.module.split(".")[0] == "torch"
        if words.ENGINE_MODULES.match(f"{node.module}.{name}") or (is_of_torch and _asks(name)):
            yield "autograd", f"`from {node.module} import {name}`"
        elif is_of_torch and name in words.REACHED_THROUGH_OTHERS:
            yield "module", f"`from {node.module} import {name}`"
        if name in words.ATTRIBUTES:
            yield words.ATTRIBUTES[name], f"`{name}`"


def _imported(module: str) -> Suspicions:
    parts = module.split(".")
    if parts[0] not in words.HARMLESS_MODULES or (
        parts[0] == "torch" and not words.REACHED_THROUGH_OTHERS.isdisjoint(parts[1:])
    ):
        yield "module", f"`import {module}`"


def _asks(name: str) -> str | None:
    """The kind of suspicion about autograd that an attribute is."""
    if name in words.ASKING or words.BACKWARD_OPERATOR.search(name):
        return "autograd"
    return "grad" if name in words.ANSWERS else None


def _attribute(node: ast.Attribute, context: _Context) -> Suspicions:
    path, name = _path(node), node.attr
    root, dotted = path[0], ".".join(path)
    # A `Layer` may have a `backward`, a node a `grad`.
    is_own = name in context.functions and root not in ("torch", "loss")
    is_free = is_own or id(node) in context.innocent
    if (asks := _asks(name)) and not is_free and isinstance(node.ctx, ast.Load):
        # `torch.autograd.grad` reads no answer.
        yield "autograd" if "autograd" in path[:-1] else asks, f"`.{name}`"
    if name == "func" and root == "torch" and id(node) not in context.innocent:
        yield "autograd", "`torch.func`"
    if _is_dunder(name) and path[:-1] != ["self"]:
        yield "dunder", f"`.{name}`"
    if name in words.ATTRIBUTES:
        yield words.ATTRIBUTES[name], f"`.{name}`"
    if root in context.modules and not name.startswith("__"):
        kind = "module" if name.startswith("_") else words.OF_MODULES.get(name)
        if kind is not None and id(node) not in context.innocent:
            yield kind, f"`.{name}`" if kind == "open" else f"`{dotted}`"
    is_patch = root in context.modules and path[:2] != ["torch", "backends"]
    if is_patch and not isinstance(node.ctx, ast.Load):
        yield "patch", f"`{dotted} =`"


def _assign(node: ast.Assign, _: _Context) -> Suspicions:
    targets = {getattr(target, "attr", None) for target in node.targets}
    if "requires_grad" in targets and not _is_false(node.value):
        yield "autograd", "`.requires_grad =`"


def _call(node: ast.Call, context: _Context) -> Suspicions:
    if any(k.arg == "requires_grad" and not _is_false(k.value) for k in node.keywords):
        yield "autograd", "`requires_grad=`"
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            pass
        case _:
            return
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    root = _path(node.args[0])[0] if node.args else ""
    if name in ("requires_grad_", "set_grad_enabled") and not (
        values and all(map(_is_false, values))
    ):
        yield "autograd", f"`.{name}`"
    if name in words.NAMES_AS_VALUES:
        if name in ("setattr", "delattr") and root in context.modules:
            yield "patch", f"`{name}({root}, ...)`"
        names = node.args[1:2] if len(node.args) > 1 else node.args[:1]
        texts = [n.value for n in names if isinstance(n, ast.Constant) and type(n.value) is str]
        texts += context.texts.get(getattr(names[0], "id", ""), []) if names else []
        if names and not texts and root != "self":
            yield "computed-name", f"`{name}(...)`"
        for part in itertools.chain.from_iterable(text.split(".") for text in map(str, texts)):
            if kind := "dunder" if _is_dunder(part) else _asks(part):
                yield kind, f'`{name}(..., "{part}")`'
    is_own = name == "vars" and root not in {"", *context.modules}
    if name in words.LOOKS_AROUND and not is_own and id(node) not in context.innocent:
        yield "namespace", f"`{name}()`"


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
        yield "table", f"constants of {size} bytes in one statement"


def _path(node: ast.expr) -> list[str]:
    """The names of `torch.Tensor.sub`; not by `ast.unparse`, which some code makes raise."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id if isinstance(node, ast.Name) else "", *reversed(names)]


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in words.INNOCENT_DUNDERS


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
