"""Roles: what an expression is for, which says what a mistake in it is called."""

from __future__ import annotations

import ast

from grader.diagnosis.edits.edit import MODULES
from grader.diagnosis.kinds import Kind
from grader.diagnosis.own_code import Site

VALUE, CALLEE, AXIS, EXPONENT, INDEX, RANGE, SIZE = (
    *("value", "callee", "axis", "exponent", "index", "range", "size"),
)

KINDS = {
    INDEX: Kind.WRONG_INDEX,
    RANGE: Kind.PARTIAL_ROWS,
    SIZE: Kind.WRONG_SHAPE,
    AXIS: Kind.WRONG_AXIS,
    EXPONENT: Kind.POWER_RULE,
}
"""What any mistake is called in an index, a range and so on."""

OF_THEIR_OWN = frozenset(
    {Kind.HARD_CODED_SIZE, Kind.LOST_KEEPDIM, Kind.MISROUTED_MAX, Kind.NOT_ACCUMULATED}
    | {Kind.PERMUTED, Kind.ONLY_THIS_BATCH, Kind.WRONG_SHAPE, Kind.PARTIAL_ROWS, Kind.WRONG_NAME}
)
"""Kinds that keep their name wherever they occur."""

REDUCTIONS = frozenset({"sum", "mean"})

_SHAPED = frozenset(
    {"view", "reshape", "expand", "zeros", "ones", "full", "empty", "repeat", "unflatten"}
)
_ALONG_AXES = REDUCTIONS | frozenset(
    {"unsqueeze", "squeeze", "transpose", "permute", "flatten", "softmax", "log_softmax"}
    | {"max", "min", "argmax", "amax", "cumsum", "flip"}
)
_KEYWORDS = {
    **dict.fromkeys(("dim", "axis", "keepdim", "keepdims", "dims"), AXIS),
    **dict.fromkeys(("num_classes", "minlength", "size", "dtype", "device"), SIZE),
}


def role(site: Site) -> str:
    """What an expression is for."""
    node: ast.AST = site.node
    for parent in site.parents:
        match parent:
            case ast.Call(func=function) if function is node:
                return CALLEE
            case ast.Call(func=ast.Attribute(attr="one_hot"), args=[_, size]) if size is node:
                return SIZE
            case ast.Call(func=ast.Name(id="range")):
                return RANGE
            case ast.Call(func=ast.Attribute(attr="pow" | "pow_"), args=[*_, last]) if last is node:
                return EXPONENT
            case ast.Call(func=ast.Attribute() as function, args=arguments) if node in arguments:
                if function.attr in _SHAPED:
                    return SIZE
                on_module = getattr(function.value, "id", "") in MODULES
                if function.attr in _ALONG_AXES and not (on_module and node is arguments[0]):
                    return AXIS
            case ast.keyword(arg=name) if name in _KEYWORDS:
                return _KEYWORDS[name]
            case ast.Slice() if isinstance(site.node, ast.Constant):
                return RANGE
            case ast.Subscript(value=value, slice=index) if index is node:
                return AXIS if getattr(value, "attr", "") == "shape" else INDEX
            case ast.BinOp(op=ast.Pow(), right=right) if right is node:
                return EXPONENT
            case ast.stmt() | ast.Attribute():
                return VALUE
        node = parent
    return VALUE
