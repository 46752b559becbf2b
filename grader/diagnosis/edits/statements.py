"""Another sign of assignment."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from itertools import pairwise

from grader.answer.statements import COMPOUND
from grader.diagnosis.edits.edit import EXPECTED, FIRST, SECOND, Edit, Edits, Scope
from grader.diagnosis.edits.names import rename_everywhere
from grader.diagnosis.edits.operators import SIGNS
from grader.diagnosis.kinds import Kind
from grader.diagnosis.own_code import OwnStatement

REPLACES = "This line replaces what was there instead of adding to it."


def change_order(statements: Sequence[OwnStatement]) -> Edits:
    """Two statements the other way round; `statements` are from the last to the first."""
    for own, before in pairwise(statements):
        piece, message = (
            (0, len(own.text)),
            "This line comes too late, or the one before too early.",
        )
        others = {before.number: own.text}
        kind = Kind.STATEMENT
        if own.text != before.text:
            yield Edit(SECOND, kind, own, piece, before.text, message, others=others)


def change_statement(own: OwnStatement, node: ast.stmt, scope: Scope) -> Edits:
    """`+=` for `=` and the like; one name for another wherever it is read."""
    if not isinstance(node, (*COMPOUND, ast.FunctionDef)):
        yield from rename_everywhere(own, node, scope)
    start, _ = own.span(node)
    match node:
        case ast.Assign(targets=[target], value=value):
            kind = Kind.OVERWRITTEN_BRANCH
            if isinstance(target, ast.Subscript) and _looks_up(target.slice, own.top):
                kind = Kind.NOT_ACCUMULATED
            piece = (start, own.span(target)[1])
            text = _with_sign(own, target, value, "+=")
            yield Edit(EXPECTED, kind, own, piece, text, REPLACES)
        case ast.AugAssign(target=target, op=op, value=value) if type(op) in SIGNS:
            piece = (start, own.span(target)[1])
            for sign in ("+=", "-=", "*=", "/=", "="):
                kind = Kind.OPERATOR
                if isinstance(op, ast.Add | ast.Sub) and sign in ("+=", "-="):
                    kind = Kind.SIGN
                elif isinstance(op, ast.Mult) and isinstance(target, ast.Name):
                    kind = Kind.MULTIPLIED_BRANCHES
                text = _with_sign(own, target, value, sign)
                message = f"`{SIGNS[type(op)]}=` is not what belongs here."
                if kind is Kind.MULTIPLIED_BRANCHES:
                    message = "This line multiplies two contributions; they add up."
                yield Edit(EXPECTED, kind, own, piece, text, message)

        case ast.Expr(value=ast.BinOp(left=ast.Name(id=name)) as sum_):
            message = "What this line makes goes nowhere."
            text = own.put(own.span(sum_), f"{name} = {own.source(sum_)}")
            yield Edit(EXPECTED, Kind.STATEMENT, own, own.span(node), text, message)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=value, attr=method)) as call):
            message = f"What `{method}` makes is thrown away: it changes nothing in place."
            changed = f"{own.source(value)}.{method}_({own.arguments(call)})"
            text = own.put(own.span(call), changed)
            yield Edit(FIRST, Kind.STATEMENT, own, own.span(node), text, message)


def _with_sign(own: OwnStatement, target: ast.expr, value: ast.expr, sign: str) -> str:
    (_, end), (begin, _) = own.span(target), own.span(value)
    between = re.sub(r"[^\s(]*=", sign, own.text[end:begin], count=1)
    return own.text[:end] + between + own.text[begin:]


def _looks_up(index: ast.expr, top: ast.stmt) -> bool:
    """True for the index of a row that may come again: `Xb[i, j]`, or a name for it."""
    turns = [loop.target for loop in ast.walk(top) if isinstance(loop, ast.For)]
    counters = {node.id for turn in turns for node in ast.walk(turn) if isinstance(node, ast.Name)}
    is_name = isinstance(index, ast.Name) and index.id not in counters
    return is_name or isinstance(index, ast.Subscript)
