"""Sharing: through which names an answer may reach the same memory."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set

MODULES = frozenset({"torch", "F", "np", "numpy", "math", "operator", "itertools", "functools"})
"""Names of modules: `torch.add(a, b, out=c)` changes c, not torch."""

VIEW_METHODS = frozenset(
    {"view", "view_as", "reshape", "reshape_as", "flatten", "ravel", "unflatten", "squeeze"}
    | {"unsqueeze", "expand", "expand_as", "t", "transpose", "permute", "swapaxes", "movedim"}
    | {"detach", "contiguous", "numpy", "cpu", "float", "to", "type_as", "requires_grad_"}
    | {"select", "narrow", "unbind", "split", "chunk", "diagonal", "unfold", "as_strided"}
    | {"swapdims", "moveaxis", "broadcast_to", "tensor_split", "adjoint", "positive", "type"}
    | {"get", "items", "values", "from_numpy", "as_tensor", "asarray"}
)
"""Methods whose result may share memory with what they are called on."""

PASSING_FUNCTIONS = frozenset({"zip", "enumerate", "reversed", "iter", "next", "list", "tuple"})
"""Built-in functions that hand on what they are given."""


class Sharing:
    """A partition of names: those of one part may share memory."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._part: dict[str, int] = {}
        self.link(pairs)

    def copy(self) -> Sharing:
        copied = Sharing()
        copied._part = dict(self._part)
        return copied

    def link(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Join the parts of each pair's names."""
        for first, second in pairs:
            # Not their count: parts that were forgotten leave gaps.
            unused = max(self._part.values(), default=0) + 1
            kept = self._part.setdefault(first, unused)
            joined = self._part.setdefault(second, kept)
            if joined != kept:
                for name, part in self._part.items():
                    if part == joined:
                        self._part[name] = kept

    def forget(self, names: Iterable[str]) -> None:
        """Take out names that are bound anew; what they linked stays linked."""
        for name in names:
            self._part.pop(name, None)

    def related(self, names: Set[str], wanted: Set[str]) -> set[str]:
        """Those among `names` that are wanted, or may share memory with a name that is."""
        parts = {self._part[name] for name in wanted if name in self._part}
        return {name for name in names if name in wanted or self._part.get(name) in parts}


def root_name(node: ast.expr) -> str | None:
    """The name that `name.attribute[index].method()` begins with."""
    while True:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Starred(value=inner):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner)):
                node = inner
            case _:
                return None


def shared_names(node: ast.expr) -> Iterator[str]:
    """The names whose memory the value of an expression may share."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Starred(value=inner):
            yield from shared_names(inner)
        case ast.NamedExpr(value=inner):
            yield from shared_names(inner)
        case ast.IfExp(body=body, orelse=orelse):
            yield from shared_names(body)
            yield from shared_names(orelse)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.BoolOp(values=parts):
            for part in parts:
                yield from shared_names(part)
        case ast.Dict(values=values):
            for value in values:
                yield from shared_names(value)
        case ast.Call(func=ast.Attribute(value=inner, attr=method), args=arguments):
            if method in VIEW_METHODS or method.endswith("_"):
                of_module = isinstance(inner, ast.Name) and inner.id in MODULES
                for shared in arguments[:1] if of_module else [inner]:
                    yield from shared_names(shared)
        case ast.Call(func=ast.Name(id=function), args=arguments) if function in PASSING_FUNCTIONS:
            for argument in arguments:
                yield from shared_names(argument)


def alias_pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, str]]:
    """The pairs of names that `target = value` may make share memory."""
    match target, value:
        case (
            (ast.Tuple(elts=targets) | ast.List(elts=targets)),
            (ast.Tuple(elts=values) | ast.List(elts=values)),
        ) if len(targets) == len(values):
            for inner_target, inner_value in zip(targets, values, strict=True):
                yield from alias_pairs(inner_target, inner_value)
        case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), _):
            for inner_target in targets:
                yield from alias_pairs(inner_target, value)
        case _:
            root = root_name(target)
            if root is not None:
                yield from ((root, name) for name in shared_names(value))


def shared_by_arguments(call: ast.Call) -> set[str]:
    """The names through whose memory a call can reach."""
    expressions = [*call.args, *(keyword.value for keyword in call.keywords)]
    if isinstance(call.func, ast.Attribute):
        expressions.append(call.func.value)
    names = {name for expression in expressions for name in shared_names(expression)}
    return names - MODULES


def changed_in_place(call: ast.Call, target: ast.expr) -> set[str]:
    """The names that `target.method_()` changes, or `torch.method_(...)`."""
    root = root_name(target)
    if root is None:
        return set()
    if root not in MODULES:
        return {root}
    if any(isinstance(node, ast.Call) for node in ast.walk(target)):
        # What a module's function returns: `torch.zeros_like(C).index_add_(0, ix, demb)`.
        return set(shared_names(target)) - MODULES
    return shared_by_arguments(call)
