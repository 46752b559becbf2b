"""What an expression passes a gradient back to, as its text shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

BUILT_IN = {"bool", "float", "int", "len", "range"}
"""Functions of Python whose results are plain numbers, whatever they are given."""

ABOUT = {"device", "dim", "dtype", "ndim", "nelement", "numel", "shape", "size", "stride"}
NEW = {"full_like", "new_full", "new_ones", "new_zeros", "ones_like", "zeros_like"}
TRUTHS = {"bool", "eq", "ge", "gt", "isclose", "isfinite", "isinf", "isnan", "le", "lt", "ne"}
PLACES = {"argmax", "argmin", "argsort", "bincount", "indices", "int", "long", "nonzero"}
CUT = {"data", "detach", "item", "tolist"}
WITHOUT = ABOUT | NEW | TRUTHS | PLACES | CUT
"""What is asked of a tensor, or of `torch` about one, without a gradient that goes back to it."""

ALIKE = {"expand_as", "reshape_as", "to", "type_as", "view_as"}
"""Methods whose argument gives its shape or its type only."""


@cache
def passed_to(expression: str) -> frozenset[str]:
    """The names in an expression that a gradient of its value goes back to.

    None goes to an index, or to what is only compared, detached or asked for its shape.
    """
    return frozenset(_passed_to(ast.parse(expression, mode="eval").body))


def _passed_to(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Compare():
            return
        case ast.Call(func=ast.Name(id=name)) if name in BUILT_IN:
            return
        case ast.Attribute(attr=name) | ast.Call(func=ast.Attribute(attr=name)) if name in WITHOUT:
            return
        case ast.Call(func=ast.Attribute(value=own, attr=name), args=[_]) if name in ALIKE:
            yield from _passed_to(own)
        case ast.Subscript(value=own):
            yield from _passed_to(own)
        case _:
            for part in ast.iter_child_nodes(node):
                yield from _passed_to(part)
