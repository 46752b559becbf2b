"""What a statement does to names, as far as its text shows it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from grader.answer.statements import (
    LEAVES,
    children,
    with_blocks,
)

MODULES = frozenset({"torch", "F", "np", "numpy", "math"})
"""Names of modules: `torch.relu_(a)` changes a, not torch."""

SHOWING = frozenset({"print", "display", "cmp", "check", "board", "heat_map", "nudge"})
"""Functions that are called for what they show, and change none of their arguments."""

HOLDING = LEAVES | {ast.Assign, ast.Expr, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.keyword, ast.Slice}
"""Nodes that do nothing to a name themselves, the most frequent: to match each takes long."""

COMPUTING_CALLS = frozenset(
    (
        *("abs", "amax", "arange", "argmax", "argmin", "bmm", "cat", "clone", "contiguous"),
        *("diag", "div", "dot", "double", "einsum", "exp", "expand", "expand_as", "eye"),
        *("flatten", "flip", "float", "full", "full_like", "gather", "index_add", "index_select"),
        *("log", "log_softmax", "logsumexp", "long", "max", "mean", "mm", "matmul", "mul", "mv"),
        *("neg", "new_zeros", "numel", "one_hot", "ones", "ones_like", "outer", "permute", "pow"),
        *("reciprocal", "repeat", "repeat_interleave", "reshape", "rsqrt", "scatter"),
        *("scatter_add", "sigmoid", "sign", "size", "softmax", "sqrt", "square", "squeeze"),
        *("stack", "sub", "sum", "t", "tanh", "tensordot", "to", "transpose", "tril", "type_as"),
        *("unbind", "unsqueeze", "var", "view", "view_as", "where", "zeros", "zeros_like"),
    )
)
"""Functions and methods that make a value and change nothing."""

COPYING_CALLS = COMPUTING_CALLS - frozenset(
    (
        *("contiguous", "double", "expand", "expand_as", "flatten", "float", "long", "permute"),
        *("reshape", "squeeze", "t", "to", "transpose", "type_as", "unbind", "unsqueeze", "view"),
        *("view_as",),
    )
)
"""Those of them whose result has memory of its own: to change it changes nothing else."""


@dataclass(frozen=True, slots=True)
class Effects:
    """Names that a statement reads, binds anew, and changes in place.

    Of a compound statement these are what its own line does: test, iterable, targets, contexts.
    """

    reads: frozenset[str]
    binds: frozenset[str]
    changes: frozenset[str]


def handed_over(statement: ast.stmt, shown: Effects) -> frozenset[str]:
    """The names that a call for its own sake is handed: it may change them."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id=function))) if function not in SHOWING:
            return shown.reads - MODULES - {function}
        case ast.Expr(value=ast.Call(func=ast.Attribute())) if not shown.changes:
            return shown.reads - MODULES
    return frozenset()


def read_effects(statement: ast.stmt) -> Effects:
    """What the text of a statement shows for certain.

    That is less than it does: functions and aliases hide names, see `grader.worker.forced`.
    """
    reads, binds, changes, own = set[str](), set[str](), set[str](), set[str]()
    pending: list[ast.AST] = [with_blocks(statement, lambda _: [])]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name):
            (reads if type(node.ctx) is ast.Load else binds).add(node.id)
            continue
        if type(node) in HOLDING:
            pending += children(node)
            continue
        match node:
            case ast.AnnAssign(value=None):
                continue
            case ast.AugAssign(target=target):
                # For a tensor, `dX += ...` changes the memory that dX shares with its aliases.
                changes |= _root(target)
                reads |= _root(target)
                pending += [node.value] if isinstance(target, ast.Name) else [target, node.value]
                continue
            case (
                ast.Attribute(ctx=ast.Store() | ast.Del())
                | ast.Subscript(ctx=ast.Store() | ast.Del())
            ):
                changes |= _root(node)
            case ast.Call(func=ast.Attribute(attr=method, value=inner)):
                # PyTorch's word for a method that changes what it is called on.
                if method.endswith("_") and not method.endswith("__"):
                    changes |= _root(inner) - MODULES
            case ast.comprehension(target=target):
                own |= {inner.id for inner in ast.walk(target) if isinstance(inner, ast.Name)}
            case ast.Lambda(args=arguments):
                own |= {inner.arg for inner in ast.walk(arguments) if isinstance(inner, ast.arg)}
            case ast.alias(name=name, asname=other):
                binds.add((other or name).partition(".")[0])
            case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments):
                binds.add(node.name)
                # What its body reads counts here: where it is called shows nowhere.
                inside = [inner for part in node.body for inner in ast.walk(part)]
                names = [inner for inner in inside if isinstance(inner, ast.Name)]
                local = {inner.id for inner in names if isinstance(inner.ctx, ast.Store)}
                local |= {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
                reads |= {inner.id for inner in names} - local
                defaults = [*arguments.defaults, *arguments.kw_defaults]
                pending += [*node.decorator_list, *filter(None, defaults)]
                continue
            case ast.ClassDef(name=name, body=body):
                binds.add(name)
                reads.update(*(read_effects(inner).reads for inner in body))
                pending += [*node.decorator_list, *node.bases, *node.keywords]
                continue
            case ast.ExceptHandler(name=str(name)):
                binds.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                binds.add(name)
        pending += children(node)
    return Effects(frozenset(reads - own), frozenset(binds - own), frozenset(changes - own))


def _root(node: ast.expr) -> set[str]:
    """The name that `name.attribute[index].method()` begins with."""
    while True:
        match node:
            case ast.Name(id=name):
                return {name}
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=method)):
                if method in COPYING_CALLS:
                    return set()
                node = inner
            case _:
                return set()
