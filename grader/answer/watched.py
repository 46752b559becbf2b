"""Watched statements: what they compute with goes through a function of the worker's."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from grader.answer.statements import call_at
from grader.worker.terms import MARK, SEE

PLAIN_CALLS = frozenset(
    (
        f"{MARK}"
        " abs add add_ append arange argmax as_tensor bool broadcast_to cat clone cmp contiguous"
        " copy_ detach dict dim dot double empty empty_like enumerate expand expand_as fill_"
        " flatten float from_numpy full full_like gather index_add index_add_ index_put_"
        " index_select int isinstance item len list max mean mul mv neg numel numpy one_hot ones"
        " ones_like outer permute print range repeat repeat_interleave reshape scatter scatter_"
        " scatter_add scatter_add_ set size squeeze stack str sum t tensor to tolist transpose"
        " tuple type_as unbind unsqueeze update view view_as where zero_ zeros zeros_like zip"
    ).split()
)
"""Functions that make, arrange and add numbers: none is bent, so none has a slope to look for."""

TURNS = (ast.For, ast.While, ast.comprehension, ast.FunctionDef, ast.Lambda, ast.ClassDef)
OPERATIONS = (ast.BinOp, ast.AugAssign, ast.Call)

UNCHANGED = (ast.Name, ast.Constant, ast.operator, ast.expr_context, ast.pattern)

OPERANDS: Mapping[type[ast.operator], tuple[str, ...]] = {
    **{ast.Sub: ("-", "left", "right"), ast.Pow: ("**", "left", "right")},
    **{ast.Div: ("/", "right"), ast.MatMult: ("@", "left", "right")},
}
"""Operators whose operands are looked at, with what they are called."""


def may_bend(node: ast.AST) -> bool:
    """True for what may do more than add and multiply, or do it again and again."""
    if not isinstance(node, OPERATIONS):
        return isinstance(node, TURNS)
    match node:
        case ast.BinOp(op=ast.Div(), right=right):
            return not isinstance(right, ast.Constant)
        case ast.BinOp(op=ast.MatMult(), left=left, right=right):
            # As in a forward pass: what goes backward has one of them transposed.
            return isinstance(left, ast.Name) and isinstance(right, ast.Name)
        case ast.Call(func=function):
            return _spelled(function) not in PLAIN_CALLS
    return isinstance(node.op, ast.Pow)


def watched(part: Any) -> Any:
    """A copy in which operands, arguments and results go through `SEE`, with their use's name."""
    if isinstance(part, list):
        return [watched(one) for one in part]
    if not isinstance(part, ast.AST) or isinstance(part, UNCHANGED):
        return part
    fields = {field: watched(getattr(part, field)) for field in part._fields}
    node: Any = type(part)(**{**vars(part), **fields})
    if isinstance(node, ast.BinOp) and type(node.op) in OPERANDS:
        use, *sides = OPERANDS[type(node.op)]
        for side in sides:
            setattr(node, side, _seen(getattr(node, side), use))
    elif isinstance(node, ast.Call) and (name := _spelled(node.func)) not in PLAIN_CALLS:
        node.args = [_seen(argument, name) for argument in node.args]
        if isinstance(node.func, ast.Attribute):
            node.func.value = _seen(node.func.value, name)
        else:
            node.func = _seen(node.func, "")
        return _seen(node, "")
    return node


def _spelled(function: Any) -> str:
    name: str = getattr(function, "id", getattr(function, "attr", "call"))
    return name


def _seen(value: ast.expr, use: str) -> ast.expr:
    # A text, such as the one of `einsum`, is no value to look at; `*values` is no expression.
    if isinstance(value, ast.Starred) or isinstance(getattr(value, "value", None), str):
        return value
    return call_at(value, SEE, use, value)
