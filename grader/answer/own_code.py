"""Own code: the statements that make a gradient, as text, and the expressions in them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from grader.answer.effects import Effects, root
from grader.answer.parse import Answer
from grader.answer.statements import stored_names, walk_statements
from grader.answer.torch_words import MODULES, WORDS
from grader.close_names import SLIP, nearest

Span = tuple[int, int]
"""The offsets at which an expression begins and ends in a statement's text."""

ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Slice)
"""Expressions that never need brackets, whatever is around them."""


@dataclass(frozen=True, eq=False)
class OwnStatement:
    """A statement at the outermost level.

    `text` holds its lines, which begin with line number `line` of the cell.
    """

    top: ast.stmt
    number: int
    line: int
    text: str
    _spans: dict[ast.AST, Span] = field(default_factory=dict)

    @cached_property
    def names(self) -> frozenset[str]:
        """All names in the statement."""
        return names_in([self.top])

    @cached_property
    def counters(self) -> frozenset[str]:
        """The loop variables."""
        heads = (one.target if isinstance(one, ast.For) else one.test for one in self.loops)
        return names_in(heads) & stored_names(self.top)

    @cached_property
    def assigned_in_loops(self) -> frozenset[str]:
        """The names that its loops assign anew in each iteration."""
        inside = (inner for loop in self.loops for inner in ast.walk(loop))
        targets = (t for inner in inside if isinstance(inner, ast.Assign) for t in inner.targets)
        return frozenset(target.id for target in targets if isinstance(target, ast.Name))

    def assigns(self, name: str) -> bool:
        """True if the statement assigns a tensor to this name."""
        targets = self.top.targets if isinstance(self.top, ast.Assign) else []
        return any(isinstance(target, ast.Name) and target.id == name for target in targets)

    @property
    def adds_up(self) -> bool:
        """True if it sums along an axis in any way, which may be how it makes a branch."""
        nodes = [*ast.walk(self.top)]
        called = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        is_product = any(isinstance(node, ast.MatMult) for node in nodes)
        return is_product or bool(self.loops) or not called.isdisjoint({*WORDS["sums"], "einsum"})

    @cached_property
    def loops(self) -> list[ast.For | ast.While]:
        """All loops in the statement."""
        return [loop for loop in ast.walk(self.top) if isinstance(loop, ast.For | ast.While)]

    @cached_property
    def ranged(self) -> frozenset[str]:
        """The loop variables that run over a range, and so are integers."""
        counted = set[ast.AST]()
        for loop in self.loops:
            match loop:
                case ast.For(target=target, iter=ast.Call(func=ast.Name(id="range"))):
                    counted.add(target)
        return names_in(counted)

    @cached_property
    def lengths(self) -> dict[ast.AST, ast.expr]:
        """The lengths that it reads, by the node inside: `x` of `len(x)`, `x.shape` of an entry."""
        found = dict[ast.AST, ast.expr]()
        for node in ast.walk(self.top):
            match node:
                case (
                    ast.Call(func=ast.Name(id="len"), args=[measured])
                    | ast.Call(func=ast.Attribute(attr="size" | "numel" | "dim") as measured)
                    | (ast.Attribute(attr="ndim") as measured)
                    | ast.Subscript(value=ast.Attribute(attr="shape") as measured)
                ):
                    found[measured] = node
        return found

    @cached_property
    def templates(self) -> frozenset[ast.AST]:
        """Nodes that only lend their shape to a new tensor: all of `x` in `zeros_like(x)`."""
        found = set[ast.AST]()
        for node in ast.walk(self.top):
            match node:
                case ast.Call(func=ast.Attribute(attr=name), args=[one, *_]):
                    found.update(ast.walk(one) if name.endswith("_like") else ())
        return frozenset(found)

    @cached_property
    def without_factor(self) -> frozenset[ast.AST]:
        """Nodes that a factor cannot change: zeros, lengths, and results that are thrown away."""
        found = {inner for node in self.lengths for inner in ast.walk(node)}
        for node in ast.walk(self.top):
            match node:
                case ast.Call(func=ast.Attribute(attr=name)) if name in WORDS["zeros"]:
                    found.add(node)
                case ast.Expr(value=thrown):
                    found.add(thrown)
        return self.templates | found

    @cached_property
    def ends(self) -> frozenset[ast.AST]:
        """The nodes by which `while` loops come to an end. If one is edited, a loop may never end.

        These are all tests in the loops, and the statements that bind or call the names in a test.
        """
        whiles = (loop for loop in self.loops if isinstance(loop, ast.While))
        inside = [node for loop in whiles for node in ast.walk(loop)]
        tests = [node.test for node in inside if isinstance(node, ast.While | ast.If)]
        tested = names_in(tests)

        def is_step(node: ast.AST) -> bool:
            called = names_in([node]) if isinstance(node, ast.Expr) else frozenset[str]()
            return not tested.isdisjoint(called | stored_names(node))

        steps = (node for node in inside if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr))
        return frozenset([*tests, *filter(is_step, steps)])

    def span(self, node: ast.AST) -> Span:
        """The span of a node in `text`."""
        if node not in self._spans:
            where = vars(node)
            start = self.offset(where["lineno"], where["col_offset"])
            end = self.offset(where["end_lineno"], where["end_col_offset"])
            self._spans[node] = start, end
        return self._spans[node]

    def source(self, node: ast.AST) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.text[start:end]

    def atom(self, node: ast.AST) -> str:
        """The text of a node, in brackets if another expression around it needs them."""
        text = self.source(node)
        # `:, 0` in an index has no brackets, and must not get any.
        has_slices = any(isinstance(one, ast.Slice) for one in ast.iter_child_nodes(node))
        is_atom = has_slices or isinstance(node, ATOMS)
        return text if is_atom and "\n" not in text else f"({text})"

    def arguments(self, call: ast.Call) -> str:
        """The text of a call's arguments."""
        named = ((f"{k.arg}=" if k.arg else "**") + self.source(k.value) for k in call.keywords)
        return ", ".join([*map(self.source, call.args), *named])

    def put(self, span: Span, text: str, *others: Span) -> str:
        """Replace the text at one span, and at `others`, in the statement's text."""
        found = self.text
        for start, end in sorted((span, *others), reverse=True):
            found = found[:start] + text + found[end:]
        return found

    def offset(self, line: int, column: int) -> int:
        """The offset in `text` of a line and a column of the cell; the column counts bytes."""
        before = 0
        for _ in range(line - self.line):
            before = self.text.index("\n", before) + 1
        # Python's columns count bytes.
        end = self.text.find("\n", before)
        this = self.text[before : end if end >= 0 else None]
        return before + (column if this.isascii() else len(this.encode()[:column].decode()))


def meant_for(
    gradient: str,
    keep: frozenset[int],
    code: Collection[ast.stmt],
    answer: Answer,
    given: Collection[str] = (),
) -> frozenset[int]:
    """The statements that make a gradient (`keep`, in `code`), and those that were meant to.

    If the result of an operation goes nowhere, the student meant to change the tensor on which it
    is called. The same holds for an operation on a copy, or on a name that nearly is the
    gradient's and that nothing reads. Each such statement comes with everything that it needs,
    except the gradients that are `given`.
    """
    names = {gradient}.union(*(answer.shown[answer.statements[n]].binds for n in keep))
    meant = {n for top in code for n in answer.inside[top] & answer.writing(gradient)}
    lost = _lost(gradient, answer, [gradient, *given])
    lost |= {n for n, one in enumerate(answer.statements) if _comes_to_nothing(one, names)}
    for number, statement in enumerate(answer.statements) if lost else ():
        if any(answer.number[one] in lost for one in walk_statements([statement])):
            meant.add(number)  # with the loop that it stands in
    meant -= keep
    last, needed = max(meant, default=-1), _reads(meant, answer) - {*given}
    for top in reversed(answer.top):
        if answer.number[top] < last and not needed.isdisjoint(answer.written[top]):
            meant |= answer.inside[top]
            needed |= _reads(answer.inside[top], answer) - {*given}
    return frozenset(keep | (meant & answer.live))


def names_in(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """All names inside some nodes."""
    every = (inner for node in nodes for inner in ast.walk(node))
    return frozenset(inner.id for inner in every if isinstance(inner, ast.Name))


def _reads(numbers: Collection[int], answer: Answer) -> set[str]:
    return {name for n in numbers for name in answer.shown[answer.statements[n]].reads}


def unread(gradient: str, effects: Collection[Effects]) -> set[str]:
    """The other names that are changed, or made from a gradient, although nothing reads them."""
    made = (one.binds for one in effects if gradient in one.reads)
    written = set[str]().union(*made, *(one.changes for one in effects)) - {gradient}
    return written.difference(*(one.reads - one.binds - one.changes for one in effects))


def _lost(gradient: str, answer: Answer, gradients: Sequence[str]) -> set[int]:
    """The statements that change a copy, or a name much like the gradient's, that nothing reads."""
    effects = [answer.shown[statement] for statement in answer.statements]
    names = unread(gradient, effects).difference(gradients)
    likest = nearest(gradient, sorted(names), SLIP)
    alike = {name for name in likest if nearest(name, gradients, SLIP)[:1] == [gradient]}
    made = alike.union(*(one.binds & names for one in effects if gradient in one.reads))
    is_lost = (
        one.changes & made or (gradient in one.reads and one.binds & alike) for one in effects
    )
    return {number for number, is_so in enumerate(is_lost) if is_so}


def _comes_to_nothing(statement: ast.stmt, names: set[str]) -> bool:
    """True if a statement stores into a copy, or throws away what it computes from these names."""
    match statement:
        case (
            ast.Assign(targets=[ast.Subscript(value=ast.Call() as on)])
            | ast.AugAssign(target=ast.Subscript(value=ast.Call() as on))
            | ast.Expr(ast.BinOp(left=on) | ast.Compare(left=on))
        ):
            return not names.isdisjoint(_start(on))
        case ast.Expr(ast.Call(func=ast.Attribute()) as call):
            return not names.isdisjoint(_start(call))
    return False


def _start(node: ast.expr) -> set[str]:
    """The name from which `dx.flatten(0, 1)[0].mul(2)` or `torch.mul(dx, 2)` starts."""
    while True:
        match node:
            case ast.Call(ast.Attribute(ast.Name(module)), [first, *_]) if module in MODULES:
                node = first
            case ast.Call(func=inner) | ast.Attribute(inner) | ast.Subscript(inner):
                node = inner
            case _:
                return root(node)


def own_statements(answer: Answer, keep: frozenset[int]) -> list[OwnStatement]:
    """The outermost statements that contain a kept one, in order."""
    lines = {cell.grade_id: re.split(r"\r\n?|\n", cell.source) for cell in answer.cells}
    return [
        _own(answer, top, lines[answer.places[answer.number[top]].cell])
        for top in answer.top
        if keep & answer.inside[top]
    ]


def _own(answer: Answer, top: ast.stmt, lines: Sequence[str]) -> OwnStatement:
    decorators: list[ast.expr] = getattr(top, "decorator_list", [])
    first = min([top.lineno, *(one.lineno for one in decorators)])
    own = [*lines[first - 1 : top.end_lineno]]
    # The same line may have other statements before and after it.
    own[-1] = own[-1].encode()[: top.end_col_offset].decode()
    if top.lineno == first:
        before, after = own[0].encode()[: top.col_offset], own[0].encode()[top.col_offset :]
        own[0] = " " * len(before) + after.decode()
    return OwnStatement(top, answer.number[top], first, "\n".join(own))
