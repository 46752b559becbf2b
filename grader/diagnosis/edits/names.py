"""One name for another."""

from __future__ import annotations

import ast

from grader.diagnosis.edits.edit import (
    EXPECTED,
    LIKELY,
    POSSIBLE,
    Edit,
    Edits,
    Scope,
    edit,
)
from grader.diagnosis.edits.roles import CALLEE, EXPONENT, VALUE, role
from grader.diagnosis.kinds import Kind
from grader.diagnosis.own_code import OwnStatement, Site


def rename(site: Site, scope: Scope) -> Edits:
    """Another tensor, gradient, size or index."""
    assert isinstance(site.node, ast.Name)
    name, used = site.node.id, role(site)
    if used == CALLEE:
        return
    if name in scope.lecture:
        is_number = used in (VALUE, EXPONENT)
        yield from _another_size(site, scope, name, is_number)
    elif name in scope.indices:
        for tensor in scope.near:
            message = f"`{name}` does not say which entry is the largest."
            yield edit(site, LIKELY, Kind.MISROUTED_MAX, f"{tensor}.argmax(1)", message)
        for other in scope.indices:
            message = f"`{name}` is not the index that belongs here."
            yield edit(site, LIKELY, Kind.WRONG_NAME, other, message, f"`{other}`")
    elif name == scope.gradient or name in (*scope.upstreams, *scope.forward, *scope.own):
        for other in (*scope.arriving, *scope.upstreams, *scope.forward, *scope.own):
            likelihood = _likelihood(name, other, scope)
            yield edit(site, likelihood, *_said(name, other, scope))
    method = getattr(site.parents[0], "attr", "")
    is_start = site.is_whole or method.startswith(("index_", "scatter"))
    if name in scope.forward and is_start:
        message = f"A gradient begins at zero here, not at `{name}`."
        kind = Kind.ALIASED if site.is_whole else Kind.WRONG_NAME
        yield edit(site, EXPECTED, kind, f"torch.zeros_like({name})", message)


def _another_size(site: Site, scope: Scope, name: str, is_number: bool) -> Edits:
    message = f"`{name}` is not quite the number that belongs here."
    for likelihood, new in ((EXPECTED, f"{name} - 1"), (POSSIBLE, f"{name} + 1")):
        yield edit(site, likelihood, Kind.BESSEL, f"({new})", message, f"`{new}`")
    kind = Kind.CONSTANT_FACTOR if is_number else Kind.WRONG_INDEX
    message = f"`{name}` is a number too many here."
    yield edit(site, LIKELY, Kind.CONSTANT_FACTOR, "1", message)
    for other in scope.lecture:
        message = f"`{name}` is not the size that belongs here."
        yield edit(site, LIKELY, kind, other, message, f"`{other}`")


def rename_everywhere(own: OwnStatement, node: ast.stmt, scope: Scope) -> Edits:
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
