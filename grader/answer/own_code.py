"""Own code: a gradient's statements as text, and the expressions in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from grader.answer.effects import MODULES
from grader.answer.parse import Answer
from grader.answer.statements import COMPOUND, walk_statements

Span = tuple[int, int]
"""Where something begins and ends in a statement's text."""

ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Slice)
"""Expressions that need no brackets, whatever stands around them."""

SILENT = (ast.JoinedStr, ast.ClassDef)
"""What is left as it is: what is only shown makes nothing."""

VALUE, WHOLE, CALLEE, AXIS, EXPONENT, INDEX, RANGE, START, SIZE, STATEMENT = (
    *("value", "whole", "callee", "axis", "exponent"),
    *("index", "range", "start", "size", "statement"),
)
"""What an expression may be for; the whole is a value that a line assigns, and a start one that a
loop counts on from."""

REDUCTIONS = frozenset({"sum", "mean"})

_SHAPED = frozenset(
    {"view", "reshape", "expand", "zeros", "ones", "full", "empty", "repeat", "unflatten"}
    | {"tile", "broadcast_to", "new_zeros", "new_ones", "repeat_interleave"}
)
_ALONG_AXES = REDUCTIONS | frozenset(
    {"unsqueeze", "squeeze", "transpose", "permute", "flatten", "softmax", "log_softmax"}
    | {"max", "min", "argmax", "argmin", "amax", "amin", "cumsum", "flip", "logsumexp"}
    | {"std", "var", "prod", "norm", "sort", "roll", "cat", "stack"}
)
_KEYWORDS = {
    **dict.fromkeys(("dim", "axis", "keepdim", "keepdims", "dims"), AXIS),
    **dict.fromkeys(("num_classes", "minlength", "size", "dtype", "device"), SIZE),
}

NOT_VALUES = ("annotation", "returns", "decorator_list")


@dataclass(frozen=True, eq=False)
class OwnStatement:
    """A statement at the outermost level; what in it is not the gradient's own is blanked out.

    `text` is its lines, from number `line` of the cell on.
    """

    top: ast.stmt
    number: int
    line: int
    text: str
    _spans: dict[ast.AST, Span] = field(default_factory=dict)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names in it."""
        return names_in([self.top])

    @cached_property
    def counters(self) -> frozenset[str]:
        """The names that its loops count with."""
        heads = (one.target if isinstance(one, ast.For) else one.test for one in self.loops)
        bound = (name for name in ast.walk(self.top) if isinstance(name, ast.Name))
        return names_in(heads) & {name.id for name in bound if isinstance(name.ctx, ast.Store)}

    @cached_property
    def assigned_in_loops(self) -> frozenset[str]:
        """The names that its loops assign, each time anew."""
        inside = (inner for loop in self.loops for inner in ast.walk(loop))
        targets = (t for inner in inside if isinstance(inner, ast.Assign) for t in inner.targets)
        return frozenset(target.id for target in targets if isinstance(target, ast.Name))

    def assigns(self, name: str) -> bool:
        """True if the statement gives a tensor this name."""
        targets = self.top.targets if isinstance(self.top, ast.Assign) else []
        return any(isinstance(target, ast.Name) and target.id == name for target in targets)

    @property
    def adds_up(self) -> bool:
        """True if it sums along an axis, in whatever way: a branch may be made by that."""
        nodes = [*ast.walk(self.top)]
        called = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        is_product = any(isinstance(node, ast.MatMult) for node in nodes)
        return is_product or bool(self.loops) or not called.isdisjoint({*REDUCTIONS, "einsum"})

    @cached_property
    def loops(self) -> list[ast.For | ast.While]:
        """The loops in it."""
        return [loop for loop in ast.walk(self.top) if isinstance(loop, ast.For | ast.While)]

    @cached_property
    def lengths(self) -> dict[ast.AST, ast.expr]:
        """The lengths it reads, by what they are read off: `len(x)`, `x.shape[0]`, `x.numel()`."""
        found = dict[ast.AST, ast.expr]()
        for node in ast.walk(self.top):
            match node:
                case (
                    ast.Call(func=ast.Name(id="len"), args=[measured])
                    | ast.Call(func=ast.Attribute(attr="size" | "numel") as measured)
                    | ast.Subscript(value=ast.Attribute(attr="shape") as measured)
                ):
                    found[measured] = node
        return found

    @cached_property
    def templates(self) -> frozenset[ast.AST]:
        """What only has the shape of something new: `x` of `torch.zeros_like(x)`, all of it."""
        nodes = [*ast.walk(self.top)]
        calls = (node for node in nodes if isinstance(node, ast.Call) and node.args)
        like = (c.args[0] for c in calls if getattr(c.func, "attr", "").endswith("_like"))
        return frozenset(inner for one in like for inner in ast.walk(one))

    @cached_property
    def idle(self) -> frozenset[ast.AST]:
        """Expressions whose numbers make no difference: zeros, what is measured or thrown away."""
        found = {inner for node in self.lengths for inner in ast.walk(node)}
        for node in ast.walk(self.top):
            match node:
                case ast.Call(func=ast.Attribute(attr="zeros" | "zeros_like")):
                    found.add(node)
                case ast.Expr(value=thrown):
                    found.add(thrown)
        return self.templates | found

    @cached_property
    def ends(self) -> frozenset[ast.AST]:
        """By what its `while` loops come to an end: edited, one might never do so.

        These are all tests in them, and the statements that bind, or call, what a test is about.
        """
        whiles = (loop for loop in self.loops if isinstance(loop, ast.While))
        inside = [node for loop in whiles for node in ast.walk(loop)]
        tests = [node.test for node in inside if isinstance(node, ast.While | ast.If)]
        tested = names_in(tests)

        def is_step(node: ast.AST) -> bool:
            called = names_in([node]) if isinstance(node, ast.Expr) else frozenset[str]()
            names = (one for one in ast.walk(node) if isinstance(one, ast.Name))
            bound = {name.id for name in names if isinstance(name.ctx, ast.Store)}
            return not tested.isdisjoint(called | bound)

        steps = (node for node in inside if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr))
        return frozenset([*tests, *filter(is_step, steps)])

    def span(self, node: ast.AST) -> Span:
        """Where a node stands in `text`."""
        if node not in self._spans:
            where = vars(node)
            start = self.offset(where["lineno"], where["col_offset"])
            end = self.offset(where["end_lineno"], where["end_col_offset"])
            self._spans[node] = start, end
        return self._spans[node]

    def source(self, node: ast.AST) -> str:
        """What stands there."""
        start, end = self.span(node)
        return self.text[start:end]

    def atom(self, node: ast.AST) -> str:
        """What stands there, in brackets where another expression around it asks for them."""
        text = self.source(node)
        # In an index `:, 0` has no brackets and gets none.
        has_slices = any(isinstance(one, ast.Slice) for one in ast.iter_child_nodes(node))
        is_atom = has_slices or isinstance(node, ATOMS)
        return text if is_atom and "\n" not in text else f"({text})"

    def arguments(self, call: ast.Call) -> str:
        """A call's arguments."""
        named = ((f"{k.arg}=" if k.arg else "**") + self.source(k.value) for k in call.keywords)
        return ", ".join([*map(self.source, call.args), *named])

    def put(self, span: Span, text: str, *others: Span) -> str:
        """The statement's text with another in one place, and in others."""
        found = self.text
        for start, end in sorted((span, *others), reverse=True):
            found = found[:start] + text + found[end:]
        return found

    def offset(self, line: int, column: int) -> int:
        """Where a line and a column of the cell, in bytes, are in `text`."""
        before = 0
        for _ in range(line - self.line):
            before = self.text.index("\n", before) + 1
        # Python counts the bytes of a line.
        end = self.text.find("\n", before)
        this = self.text[before : end if end >= 0 else None]
        return before + (column if this.isascii() else len(this.encode()[:column].decode()))


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """An expression or statement of a gradient's own code, with what it stands in, inmost first."""

    own: OwnStatement
    node: ast.expr | ast.stmt
    parents: tuple[ast.AST, ...]

    @property
    def is_whole(self) -> bool:
        """True for the right side of an assignment, and for what a function returns."""
        is_returned = isinstance(self.parents[0], ast.Return) if self.parents else False
        return is_returned or bool(self.targets)

    @property
    def targets(self) -> list[ast.expr]:
        """What the right side of an assignment is given to; nothing for anything else."""
        match self.parents:
            case [ast.Assign(targets=targets, value=value), *_] if value is self.node:
                return targets
            case [
                ast.AugAssign(target=target, value=value)
                | ast.AnnAssign(target=target, value=value),
                *_,
            ] if value is self.node:
                return [target]
        return []

    def again(self, place: str) -> list[Span]:
        """Where else a name, or an axis, stands in a line, if this is the first of several times.

        `place` is what it is for, by `role`.
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


def meant_for(
    gradient: str,
    keep: frozenset[int],
    code: Collection[ast.stmt],
    answer: Answer,
    given: Collection[str] = (),
) -> frozenset[int]:
    """The statements that make a gradient (`keep`, in `code`), and those that were meant to.

    An operation whose result goes nowhere was meant to change what it is called on. What was meant
    comes with all that it needs but the gradients that are `given`.
    """
    names = {gradient}.union(*(answer.effects[answer.statements[n]].binds for n in keep))
    meant = {n for top in code for n in answer.inside[top] & answer.writing(gradient)}
    for top in answer.top:
        called = {n for n in answer.inside[top] if _comes_to_nothing(answer, n, names)}
        if called:
            meant |= called | {n for n in answer.inside[top] if _holds(answer, n, called)}
    meant -= keep
    last, needed = max(meant, default=-1), _reads(meant, answer) - {*given}
    for top in reversed(answer.top):
        if answer.number[top] < last and not needed.isdisjoint(answer.written[top]):
            meant |= answer.inside[top]
            needed |= _reads(answer.inside[top], answer) - {*given}
    return frozenset(keep | (meant & answer.live))


def names_in(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The names that stand anywhere in some nodes."""
    every = (inner for node in nodes for inner in ast.walk(node))
    return frozenset(inner.id for inner in every if isinstance(inner, ast.Name))


def _reads(numbers: Collection[int], answer: Answer) -> set[str]:
    return {name for n in numbers for name in answer.effects[answer.statements[n]].reads}


def _comes_to_nothing(answer: Answer, number: int, names: set[str]) -> bool:
    match answer.statements[number]:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=module)),
                args=[ast.Name(id=name), *_],
            )
        ) if module in MODULES:
            return name in names
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=on)) | ast.BinOp(left=on) | ast.Compare(left=on)
        ):
            root = _root(on)
            return isinstance(root, ast.Name) and root.id in names
    return False


def _root(node: ast.expr) -> ast.expr:
    """What an entry or a view is one of: `dx` of `dx.flatten(0, 1)[0]`."""
    match node:
        case ast.Subscript(value=of):
            return _root(of)
        case ast.Call(func=ast.Attribute(value=of, attr="flatten" | "view")):
            return _root(of)
    return node


def _holds(answer: Answer, number: int, inside: set[int]) -> bool:
    held = {answer.number[one] for one in walk_statements([answer.statements[number]])}
    return not held.isdisjoint(inside)


def own_statements(answer: Answer, keep: frozenset[int]) -> list[OwnStatement]:
    """The statements at the outermost level that are kept, in order."""
    lines = {cell.grade_id: re.split(r"\r\n?|\n", cell.source) for cell in answer.cells}
    return [
        _own(answer, top, kept, lines[answer.places[answer.number[top]].cell])
        for top in answer.top
        if (kept := keep & answer.inside[top])
    ]


def _own(answer: Answer, top: ast.stmt, kept: frozenset[int], lines: Sequence[str]) -> OwnStatement:
    first = _first_line(top)
    end = top.end_lineno or top.lineno
    own = [*lines[first - 1 : end]]
    # Other statements may stand before and after it on the same line.
    own[-1] = own[-1].encode()[: top.end_col_offset].decode()
    if top.lineno == first:
        before, after = own[0].encode()[: top.col_offset], own[0].encode()[top.col_offset :]
        own[0] = " " * len(before) + after.decode()
    statement = OwnStatement(top, answer.number[top], first, "\n".join(own))
    if not isinstance(top, COMPOUND) or len(kept) == len(answer.inside[top]):
        return statement
    gone: list[Span] = []
    for inner in walk_statements([top]):
        start, end = statement.span(inner)
        start = statement.offset(_first_line(inner), inner.col_offset)
        if answer.number[inner] not in kept and (not gone or start >= gone[-1][1]):
            gone.append((start, end))
    text = statement.text
    for start, end in reversed(gone):
        text = f"{text[:start]}0{_blank(text[start:end])[1:]}{text[end:]}"
    return OwnStatement(top, answer.number[top], first, text)


def _first_line(statement: ast.stmt) -> int:
    """That of its first decorator, if it has one."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])


def _blank(text: str) -> str:
    """As many bytes, all of them blanks, on as many lines: Python counts columns in bytes."""
    return "".join(c if c == "\n" else " " * len(c.encode()) for c in text)


def sites(own: OwnStatement, answer: Answer, keep: frozenset[int]) -> Iterator[Site]:
    """The expressions of a statement that may be edited, outer ones first."""

    def walk(node: ast.AST, parents: tuple[ast.AST, ...]) -> Iterator[Site]:
        is_gone = isinstance(node, ast.stmt) and answer.number.get(node, -1) not in {*keep, -1}
        if is_gone or isinstance(node, SILENT) or node in own.ends:
            return
        if isinstance(getattr(node, "ctx", None), ast.Store):
            # Of what is stored to, the index may be wrong.
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
    """What an expression is for."""
    node: ast.AST = site.node
    for parent in site.parents:
        match parent:
            case ast.Call(func=function) if function is node:
                return CALLEE
            case ast.Call(func=ast.Attribute(attr="one_hot" | "pad"), args=[_, n, *_]) if n is node:
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
