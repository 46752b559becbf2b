"""Suspicion: what in an answer a human should look at, whatever it earns."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from grader.answer import Answer
from grader.suspicious_words import (
    COMPLEX,
    GLOBAL_SETTINGS,
    HARMLESS_MODULES,
    INNOCENT_DUNDERS,
    LOOKS_AROUND,
    NAMES_AS_VALUES,
    OPENS,
    OPENS_WITH_TORCH,
    ORDINARY_BASES,
    ORDINARY_METHODS,
    REACHED_THROUGH_OTHERS,
    RUNS_TEXT,
    WORDS,
)
from grader.verdict import Flag, Place

MOST_NUMBERS = 60
"""Constants in one statement; the longest right one has a dozen."""

LONGEST_TEXT = 400
"""Characters of a string or of bytes, but for a docstring."""


def find_suspicions(answer: Answer) -> tuple[Flag, ...]:
    """What stands in an answer that no hand-written gradient needs, line by line, in order.

    Kinds: `module`, `dunder`, `exec`, `computed-name`, `namespace`, `open`, `patch`, `class`,
    `complex`, `global-setting`, `table`, `numerical`. None of these says that something is wrong.
    """
    watched = _Context.of(answer)
    found: dict[tuple[str, Place], dict[str, None]] = {}
    for top in answer.top:
        nodes = answer.nodes[top]
        seen = [
            (kind, what, getattr(node, "lineno", top.lineno))
            for node in nodes
            if _is_worth_a_look(node)
            for kind, what in _suspect(node, watched)
        ]
        for kind, what in _tables(nodes):
            seen.append((kind, what, top.lineno))
        if watched.functions:
            seen += [(*quotient, top.lineno) for quotient in _difference_quotients(nodes, watched)]
        for kind, what, line in seen:
            place = Place(answer.places[answer.number[top]].cell, line)
            found.setdefault((kind, place), {})[what] = None
    flags = [
        Flag(kind, f"{' and '.join(what)}: {SENTENCES[kind]}", place)
        for (kind, place), what in found.items()
    ]
    cells = [cell.grade_id for cell in answer.cells]
    return tuple(sorted(flags, key=lambda flag: _position(flag, cells)))


SENTENCES: Mapping[str, str] = {
    "module": "no gradient needs this module.",
    "dunder": "no gradient needs Python's inner workings.",
    "exec": "code in a string shows neither reader nor grader what it does.",
    "computed-name": "an attribute is looked up under a name that is computed.",
    "namespace": "names are looked up in a dictionary rather than written.",
    "open": "no gradient needs a file.",
    "patch": "this changes a module or a class of somebody else's.",
    "class": "a class with operators of its own, or one made from a class of PyTorch's.",
    "complex": "complex numbers can stand in for a derivative.",
    "global-setting": "this changes how everything after it computes.",
    "table": "values are written down, where a formula computes them.",
    "numerical": "a difference of two calls, as in numerical differentiation.",
}


def _position(flag: Flag, cells: Sequence[str]) -> tuple[int, int, str]:
    assert flag.place is not None
    return cells.index(flag.place.cell), flag.place.line, flag.kind


@dataclass(slots=True)
class _Context:
    """What the answer's names are: modules, functions of its own, attributes of its own classes."""

    modules: set[str] = field(default_factory=lambda: {"torch", "F", "math"})
    functions: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    filled: set[int] = field(default_factory=set)
    """Calls of `globals()` that only put names there: `globals().update(gradients)`."""

    @classmethod
    def of(cls, answer: Answer) -> _Context:
        found = cls()
        for nodes in answer.nodes.values():
            for node in nodes:
                if type(node) in _DEFINING:
                    found._note(node)
        return found

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.Import(names=names):
                self.modules |= {(n.asname or n.name).split(".")[0] for n in names}
            case ast.FunctionDef(name=name, args=arguments):
                # A parameter that is called is a function too.
                self.functions |= {name, *(argument.arg for argument in arguments.args)}
            case ast.Lambda(args=arguments):
                self.functions |= {argument.arg for argument in arguments.args}
            case ast.ClassDef(name=name):
                self.classes.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda()):
                self.functions.add(name)
            case (
                ast.Attribute(value=ast.Call() as call, attr="update")
                | ast.Subscript(value=ast.Call() as call, ctx=ast.Store())
            ):
                self.filled.add(id(call))


_DEFINING = frozenset(
    {ast.Import, ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.Assign, ast.Attribute}
    | {ast.Subscript}
)


def _is_worth_a_look(node: ast.AST) -> bool:
    """False for most nodes of an ordinary answer, of which there are thousands in a class."""
    kind = type(node)
    if kind is ast.Name:
        assert isinstance(node, ast.Name)
        return node.id in WORDS or node.id[:2] == "__"
    if kind is ast.Attribute:
        assert isinstance(node, ast.Attribute)
        return node.attr in WORDS or node.attr[0] == "_" or type(node.ctx) is not ast.Load
    if kind is ast.Call:
        function = node.func  # type: ignore[attr-defined]
        name = getattr(function, "id", None) or getattr(function, "attr", "")
        return name in WORDS
    if kind is ast.Constant:
        return type(node.value) is complex  # type: ignore[attr-defined]
    return kind in (ast.Import, ast.ImportFrom, ast.ClassDef)


def _suspect(node: ast.AST, watched: _Context) -> Iterator[tuple[str, str]]:
    """Kind and spelling of what is suspicious in one node of the syntax tree."""
    match node:
        case ast.Import(names=names):
            for alias in names:
                yield from _imported(alias.name)
        case ast.ImportFrom(module=str(module), names=names):
            yield from _imported(module)
            for alias in names:
                if module.split(".")[0] == "torch" and alias.name in REACHED_THROUGH_OTHERS:
                    yield "module", f"`from {module} import {alias.name}`"
                if alias.name in OPENS | RUNS_TEXT:
                    yield "open" if alias.name in OPENS else "exec", f"`{alias.name}`"
        case ast.ImportFrom(level=level) if level:
            yield "module", "`from . import`"
        case ast.Attribute():
            yield from _attribute(node, watched)
        case ast.Name(id=name):
            if name in RUNS_TEXT:
                yield "exec", f"`{name}`"
            elif name == "open":
                yield "open", "`open`"
            elif name == "complex":
                yield "complex", "`complex`"
            elif _is_dunder(name) or name == "breakpoint":
                yield "dunder", f"`{name}`"
        case ast.Call():
            yield from _call(node, watched)
        case ast.ClassDef():
            yield from _class(node, watched)
        case ast.Constant(value=complex()):
            yield "complex", f"`{ast.unparse(node)}`"


def _imported(module: str) -> Iterator[tuple[str, str]]:
    parts = module.split(".")
    if parts[0] not in HARMLESS_MODULES or (
        parts[0] == "torch" and not REACHED_THROUGH_OTHERS.isdisjoint(parts[1:])
    ):
        yield "module", f"`import {module}`"


def _attribute(node: ast.Attribute, watched: _Context) -> Iterator[tuple[str, str]]:
    name = node.attr
    root = _root(node)
    in_module = root in watched.modules
    if _is_dunder(name):
        yield "dunder", f"`.{name}`"
    elif in_module and (name in REACHED_THROUGH_OTHERS or name.startswith("_")):
        yield "module", f"`{ast.unparse(node)}`"
    if in_module and name in GLOBAL_SETTINGS:
        yield "global-setting", f"`{ast.unparse(node)}`"
    if name in COMPLEX:
        yield "complex", f"`.{name}`"
    if name in OPENS or (in_module and name in OPENS_WITH_TORCH):
        yield "open", f"`.{name}`"
    if name in RUNS_TEXT and name != "compile":
        yield "exec", f"`.{name}`"
    stored = isinstance(node.ctx, ast.Store | ast.Del)
    if stored and (in_module or (root is not None and root in watched.classes)):
        yield "patch", f"`{ast.unparse(node)} =`"


def _call(node: ast.Call, watched: _Context) -> Iterator[tuple[str, str]]:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            pass
        case _:
            return
    if name in NAMES_AS_VALUES:
        subject = node.args[0] if node.args else None
        if name in ("setattr", "delattr") and _root(subject) in watched.modules:
            yield "patch", f"`{name}({_root(subject)}, ...)`"
        names = node.args[1:2] if len(node.args) > 1 else node.args[:1]
        if not all(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in names):
            yield "computed-name", f"`{name}(...)`"
        elif any(_is_dunder(str(n.value)) for n in names if isinstance(n, ast.Constant)):
            yield "dunder", f"`{name}(...)`"
    if name in LOOKS_AROUND and id(node) not in watched.filled:
        yield "namespace", f"`{name}()`"
    if name == "type" and len(node.args) == 3:
        yield "class", "`type(name, bases, names)`"


def _class(node: ast.ClassDef, watched: _Context) -> Iterator[tuple[str, str]]:
    bases = [ast.unparse(base).split(".")[-1] for base in node.bases]
    methods = [inner.name for inner in node.body if isinstance(inner, ast.FunctionDef)]
    names = [
        target.id
        for inner in node.body
        if isinstance(inner, ast.Assign)
        for target in inner.targets
        if isinstance(target, ast.Name)
    ]
    strange = [n for n in (*methods, *names) if _is_dunder(n) and n not in ORDINARY_METHODS]
    if strange or node.keywords or not ORDINARY_BASES.union(watched.classes).issuperset(bases):
        yield "class", f"`class {node.name}`"


def _tables(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    numbers = 0
    documentation: set[int] = set()
    for node in nodes:
        if type(node) is ast.Expr:
            documentation.add(id(node.value))
        if type(node) is not ast.Constant:
            continue
        value = node.value
        if type(value) is int or type(value) is float:
            numbers += 1
            if type(value) is int and value.bit_length() > 256:
                yield "table", "a very large number"
        elif not isinstance(value, str | bytes) or id(node) in documentation:
            continue
        elif len(value) > LONGEST_TEXT:
            yield "table", f"a string of {len(value)} characters"
    if numbers > MOST_NUMBERS:
        yield "table", f"{numbers} numbers in one statement"


def _difference_quotients(nodes: Sequence[ast.AST], watched: _Context) -> Iterator[tuple[str, str]]:
    """Differences of two calls of one function, or of two names that hold what it returned."""
    called: dict[str, set[str]] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                called.setdefault(name, set()).update(_own_calls(value, watched))
    for node in nodes:
        match node:
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                both = _operand(left, called, watched) & _operand(right, called, watched)
                for function in sorted(both):
                    yield "numerical", f"`{function}(...) - {function}(...)`"


def _operand(node: ast.expr, called: Mapping[str, Set[str]], watched: _Context) -> set[str]:
    if isinstance(node, ast.Name):
        return set(called.get(node.id, ()))
    return set(_own_calls(node, watched))


def _own_calls(node: ast.expr, watched: _Context) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Name(id=function)) if function in watched.functions:
            yield function


def _root(node: ast.expr | None) -> str | None:
    """The name an expression begins with: `torch` in `torch.Tensor.sub`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in INNOCENT_DUNDERS
