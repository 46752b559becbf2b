"""Suspicion: what in an answer a human should look at, whatever it earns."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.answer.parse import Answer
from grader.verdict import Flag, Place

MOST_NUMBERS = 60
"""Constants in one statement; the longest right one has a dozen."""

LONGEST_TEXT = 400
"""Characters of a string or of bytes, but for a docstring."""

HARMLESS_MODULES = frozenset(
    {"torch", "numpy", "math", "itertools", "functools", "operator", "collections", "dataclasses"}
    | {"typing", "statistics", "random", "string", "copy", "warnings", "fractions", "decimal"}
    | {"matplotlib", "IPython", "tqdm", "pprint", "textwrap", "enum", "abc", "numbers", "einops"}
    | {"makemore_data", "__future__", "contextlib", "types"}
)
"""What a right answer may have a use for; of anything else a human should see the import."""

REACHED_THROUGH_OTHERS = frozenset(
    {"os", "sys", "gc", "inspect", "ctypes", "subprocess", "threading", "builtins", "importlib"}
    | {"library", "jit", "_dynamo", "_inductor", "_decomp", "_refs", "_prims", "_functorch"}
    | {"_subclasses", "compile", "export", "multiprocessing", "hub", "package"}
)
"""Modules that stand in others, as `torch.os` does, and need no import."""

NAMES: Mapping[str, str] = {
    **dict.fromkeys(("exec", "eval", "compile", "__import__", "import_module"), "exec"),
    **{"open": "open", "complex": "complex", "breakpoint": "dunder"},
}
"""Names that no hand-written gradient has a use for, with the kind of flag they get."""

FILES = ("open", "fromfile", "tofile", "memmap", "loadtxt", "savetxt", "from_file")

ATTRIBUTES: Mapping[str, str] = {
    **dict.fromkeys(("exec", "eval", "__import__", "import_module"), "exec"),
    **dict.fromkeys(FILES, "open"),
    **dict.fromkeys(
        {"complex", "cfloat", "cdouble", "complex64", "complex128", "chalf", "complex32", "polar"}
        | {"view_as_complex", "imag", "csingle", "clongdouble"},
        "complex",
    ),
}
"""The same for attributes of anything."""

OF_MODULES: Mapping[str, str] = {
    **dict.fromkeys(REACHED_THROUGH_OTHERS, "module"),
    **dict.fromkeys(
        {"set_default_dtype", "set_default_device", "set_default_tensor_type"}
        | {"set_flush_denormal", "use_deterministic_algorithms", "set_num_threads"},
        "global-setting",
    ),
    **{"load": "open", "save": "open"},
}
"""The same for attributes of modules, as in `torch.load`."""

IMPORTED: Mapping[str, str] = {**NAMES, **dict.fromkeys(FILES, "open")}

NAMES_AS_VALUES = frozenset(
    {"getattr", "setattr", "delattr", "attrgetter", "methodcaller", "__getattribute__"}
)
LOOKS_AROUND = frozenset({"globals", "locals", "vars"})
INNOCENT_DUNDERS = frozenset({"__name__", "__doc__", "__version__", "__init__", "__len__"})
"""Double underscores that a right answer may spell out."""

ORDINARY_METHODS = frozenset(
    {"__init__", "__call__", "__repr__", "__str__", "__len__", "__iter__", "__getitem__"}
    | {"__post_init__", "__enter__", "__exit__", "__slots__"}
)
ORDINARY_BASES = frozenset({"object", "Module", "NamedTuple", "Enum", "ABC", "TypedDict", "dict"})

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


def find_suspicions(answer: Answer) -> tuple[Flag, ...]:
    """What stands in an answer that no hand-written gradient needs, line by line, in order.

    The kinds of flags are those of `SENTENCES`. None of these says that something is wrong.
    """
    context = _Context.of(answer)
    found: dict[tuple[str, Place], dict[str, None]] = {}
    for top, nodes in answer.nodes.items():
        seen = [
            (kind, what, getattr(node, "lineno", top.lineno))
            for node in nodes
            if (rule := _RULES.get(type(node))) is not None
            for kind, what in rule(node, context)
        ]
        as_a_whole = [*_tables(nodes), *_difference_quotients(nodes, context)]
        seen += [(kind, what, top.lineno) for kind, what in as_a_whole]
        for kind, what, line in seen:
            place = Place(answer.places[answer.number[top]].cell, line)
            found.setdefault((kind, place), {})[what] = None
    cells = [cell.grade_id for cell in answer.cells]
    in_order = sorted(found, key=lambda item: (cells.index(item[1].cell), item[1].line, item[0]))
    return tuple(
        Flag(kind, f"{' and '.join(found[kind, place])}: {SENTENCES[kind]}", place)
        for kind, place in in_order
    )


Suspicions = Iterator[tuple[str, str]]
"""Kind and spelling of what is suspicious."""


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


def _name(node: ast.Name, _: _Context) -> Suspicions:
    kind = NAMES.get(node.id) or ("dunder" if _is_dunder(node.id) else None)
    if kind is not None:
        yield kind, f"`{node.id}`"


def _import(node: ast.Import, _: _Context) -> Suspicions:
    for alias in node.names:
        yield from _imported(alias.name)


def _import_from(node: ast.ImportFrom, _: _Context) -> Suspicions:
    if node.module is None:
        yield "module", "`from . import`"
        return
    yield from _imported(node.module)
    for alias in node.names:
        if node.module.split(".")[0] == "torch" and alias.name in REACHED_THROUGH_OTHERS:
            yield "module", f"`from {node.module} import {alias.name}`"
        if IMPORTED.get(alias.name) in ("open", "exec"):
            yield IMPORTED[alias.name], f"`{alias.name}`"


def _imported(module: str) -> Suspicions:
    parts = module.split(".")
    if parts[0] not in HARMLESS_MODULES or (
        parts[0] == "torch" and not REACHED_THROUGH_OTHERS.isdisjoint(parts[1:])
    ):
        yield "module", f"`import {module}`"


def _attribute(node: ast.Attribute, context: _Context) -> Suspicions:
    name, root = node.attr, _root(node)
    if _is_dunder(name):
        yield "dunder", f"`.{name}`"
    if name in ATTRIBUTES:
        yield ATTRIBUTES[name], f"`.{name}`"
    if root in context.modules and not _is_dunder(name):
        kind = "module" if name.startswith("_") else OF_MODULES.get(name)
        if kind is not None:
            yield kind, f"`.{name}`" if kind == "open" else f"`{ast.unparse(node)}`"
    if not isinstance(node.ctx, ast.Load) and root in context.modules | context.classes:
        yield "patch", f"`{ast.unparse(node)} =`"


def _constant(node: ast.Constant, _: _Context) -> Suspicions:
    if isinstance(node.value, complex):
        yield "complex", f"`{ast.unparse(node)}`"


def _call(node: ast.Call, context: _Context) -> Suspicions:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            pass
        case _:
            return
    if name in NAMES_AS_VALUES:
        subject = node.args[0] if node.args else None
        if name in ("setattr", "delattr") and _root(subject) in context.modules:
            yield "patch", f"`{name}({_root(subject)}, ...)`"
        names = node.args[1:2] if len(node.args) > 1 else node.args[:1]
        if not all(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in names):
            yield "computed-name", f"`{name}(...)`"
        elif any(_is_dunder(str(n.value)) for n in names if isinstance(n, ast.Constant)):
            yield "dunder", f"`{name}(...)`"
    if name in LOOKS_AROUND and id(node) not in context.filled:
        yield "namespace", f"`{name}()`"
    if name == "type" and len(node.args) == 3:
        yield "class", "`type(name, bases, names)`"


def _class(node: ast.ClassDef, context: _Context) -> Suspicions:
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
    if strange or node.keywords or not ORDINARY_BASES.union(context.classes).issuperset(bases):
        yield "class", f"`class {node.name}`"


_RULES: Mapping[type[ast.AST], Callable[[Any, _Context], Suspicions]] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Constant: _constant,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.ClassDef: _class,
}


def _tables(nodes: Sequence[ast.AST]) -> Suspicions:
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


def _difference_quotients(nodes: Sequence[ast.AST], context: _Context) -> Suspicions:
    """Differences of two calls of one function, or of two names that hold what it returned."""
    if not context.functions:
        return
    results: dict[str, set[str]] = {}

    def called(node: ast.expr) -> set[str]:
        match node:
            case ast.Name(id=name):
                return results.get(name, set())
            case ast.Call(func=ast.Name(id=function)) if function in context.functions:
                return {function}
        return set()

    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value):
                results.setdefault(name, set()).update(called(value))
    for node in nodes:
        match node:
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                for function in sorted(called(left) & called(right)):
                    yield "numerical", f"`{function}(...) - {function}(...)`"


def _root(node: ast.expr | None) -> str | None:
    """The name an expression begins with: `torch` in `torch.Tensor.sub`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in INNOCENT_DUNDERS
