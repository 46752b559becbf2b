"""Another operation, an operand too many, brackets elsewhere."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping

from grader.diagnosis.edits.edit import (
    EXPECTED,
    FIRST,
    LIKELY,
    POSSIBLE,
    SECOND,
    TINY,
    Edits,
    Scope,
    capital,
    edit,
    quoted,
)
from grader.diagnosis.edits.roles import EXPONENT, REDUCTIONS, VALUE, role
from grader.diagnosis.kinds import Kind
from grader.diagnosis.own_code import OwnStatement, Site

SIGNS: Mapping[type[ast.operator], str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@"},
    ast.Pow: "**",
}


def drop_minus(site: Site, _: Scope) -> Edits:
    """No minus; or the minus before a power instead of inside it."""
    node, own = site.node, site.own
    assert isinstance(node, ast.UnaryOp)
    if not isinstance(node.op, ast.USub):
        return
    message = f"The minus in {quoted(own.source(node))} is too much."
    yield edit(site, EXPECTED, Kind.SIGN, own.atom(node.operand), message)
    match node.operand:
        case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
            new = f"(-{own.atom(base)}) ** {own.atom(exponent)}"
            yield edit(site, EXPECTED, Kind.SIGN, new, message)


def change_operation(site: Site, scope: Scope) -> Edits:
    """Everything that may be wrong about two operands and a sign."""
    node = site.node
    assert isinstance(node, ast.BinOp)
    if type(node.op) not in SIGNS:
        return
    if isinstance(node.op, ast.Pow):
        yield from _power(site, node)
        return
    yield from _drop_operand(site, node, scope)
    yield from _other_sign(site, node, scope)
    yield from _other_side(site, node, scope)
    match node:
        case ast.BinOp(left=ast.Constant() as number, op=ast.Mult(), right=base):
            message = f"{capital(quoted(site.own.source(node)))} is a multiple, not a power."
            new = f"({site.own.atom(base)} ** {site.own.source(number)})"
            yield edit(site, EXPECTED, Kind.POWER_RULE, new, message)
    yield from _brackets(site, node)
    yield from _branches(site, node)
    if isinstance(node.op, ast.Mult | ast.Div):
        yield from _sum_before_product(site, node)


def _power(site: Site, node: ast.BinOp) -> Edits:
    own = site.own
    base, exponent = own.atom(node.left), own.atom(node.right)
    message = f"The power in {quoted(own.source(node))} does not belong here."
    yield edit(site, LIKELY, Kind.POWER_RULE, base, message)
    match node.left:
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            message = f"In {quoted(own.source(node))} the minus stands inside the power."
            yield edit(site, EXPECTED, Kind.SIGN, f"(-({own.atom(inner)} ** {exponent}))", message)
        case ast.BinOp(left=one, op=op, right=other) if type(op) in SIGNS:
            new = f"({own.atom(one)} {SIGNS[type(op)]} {own.atom(other)} ** {exponent})"
            yield edit(site, EXPECTED, Kind.BRACKETS, new, _misplaced(own, node))


def _other_sign(site: Site, node: ast.BinOp, scope: Scope) -> Edits:
    own, sign = site.own, SIGNS[type(node.op)]
    left, right = own.atom(node.left), own.atom(node.right)
    for other in ("+", "-", "*", "/", "@"):
        message = f"`{sign}` is not what joins the two sides of {quoted(own.source(node))}."
        kind, likelihood = Kind.OPERATOR, SECOND
        if {sign, other} == {"+", "-"}:
            kind, likelihood = Kind.SIGN, EXPECTED
            message = f"The sign in {quoted(own.source(node))} is wrong."
        elif _is_one(node.left) or _is_one(node.right):
            continue
        elif (sign, other) == ("*", "+"):
            kind, likelihood, message = Kind.MULTIPLIED_BRANCHES, LIKELY, _multiplied(own, node)
        elif scope.is_number(node.right):
            kind = Kind.CONSTANT_FACTOR
        if role(site) != VALUE and kind is not Kind.SIGN:
            likelihood = POSSIBLE
        if other != sign:
            yield edit(site, likelihood, kind, f"({left} {other} {right})", message)


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in (1, -1)


def _drop_operand(site: Site, node: ast.BinOp, scope: Scope) -> Edits:
    own, sign = site.own, SIGNS[type(node.op)]
    alone = {"-": f"(-{own.atom(node.right)})", "/": f"(1 / {own.atom(node.right)})"}
    kept = ((own.atom(node.left), node.right), (alone.get(sign, own.atom(node.right)), node.left))
    for new, gone in kept:
        piece = capital(quoted(own.source(gone)))
        kind, likelihood, message = Kind.EXTRA_FACTOR, EXPECTED, f"{piece} is a factor too many."
        if sign in "+-":
            kind, likelihood, message = Kind.EXTRA_TERM, LIKELY, f"{piece} is a term too many."
            if isinstance(gone, ast.Constant):
                likelihood = EXPECTED
                if isinstance(gone.value, float) and abs(gone.value) < TINY:
                    kind = Kind.MISSING_EPS
                elif scope.is_number(node):
                    kind = Kind.BESSEL
        elif scope.is_number(gone):
            kind = Kind.SIGN if own.source(gone) in ("-1", "-1.0") else Kind.CONSTANT_FACTOR
        if role(site) == EXPONENT:
            likelihood = EXPECTED
        yield edit(site, likelihood, kind, new, message)


def _other_side(site: Site, node: ast.BinOp, scope: Scope) -> Edits:
    """The operands swapped, and for matrices each way round."""
    own, sign = site.own, SIGNS[type(node.op)]
    left, right = own.atom(node.left), own.atom(node.right)
    message = f"The two sides of {quoted(own.source(node))} stand in the wrong order."
    if sign in "-/":
        kind = Kind.SIGN if sign == "-" else Kind.OPERATOR
        kind = Kind.BESSEL if scope.is_number(node) else kind
        yield edit(site, LIKELY, kind, f"({right} {sign} {left})", message)
    if sign != "@":
        return
    yield edit(site, FIRST, Kind.WRONG_ORDER, f"({right} @ {left})", message)
    turned = f"In {quoted(own.source(node))} a matrix is the wrong way round."
    for one, other in ((f"{left}.mT", right), (left, f"{right}.mT")):
        yield edit(site, FIRST, Kind.TRANSPOSED, f"({one} @ {other})", turned)
        yield edit(site, SECOND, Kind.WRONG_ORDER, f"({other} @ {one})", message)
    yield edit(site, FIRST, Kind.TRANSPOSED, f"({left}.mT @ {right}.mT)", turned)
    yield edit(site, SECOND, Kind.TRANSPOSED, f"({right}.mT @ {left}.mT)", turned)
    one, other = (own.atom(_untransposed(side)) for side in (node.left, node.right))
    message = f"In {quoted(own.source(node))} each number meets one other: no row meets a column."
    for end in ("", ".sum(0, keepdim=True)", ".sum(1, keepdim=True)"):
        yield edit(site, SECOND, Kind.OPERATOR, f"({one} * {other}){end}", message)


def _untransposed(node: ast.expr) -> ast.expr:
    match node:
        case ast.Attribute(value=value, attr="T" | "mT"):
            return value
    return node


def _brackets(site: Site, node: ast.BinOp) -> Edits:
    """The same names and signs in the same order, bracketed in another way."""
    own, message = site.own, _misplaced(site.own, node)
    for likelihood, new in _bracketed(own, node):
        yield edit(site, likelihood, Kind.BRACKETS, f"({new})", message)


def _bracketed(own: OwnStatement, node: ast.BinOp) -> Iterator[tuple[int, str]]:
    sign = SIGNS[type(node.op)]
    left, right = own.atom(node.left), own.atom(node.right)
    match node.left:
        case ast.BinOp(left=one, op=op, right=other) if type(op) in SIGNS:
            a, early, b = own.atom(one), SIGNS[type(op)], own.atom(other)
            yield EXPECTED, f"{a} {early} ({b} {sign} {right})"
            match one:
                case ast.BinOp(left=x, op=deep, right=y) if type(deep) in SIGNS:
                    start = f"{own.atom(x)} {SIGNS[type(deep)]}"
                    yield LIKELY, f"{start} (({own.atom(y)} {early} {b}) {sign} {right})"
                    yield LIKELY, f"{start} ({own.atom(y)} {early} ({b} {sign} {right}))"
    match node:
        case ast.BinOp(
            left=ast.BinOp(left=first, op=before, right=inner),
            right=ast.BinOp(left=other_inner, op=after, right=last),
        ) if type(before) in SIGNS and type(after) in SIGNS:
            middle = f"({own.atom(inner)} {sign} {own.atom(other_inner)})"
            begin = f"({own.atom(first)} {SIGNS[type(before)]} {middle})"
            yield LIKELY, f"{begin} {SIGNS[type(after)]} {own.atom(last)}"
    match node.right:
        case ast.BinOp(left=one, op=op, right=other) if type(op) in SIGNS:
            b, late, c = own.atom(one), SIGNS[type(op)], own.atom(other)
            yield EXPECTED, f"({left} {sign} {b}) {late} {c}"
            match one:
                case ast.BinOp(left=x, op=deep, right=y) if type(deep) in SIGNS:
                    outer = f"({left} {sign} {own.atom(x)}) {SIGNS[type(deep)]} {own.atom(y)}"
                    yield LIKELY, f"({outer}) {late} {c}"


def _misplaced(own: OwnStatement, node: ast.AST) -> str:
    return f"The brackets in {quoted(own.source(node))} are not where they belong."


def _branches(site: Site, node: ast.BinOp) -> Edits:
    """A sum of two products where all is one product."""
    own, message = site.own, _multiplied(site.own, node)
    product, divisor = node, ""
    if isinstance(node.op, ast.Div) and isinstance(node.left, ast.BinOp):
        product, divisor = node.left, f" / {own.atom(node.right)}"
    factors = [own.atom(factor) for factor in _chain(product)]
    for place in range(1, len(factors)):
        if len(factors) > 2 or divisor:
            one, other = " * ".join(factors[:place]), " * ".join(factors[place:])
            new = f"({one} + {other}{divisor})"
            yield edit(site, LIKELY, Kind.MULTIPLIED_BRANCHES, new, message)


def _chain(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            yield from _chain(left)
            yield from _chain(right)
        case _:
            yield node


def _multiplied(own: OwnStatement, node: ast.AST) -> str:
    return f"In {quoted(own.source(node))} contributions are multiplied; they add up."


def _sum_before_product(site: Site, node: ast.BinOp) -> Edits:
    """`(a * b).sum(0)` where `a.sum(0) * b` stands, or where both are summed."""
    own = site.own
    message = f"In {quoted(own.source(node))} the sum is taken before the product."
    factors = [*_chain(node)] if isinstance(node.op, ast.Mult) else [node.left, node.right]
    sign = SIGNS[type(node.op)]
    for one, other in itertools.permutations(range(len(factors)), 2):
        match factors[one]:
            case ast.Call(func=ast.Attribute(value=body, attr=name)) as call if name in REDUCTIONS:
                rest = [own.atom(f) for i, f in enumerate(factors) if i not in (one, other)]
                inside = [factors[other]]
                match factors[other]:
                    case ast.Call(func=ast.Attribute(value=inner, attr=same)) if same == name:
                        inside.append(inner)
                for factor in inside:
                    pair = [own.atom(body), own.atom(factor)]
                    product = f" {sign} ".join(pair if one < other else pair[::-1])
                    summed = f"({product}).{name}({own.arguments(call)})"
                    new = " * ".join([*rest, summed])
                    yield edit(site, EXPECTED, Kind.WRONG_ORDER, f"({new})", message)
