"""Every edit of a gradient's statements: by the table of mistakes, and names for other names."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from grader.answer.parse import Answer
from grader.answer.statements import COMPOUND, walk_statements
from grader.diagnosis.edit import (
    EXPECTED,
    FIRST,
    LIKELY,
    POSSIBLE,
    SECOND,
    Edit,
    Edits,
    Scope,
)
from grader.diagnosis.kinds import Kind
from grader.diagnosis.mistakes import put_right
from grader.diagnosis.own_code import (
    AXIS,
    CALLEE,
    EXPONENT,
    INDEX,
    RANGE,
    SIZE,
    STATEMENT,
    OwnStatement,
    Site,
    role,
    sites,
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

EQUATION = re.compile(r"[a-zA-Z, ]+(?:->[a-zA-Z ]*)?")


def every_edit(
    statements: Sequence[OwnStatement], answer: Answer, keep: frozenset[int], scope: Scope
) -> Edits:
    """All edits that change something, each once, in the order in which they are thought of.

    Args:
        statements: the gradient's own, the last one first.
        answer: whose they are.
        keep: the numbers of all statements that are the gradient's own.
        scope: the names that may be put in.
    """
    seen = set[tuple[int, bool, str]]()
    found = [*_other_order(statements)]
    for own in statements:
        every = [one for site in sites(own, answer, keep) for one in _at(site, scope)]
        for inner in walk_statements([own.top]):
            if answer.number[inner] in keep:
                if not isinstance(inner, (*COMPOUND, ast.FunctionDef)):
                    every += _rename_everywhere(own, inner, scope)
                every += put_right(Site(own, inner, ()), STATEMENT, scope)
        for one in sorted(every, key=lambda one: one.likelihood):
            key = (own.number, one.doubled, one.text)
            if key not in seen and one.text != own.text:
                seen.add(key)
                found.append(one)
    yield from sorted(found, key=lambda one: one.likelihood)


def _at(site: Site, scope: Scope) -> Edits:
    """The edits at one expression; what its place is for may name the mistake."""
    place = role(site)
    if isinstance(site.node, ast.Name) and place != CALLEE:
        yield from (_of_place(one, site, place, scope) for one in _rename(site, scope))
    for one in put_right(site, place, scope):
        yield _of_place(one, site, place, scope)
    match site.node:
        case ast.Constant(value=str(equation)) if EQUATION.fullmatch(equation):
            yield from _letters(site, equation)


def _of_place(one: Edit, site: Site, place: str, scope: Scope) -> Edit:
    kind = one.kind if one.kind in OF_THEIR_OWN else KINDS.get(place, one.kind)
    if place == EXPONENT:
        powers = (p for p in site.parents if isinstance(p, ast.BinOp) and isinstance(p.op, ast.Pow))
        base = next((power.left for power in powers), None)
        kind = Kind.CONSTANT_FACTOR if base and scope.is_number(base) else kind
    return one if kind is one.kind else replace(one, kind=kind)


def _put(
    site: Site, likelihood: int, kind: Kind, new: str, message: str, belongs: str = ""
) -> Edit:
    """An edit that puts something in the place of one expression."""
    span = site.own.span(site.node)
    return Edit(likelihood, kind, site.own, span, site.own.put(span, new), message, belongs)


def _rename(site: Site, scope: Scope) -> Edits:
    """Another tensor or gradient."""
    name = site.own.source(site.node)
    if name == scope.gradient or name in (*scope.upstreams, *scope.forward, *scope.own):
        for other in (*scope.arriving, *scope.upstreams, *scope.forward, *scope.own):
            yield _put(site, _likelihood(name, other, scope), *_said(name, other, scope))


def _rename_everywhere(own: OwnStatement, node: ast.stmt, scope: Scope) -> Edits:
    """One name for another wherever a statement reads it."""
    places: dict[str, list[ast.AST]] = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            places.setdefault(inner.id, []).append(inner)
    for name, nodes in places.items():
        if len(nodes) < 2 or name not in (*scope.forward, *scope.upstreams, *scope.own):
            continue
        spans = sorted(map(own.span, nodes), reverse=True)
        for other in (*scope.arriving, *scope.near, *scope.own):
            text = own.text
            for start, end in spans:
                text = text[:start] + other + text[end:]
            kind, _, message, belongs = _said(name, other, scope)
            yield Edit(LIKELY, kind, own, spans[-1], text, message, belongs)


def _likelihood(name: str, other: str, scope: Scope) -> int:
    if other == f"d{name}" or name == f"d{other}" or other in scope.arriving:
        return EXPECTED
    both_gradients = name in scope.upstreams and other in scope.upstreams
    return LIKELY if both_gradients or other in (*scope.own, *scope.near) else POSSIBLE


def _said(name: str, other: str, scope: Scope) -> tuple[Kind, str, str, str]:
    """Kind, new text, message and what belongs there."""
    belongs = f"`{other}`"
    if other == f"d{name}":
        message = f"`{name}` is a value of the forward pass; a gradient belongs here."
        return Kind.MISSING_D, other, message, belongs
    if {name, other} in ({scope.gradient[1:], step} for step in scope.alone):
        return Kind.WRONG_ACTIVATION_POINT, other, f"This slope is not one of `{name}`.", belongs
    if name in scope.upstreams and other in scope.upstreams:
        return Kind.WRONG_UPSTREAM, other, f"`{other}` arrives here, not `{name}`.", ""
    return Kind.WRONG_NAME, other, f"`{name}` is not the tensor that belongs here.", belongs


def _letters(site: Site, equation: str) -> Edits:
    """An axis more or less, another axis in the result; two axes of a term swapped."""
    before, arrow, result = equation.replace(" ", "").partition("->")
    terms = before.split(",")
    if arrow:
        message = "The letters behind the arrow are not the axes that belong there."
        letters = sorted(set(before) - {",", *result})
        for new in (result.replace(old, new) for old in result for new in letters):
            yield _put(site, FIRST, Kind.WRONG_AXIS, repr(f"{before}->{new}"), message)
        for new in (result[:i] + result[i + 1 :] for i in range(len(result))):
            yield _put(site, EXPECTED, Kind.MISSING_SUM, repr(f"{before}->{new}"), message)
    for place, term in enumerate((*terms, result) if arrow else terms):
        message = f"The axes of `{term}` do not stand in their order."
        for i, j in itertools.combinations(range(len(term)), 2):
            swapped = [*term]
            swapped[i], swapped[j] = term[j], term[i]
            new_terms = [*terms, result]
            new_terms[place] = "".join(swapped)
            new = ",".join(new_terms[:-1]) + (f"->{new_terms[-1]}" if arrow else "")
            yield _put(site, EXPECTED, Kind.TRANSPOSED, repr(new), message)


def _other_order(statements: Sequence[OwnStatement]) -> Edits:
    """Two statements the other way round; `statements` are from the last to the first."""
    message = "This line comes too late, or the one before too early."
    for own, before in pairwise(statements):
        if own.text != before.text:
            piece, others = (0, len(own.text)), {before.number: own.text}
            yield Edit(SECOND, Kind.STATEMENT, own, piece, before.text, message, others=others)
