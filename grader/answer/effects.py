"""Effects: what a statement does to names, as far as its text shows it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from grader.answer.statements import LEAVES, children, with_blocks
from grader.answer.torch_words import MODULES, WORDS, changes_in_place

HOLDING = LEAVES | {ast.Assign, ast.Expr, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.Slice}
"""The most frequent nodes that do nothing to a name. They are skipped, as matching takes long."""


@dataclass(frozen=True, slots=True)
class Effects:
    """The names that a statement reads, binds anew, and changes in place.

    A compound statement counts with its own line alone: test, iterable, targets and contexts.
    """

    reads: frozenset[str]
    binds: frozenset[str]
    changes: frozenset[str]

    @property
    def writes(self) -> frozenset[str]:
        """The names that it binds or changes."""
        return self.binds | self.changes


def read_effects(statement: ast.stmt) -> Effects:
    """Read the effects that the text of a statement shows for certain.

    The statement may do more, because functions and aliases hide names. For those, see
    `grader.worker.forced`.
    """
    return _effects_of([with_blocks(statement, lambda _: [])])


def _effects_of(nodes: Iterable[ast.AST], own: Iterable[ast.AST] = ()) -> Effects:
    """The effects of some nodes, except on the names that only they know: those in `own`."""
    reads, binds, changes = set[str](), set[str](), set[str]()
    pending = [*nodes]

    def add(inner: Effects) -> None:
        reads.update(inner.reads)
        binds.update(inner.binds)
        changes.update(inner.changes)

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
                # If dX is a tensor, `dX += ...` changes the memory that it shares with its aliases.
                changes |= root(target)
                reads |= root(target)
                pending += [node.value] if isinstance(target, ast.Name) else [target, node.value]
                continue
            case (
                ast.Attribute(ctx=ast.Store() | ast.Del())
                | ast.Subscript(ctx=ast.Store() | ast.Del())
            ):
                changes |= root(node)
            case ast.keyword(arg="out", value=value):
                changes |= root(value)
            case ast.Call(func=ast.Attribute(attr=name, value=inner)) if changes_in_place(name):
                is_function = isinstance(inner, ast.Name) and inner.id in MODULES and node.args
                changes |= root(node.args[0] if is_function else inner)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                add(_effects_of(children(node), [one.target for one in node.generators]))
                pending.append(node.generators[0].iter)  # `[x for x in x]` reads another x
                continue
            case ast.Lambda(args=arguments, body=body):
                add(_effects_of([body], [arguments]))
                pending += [*arguments.defaults, *filter(None, arguments.kw_defaults)]
                continue
            case ast.alias(name=name, asname=other):
                binds.add((other or name).partition(".")[0])
            case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments):
                binds.add(node.name)
                # What its body reads counts here: where it is called shows nowhere.
                inside = _effects_of(node.body, [arguments])
                reads |= inside.reads - inside.binds
                defaults = [*arguments.defaults, *arguments.kw_defaults]
                pending += [*node.decorator_list, *filter(None, defaults)]
                continue
            case ast.ClassDef(name=name, body=body):
                binds.add(name)
                reads |= _effects_of(body).reads
                pending += [*node.decorator_list, *node.bases, *node.keywords]
                continue
            case ast.ExceptHandler(name=str(name)):
                binds.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                binds.add(name)
        pending += children(node)
    hidden = {
        inner.id if isinstance(inner, ast.Name) else inner.arg
        for node in own
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name | ast.arg)
    }
    return Effects(
        frozenset(reads - hidden), frozenset(binds - hidden), frozenset(changes - hidden - MODULES)
    )


def handed_over(statement: ast.stmt, shown: Effects) -> frozenset[str]:
    """The arguments of a call whose result goes nowhere, since it may change them."""
    match statement:
        case ast.Expr(ast.Call(func=ast.Name(function))) if function not in WORDS["shows"]:
            return shown.reads - MODULES - {function}
        case ast.Expr(ast.Call(func=ast.Attribute(attr=name))) if not name.endswith("_"):
            return shown.reads - MODULES
    return frozenset()


def root(node: ast.expr) -> set[str]:
    """The name whose memory `x[0].T` or `x.view(-1).mul_(2)` shares; none for new memory."""
    while True:
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Starred(value=inner):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in WORDS[
                "views"
            ] or changes_in_place(name):
                node = inner
            case ast.Name(id=name):
                return {name}
            case _:
                return set()
