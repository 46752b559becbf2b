"""What running a statement does to names: which it reads, binds, changes in place."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.sharing import (
    Sharing,
    alias_pairs,
    changed_in_place,
    root_name,
    shared_by_arguments,
)
from grader.worker.dynamic import DYNAMIC_NAMES

QUIET_FUNCTIONS = frozenset(
    {"print", "display", "cmp", "check", "board", "heat_map", "hint", "len", "repr", "type"}
)
"""Functions that are called for what they show, and change none of their arguments."""

MUTATING_METHODS = frozenset(
    {"append", "extend", "insert", "update", "setdefault", "pop", "popitem", "remove", "clear"}
    | {"discard", "reverse", "at", "fill", "__setitem__", "__iadd__", "__isub__", "__imul__"}
    | {"__itruediv__", "popleft", "appendleft", "put", "send", "__next__"}
)
"""Methods that change what they are called on. Not `add` and `sort`: of a tensor they do not, and
a set's or a list's are called for their own sake (see `Effects.touches`)."""

KNOWN_MODULES = frozenset({"math", "torch", "numpy", "operator", "itertools", "functools"})
"""Modules from which `import *` brings in nothing but themselves."""


@dataclass(slots=True)
class Effects:
    """Names a statement reads, binds anew, and changes in place.

    `touches` are those it may change in place: the arguments of a call whose result is thrown
    away. `aliases` are pairs of names that may share memory afterwards.
    """

    reads: set[str] = field(default_factory=set)
    binds: set[str] = field(default_factory=set)
    mutates: set[str] = field(default_factory=set)
    touches: set[str] = field(default_factory=set)
    aliases: set[tuple[str, str]] = field(default_factory=set)
    dynamic: bool = False

    def add(self, other: Effects) -> None:
        self.reads |= other.reads
        self.binds |= other.binds
        self.mutates |= other.mutates
        self.touches |= other.touches
        self.aliases |= other.aliases
        self.dynamic |= other.dynamic


@dataclass(frozen=True, slots=True)
class FunctionEffects:
    """What calling a function of the answer does to names outside it."""

    reads: frozenset[str]
    mutates: frozenset[str]
    mutates_arguments: bool


def find_effects(statement: ast.stmt, functions: Mapping[str, FunctionEffects]) -> Effects:
    """The effects of one statement with everything inside it.

    Args:
        statement: any statement; a `def` or `class` only binds its name.
        functions: the answer's own functions by name, from `find_functions`.
    """
    visitor = _Visitor(functions)
    visitor.visit(statement)
    return visitor.effects


def find_header_effects(statement: ast.stmt, functions: Mapping[str, FunctionEffects]) -> Effects:
    """The effects of a compound statement's own line: test, iterable, targets, contexts."""
    visitor = _Visitor(functions)
    for name, value in ast.iter_fields(statement):
        if name in ("body", "orelse", "finalbody"):
            continue
        if name in ("handlers", "cases"):
            for part in value:
                for inner_name, inner in ast.iter_fields(part):
                    if inner_name != "body":
                        visitor.visit_field(inner)
        else:
            visitor.visit_field(value)
    visitor.alias_loop_target(statement)
    return visitor.effects


def find_functions(tree: list[ast.stmt]) -> dict[str, FunctionEffects]:
    """The functions and classes an answer defines, with what they do to names outside them.

    Methods stand under their name with a dot before it, whatever their class.
    """
    functions: dict[str, FunctionEffects] = {}
    for node in (inner for statement in tree for inner in ast.walk(statement)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                functions[name] = _summarise(node.body, _parameters(node.args), functions)
            case ast.ClassDef(name=name, body=body):
                functions[name] = _summarise(body, set(), functions)
                for method in body:
                    if isinstance(method, ast.FunctionDef):
                        parameters = _parameters(method.args)
                        functions[f".{method.name}"] = _summarise(
                            method.body, parameters, functions
                        )
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as function):
                body = [ast.Expr(function.body)]
                functions[name] = _summarise(body, _parameters(function.args), functions)
    return functions


def _summarise(
    body: list[ast.stmt] | list[ast.Expr],
    parameters: set[str],
    functions: Mapping[str, FunctionEffects],
) -> FunctionEffects:
    effects = Effects()
    declared: set[str] = set()
    for statement in body:
        effects.add(find_effects(statement, functions))
        for node in ast.walk(statement):
            if isinstance(node, ast.Global | ast.Nonlocal):
                declared |= set(node.names)
            elif isinstance(node, ast.FunctionDef | ast.Lambda):
                # An inner function's effects count as the outer one's.
                inner_body = (
                    node.body if isinstance(node, ast.FunctionDef) else [ast.Expr(node.body)]
                )
                inner = _summarise(inner_body, _parameters(node.args), functions)
                effects.reads |= inner.reads
                effects.mutates |= inner.mutates
    local = (parameters | effects.binds) - declared
    everything = effects.reads | effects.binds | effects.mutates | parameters
    changed = Sharing(effects.aliases).related(everything, effects.mutates | effects.touches)
    return FunctionEffects(
        reads=frozenset(effects.reads - local),
        mutates=frozenset((changed - local) | (effects.binds & declared)),
        mutates_arguments=not changed.isdisjoint(parameters),
    )


def _parameters(arguments: ast.arguments) -> set[str]:
    return {node.arg for node in ast.walk(arguments) if isinstance(node, ast.arg)}


class _Visitor(ast.NodeVisitor):
    """Collects the effects of expressions and simple statements."""

    def __init__(self, functions: Mapping[str, FunctionEffects]) -> None:
        self.effects = Effects()
        self.functions = functions

    def generic_visit(self, node: ast.AST) -> None:
        """Visit what stands inside a node, but for operators and contexts: they do nothing."""
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                if value._fields:
                    self.visit(value)
            elif isinstance(value, list):
                self.visit_field(value)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Nothing."""

    def visit_field(self, value: object) -> None:
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST):
                self.visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.effects.binds.add(node.id)
            return
        self.effects.reads.add(node.id)
        self.effects.dynamic |= node.id in DYNAMIC_NAMES
        if function := self.functions.get(node.id):
            self.effects.reads |= function.reads
            self.effects.mutates |= function.mutates

    def _change_if_stored(self, node: ast.Attribute | ast.Subscript) -> None:
        root = root_name(node)
        if not isinstance(node.ctx, ast.Load) and root is not None:
            self.effects.mutates.add(root)
        self.generic_visit(node)

    visit_Attribute = visit_Subscript = _change_if_stored

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            self._alias(target, node.value)
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        self.effects.aliases |= {(names[0], name) for name in names[1:]}

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.target)
            self.visit(node.value)
            self._alias(node.target, node.value)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.generic_visit(node)
        self._alias(node.target, node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        root = root_name(node.target)
        if root is not None:
            # For a tensor, `dX += ...` changes the memory that dX shares with its aliases.
            self.effects.mutates.add(root)
            self.effects.reads.add(root)
        if not isinstance(node.target, ast.Name):
            self.visit(node.target)
        self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        self.generic_visit(node)
        if isinstance(node.value, ast.Call):
            call = node.value
            if isinstance(call.func, ast.Name) and call.func.id in QUIET_FUNCTIONS:
                return
            self.effects.touches |= shared_by_arguments(call)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(value=inner, attr=method):
                in_place = method.endswith("_") and not method.endswith("__")
                if in_place or method in MUTATING_METHODS:
                    self.effects.mutates |= changed_in_place(node, inner)
                if method_of_answer := self.functions.get(f".{method}"):
                    self.effects.reads |= method_of_answer.reads
                    self.effects.mutates |= method_of_answer.mutates
                    if method_of_answer.mutates_arguments:
                        self.effects.touches |= shared_by_arguments(node)
            case ast.Name(id="next"):
                self.effects.mutates |= shared_by_arguments(node)
        if self.functions:
            mentioned = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
            if any(f.mutates_arguments for name in mentioned if (f := self.functions.get(name))):
                self.effects.mutates |= shared_by_arguments(node)
        for keyword in node.keywords:
            if keyword.arg == "out" and (root := root_name(keyword.value)) is not None:
                self.effects.mutates.add(root)

    def _visit_comprehension(self, node: ast.expr) -> None:
        inner = _Visitor(self.functions)
        inner.generic_visit(node)
        targets = {
            name.id
            for comprehension in getattr(node, "generators", ())
            for name in ast.walk(comprehension.target)
            if isinstance(name, ast.Name)
        }
        inner.effects.reads -= targets
        inner.effects.binds -= targets
        self.effects.add(inner.effects)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension

    def visit_Lambda(self, node: ast.Lambda) -> None:
        summary = _summarise([ast.Expr(node.body)], _parameters(node.args), self.functions)
        self.effects.reads |= summary.reads
        self.effects.mutates |= summary.mutates

    def _visit_definition(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> None:
        self.effects.binds.add(node.name)
        names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        self.effects.dynamic |= not names.isdisjoint(DYNAMIC_NAMES)
        self.visit_field(node.decorator_list)
        # What is read when the definition runs, not when it is called.
        if isinstance(node, ast.ClassDef):
            self.visit_field([*node.bases, *(keyword.value for keyword in node.keywords)])
        else:
            self.visit_field([*node.args.defaults, *node.args.kw_defaults])

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _visit_definition

    def visit_Import(self, node: ast.Import) -> None:
        self.effects.binds |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        names = {alias.asname or alias.name for alias in node.names}
        self.effects.dynamic |= "*" in names and node.module not in KNOWN_MODULES
        self.effects.binds |= names

    def visit_For(self, node: ast.For) -> None:
        self.generic_visit(node)
        self.alias_loop_target(node)

    def alias_loop_target(self, node: ast.stmt) -> None:
        if isinstance(node, ast.For):
            self._alias(node.target, node.iter)

    def _alias(self, target: ast.expr, value: ast.expr) -> None:
        self.effects.aliases |= set(alias_pairs(target, value))
