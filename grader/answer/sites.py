"""Sites: the expressions of a gradient's own code that may be edited, and the role of each."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from grader.answer.own_code import OwnStatement, Span
from grader.answer.parse import Answer
from grader.answer.statements import COMPOUND
from grader.answer.torch_words import MODULES, WORDS

SILENT = (ast.JoinedStr, ast.ClassDef)
"""Calls that are left as they are, because they only show a value."""

VALUE, WHOLE, CALLEE, AXIS, EXPONENT, INDEX, RANGE, START, SIZE, STATEMENT = (
    *("value", "whole", "callee", "axis", "exponent"),
    *("index", "range", "start", "size", "statement"),
)
"""The roles of expressions. A `whole` is a value that a line assigns, and a `start` is the number
from which a loop counts."""

_KEYWORDS = {
    **dict.fromkeys(("dim", "axis", "keepdim", "keepdims", "dims"), AXIS),
    **dict.fromkeys(("num_classes", "minlength", "size", "dtype", "device"), SIZE),
}

NOT_VALUES = ("annotation", "returns", "decorator_list")


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """An expression or statement of a gradient's own code, with its parents, innermost first."""

    own: OwnStatement
    node: ast.expr | ast.stmt
    parents: tuple[ast.AST, ...]

    @property
    def parent(self) -> ast.AST | None:
        """The innermost node around it, or None for the outermost statement."""
        return self.parents[0] if self.parents else None

    @property
    def is_whole(self) -> bool:
        """True for the right side of an assignment and for the value of a `return`."""
        return bool(self.targets) or isinstance(self.parent, ast.Return)

    @property
    def targets(self) -> list[ast.expr]:
        """The targets of the assignment whose right side this is; otherwise empty."""
        match self.parent:
            case ast.Assign(targets=targets):
                return targets
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                return [target]
        return []

    def again(self, place: str) -> list[Span]:
        """The other occurrences of a name or an axis in its line, if this is the first of several.

        `place` is its role, as `role` gives it.
        """
        line = next((parent for parent in self.parents if isinstance(parent, ast.stmt)), None)
        is_name = isinstance(self.node, ast.Name)
        if isinstance(line, (ast.FunctionDef, *COMPOUND)) or not (is_name or place == AXIS):
            return []
        nodes: Iterable[ast.AST] = ast.walk(line) if line else ()
        if not is_name:
            calls = (node for node in nodes if isinstance(node, ast.Call))
            nodes = (n for c in calls for n in (*c.args, *(k.value for k in c.keywords)))
        alike = (node for node in nodes if isinstance(node, type(self.node)))
        read = (node for node in alike if not isinstance(getattr(node, "ctx", None), ast.Store))
        here = self.own.source(self.node)
        spans = sorted(self.own.span(node) for node in read if self.own.source(node) == here)
        return spans[1:] if spans[:1] == [self.own.span(self.node)] else []


def sites(own: OwnStatement, answer: Answer, keep: frozenset[int]) -> Iterator[Site]:
    """The expressions of a statement that may be edited, from the outside in."""

    def walk(node: ast.AST, parents: tuple[ast.AST, ...]) -> Iterator[Site]:
        is_gone = isinstance(node, ast.stmt) and answer.number.get(node, -1) not in {*keep, -1}
        if is_gone or isinstance(node, SILENT) or node in own.ends:
            return
        if isinstance(getattr(node, "ctx", None), ast.Store):
            # In a target, only the index may be wrong.
            if isinstance(node, ast.Subscript):
                yield from walk(node.slice, (node, *parents))
            return
        if isinstance(node, ast.expr) and not isinstance(node, ast.Slice):
            yield Site(own, node, parents)
        for name, value in ast.iter_fields(node):
            if name in NOT_VALUES or isinstance(value, ast.arguments):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from walk(child, (node, *parents))

    yield from walk(own.top, ())


def role(site: Site) -> str:
    """The role of an expression."""
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
                if function.attr in WORDS["takes_lengths"]:
                    return SIZE
                start = int(getattr(function.value, "id", "") in MODULES)
                if function.attr in WORDS["takes_axes"] and node in arguments[start:]:
                    return AXIS
                name = function.attr.rstrip("_")
                if name in WORDS["begins_with_axis"] and node in arguments[start : start + 1]:
                    return AXIS
                if name in WORDS["halves"] and node in arguments[start:]:
                    return INDEX  # the diagonal that it counts from
            case ast.keyword(arg=name) if name in _KEYWORDS:
                return _KEYWORDS[name]
            case ast.Slice() if isinstance(site.node, ast.Constant):
                return RANGE
            case ast.Subscript(value=value, slice=index) if index is node:
                is_axis = getattr(value, "attr", "") == "shape" and not isinstance(index, ast.Slice)
                return AXIS if is_axis else INDEX
            case ast.BinOp(op=ast.Pow(), right=right) if right is node:
                return EXPONENT
            case ast.stmt() | ast.Attribute():
                return VALUE
        node = parent
    return VALUE
