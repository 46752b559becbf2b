"""Every edit of a gradient's statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from grader.answer.parse import Answer
from grader.answer.statements import walk_statements
from grader.diagnosis.edits.calls import (
    change_attribute,
    change_call,
    change_index,
    change_indices,
)
from grader.diagnosis.edits.edit import Edits, Scope
from grader.diagnosis.edits.missing import add_missing
from grader.diagnosis.edits.names import rename
from grader.diagnosis.edits.numbers import renumber
from grader.diagnosis.edits.operators import change_operation, drop_minus
from grader.diagnosis.edits.roles import EXPONENT, KINDS, OF_THEIR_OWN, role
from grader.diagnosis.edits.statements import change_order, change_statement
from grader.diagnosis.kinds import Kind
from grader.diagnosis.own_code import OwnStatement, Site, sites

RULES: Mapping[type[ast.expr], Callable[[Site, Scope], Edits]] = {
    ast.Name: rename,
    ast.Constant: renumber,
    ast.UnaryOp: drop_minus,
    ast.BinOp: change_operation,
    ast.Call: change_call,
    ast.Attribute: change_attribute,
    ast.Subscript: change_index,
    ast.Tuple: change_indices,
}


def every_edit(
    statements: Sequence[OwnStatement], answer: Answer, keep: frozenset[int], scope: Scope
) -> Edits:
    """All edits that change something, each once, in the order in which they are thought of."""
    seen = set[tuple[int, bool, str]]()
    found = [*change_order(statements)]
    for own in statements:
        every = [one for site in sites(own, answer, keep) for one in _at(site, scope)]
        for inner in walk_statements([own.top]):
            if answer.number[inner] in keep:
                every += change_statement(own, inner, scope)
        for one in sorted(every, key=lambda one: one.likelihood):
            key = (own.number, one.doubled, one.text)
            if key not in seen and one.text != own.text:
                seen.add(key)
                found.append(one)
    yield from sorted(found, key=lambda one: one.likelihood)


def _at(site: Site, scope: Scope) -> Edits:
    """The edits at one expression; what its place is for may name the mistake."""
    used, rule = role(site), RULES.get(type(site.node))
    for one in rule(site, scope) if rule is not None else ():
        kind = one.kind if one.kind in OF_THEIR_OWN else KINDS.get(used, one.kind)
        if used == EXPONENT and _is_power_of_number(site, scope):
            kind = Kind.CONSTANT_FACTOR
        yield replace(one, kind=kind)
    yield from add_missing(site, scope)


def _is_power_of_number(site: Site, scope: Scope) -> bool:
    for parent in site.parents:
        match parent:
            case ast.BinOp(left=base, op=ast.Pow()):
                return scope.is_number(base)
    return False
