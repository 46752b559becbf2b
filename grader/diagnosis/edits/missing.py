"""What is missing: a number, a factor, a term, a sum, a transpose, a power."""

from __future__ import annotations

import ast
import itertools

from grader.diagnosis.edits.edit import (
    EXPECTED,
    LAST,
    LIKELY,
    POSSIBLE,
    SLOPE,
    Edit,
    Edits,
    Scope,
    capital,
    edit,
    quoted,
)
from grader.diagnosis.edits.roles import INDEX, VALUE, role
from grader.diagnosis.kinds import Kind
from grader.diagnosis.own_code import Site

OPERANDS = (ast.Name, ast.BinOp, ast.Call, ast.UnaryOp, ast.Subscript, ast.Attribute)

POWERS = ("2", "3", "-1", "-2", "-3", "0.5", "-0.5", "-1.5")


def add_missing(site: Site, scope: Scope) -> Edits:
    """Everything that may be missing beside one expression."""
    used = role(site)
    if used == INDEX and isinstance(site.node, ast.BinOp | ast.Name):
        ends = isinstance(site.parents[0], ast.Slice) and site.parents[0].upper is site.node
        does = "end" if ends else "begin"
        message = f"{capital(quoted(site.own.source(site.node)))} does not {does} where it should."
        for size in scope.lecture:
            new = f"{site.own.atom(site.node)} * {size}"
            yield edit(site, LIKELY, Kind.WRONG_INDEX, new, message)
    if used != VALUE or not isinstance(site.node, OPERANDS):
        return
    names = {inner.id for inner in ast.walk(site.node) if isinstance(inner, ast.Name)}
    if isinstance(site.node, ast.Name) and names <= {*scope.lecture, *scope.indices, "torch", "F"}:
        return
    yield _twice(site)
    if names <= {*scope.lecture, "math"}:
        return
    yield from _factors(site, scope)
    yield from _terms(site, scope)
    yield from _operations(site)


def _twice(site: Site) -> Edit:
    """What the double of an expression changes tells by what it is to be multiplied."""
    span, likelihood = site.own.span(site.node), LIKELY if site.is_whole else POSSIBLE
    text = site.own.put(span, f"(2 * {site.own.atom(site.node)})")
    return Edit(likelihood, Kind.CONSTANT_FACTOR, site.own, span, text, "", doubled=True)


def _factors(site: Site, scope: Scope) -> Edits:
    value, piece = site.own.atom(site.node), quoted(site.own.source(site.node))
    if isinstance(site.node, ast.Name | ast.Subscript):
        yield edit(
            site, LIKELY, Kind.EXTRA_FACTOR, "1.0", f"{capital(piece)} is a factor too many."
        )
    lacks = f"{capital(piece)} lacks a factor."
    for name in (*scope.arriving, *scope.near, *scope.own):
        kind, message, belongs = Kind.MISSING_FACTOR, lacks, f"`{name}`"
        if name in scope.upstreams:
            kind, belongs = Kind.WRONG_UPSTREAM, ""
            message = f"`{name}` arrives, and {piece} does not take it up."
        is_likely = site.is_whole or name in scope.arriving
        likelihood = LIKELY if is_likely else POSSIBLE
        yield edit(site, likelihood, kind, f"({value} * {name})", message, belongs)
        yield edit(site, POSSIBLE, kind, f"({value} / {name})", message, belongs)
    for step in scope.slopes:
        new = f"({value} * {SLOPE.format(step)})"
        message = lacks
        if step in scope.alone:
            message = f"{capital(piece)} lacks the slope of the step that makes `{step}`."
        yield edit(site, LIKELY, Kind.MISSING_FACTOR, new, message)
    for size, sign in itertools.product(scope.lecture, "*/"):
        new = f"({value} {sign} {size})"
        message = f"{capital(piece)} lacks a number."
        yield edit(site, POSSIBLE, Kind.CONSTANT_FACTOR, new, message, f"`{size}`")


def _terms(site: Site, scope: Scope) -> Edits:
    value, tensor = site.own.atom(site.node), scope.gradient[1:]
    message = f"A term is missing beside {quoted(site.own.source(site.node))}."
    for new in (f"(1 - {value})", f"(1 + {value})", f"({value} - 1)"):
        yield edit(site, LIKELY, Kind.MISSING_BRANCH, new, message)
    new = f"({value} + 1e-5)"
    small = f"The small number beside {quoted(site.own.source(site.node))} is missing."
    yield edit(site, LIKELY, Kind.MISSING_EPS, new, small)
    others = dict.fromkeys((*scope.arriving, *scope.near, *scope.own, *scope.upstreams))
    for name, sign in itertools.product(others, "+-"):
        if name != scope.gradient:
            new = f"({value} {sign} {name})"
            yield edit(site, POSSIBLE, Kind.MISSING_BRANCH, new, message, f"`{name}`")
    if tensor in scope.near:
        new = f"({value} + torch.softmax({tensor}, 1))"
        yield edit(site, LAST, Kind.MISSING_BRANCH, new, message)
    for name in scope.near if site.is_whole else ():
        # The second half of a softmax's gradient.
        new = f"({value} - {name} * {value}.sum(-1, keepdim=True))"
        yield edit(site, LAST, Kind.MISSING_BRANCH, new, message)


def _operations(site: Site) -> Edits:
    node, value = site.node, site.own.atom(site.node)
    piece = capital(quoted(site.own.source(node)))
    match site.parents[0]:
        case ast.BinOp(op=ast.MatMult()):
            likelihood = EXPECTED
        case _:
            likelihood = LIKELY
    message = f"{piece} is the wrong way round here."
    yield edit(site, likelihood, Kind.TRANSPOSED, f"{value}.mT", message)
    for axis, keep in itertools.product((0, 1, 2), (", keepdim=True", "")):
        message = f"{piece} is not summed over axis {axis}."
        yield edit(site, LIKELY, Kind.MISSING_SUM, f"{value}.sum({axis}{keep})", message)
    has_small = isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant)
    for power in POWERS:
        is_likely = power == "2" or (has_small and "." in power)
        message = f"{piece} stands here to the wrong power."
        new = f"({value} ** {power})"
        yield edit(site, LIKELY if is_likely else POSSIBLE, Kind.POWER_RULE, new, message)
