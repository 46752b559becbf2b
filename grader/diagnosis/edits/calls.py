"""Other functions, arguments and indices."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Mapping

from grader.diagnosis.edits.edit import (
    EXPECTED,
    FIRST,
    LIKELY,
    MODULES,
    SECOND,
    Edits,
    Scope,
    capital,
    edit,
    quoted,
)
from grader.diagnosis.edits.roles import CALLEE, REDUCTIONS, role
from grader.diagnosis.kinds import Kind
from grader.diagnosis.own_code import Site

_KEEPDIM = ("keepdim", "keepdims")

_PAIRS = (("mul", "div"), ("add", "sub"), ("mul_", "div_"), ("add_", "sub_"))

INSTEAD: Mapping[str, tuple[str, int, Kind]] = {
    **{
        one: (other, SECOND, Kind.SIGN if one.startswith(("add", "sub")) else Kind.OPERATOR)
        for pair in _PAIRS
        for one, other in (pair, pair[::-1])
    },
    **{
        one: (other, EXPECTED, Kind.WRONG_NAME)
        for one, other in (
            *(("ones", "zeros"), ("ones_like", "zeros_like"), ("zeros_like", "ones_like")),
            *(("log_softmax", "softmax"), ("tan", "tanh"), ("log", "exp"), ("sigmoid", "tanh")),
        )
    },
    "argmin": ("argmax", EXPECTED, Kind.MISROUTED_MAX),
    "min": ("max", EXPECTED, Kind.MISROUTED_MAX),
    "scatter_": ("scatter_add_", EXPECTED, Kind.NOT_ACCUMULATED),
    "copy_": ("add_", EXPECTED, Kind.OVERWRITTEN_BRANCH),
    "index_copy_": ("index_add_", EXPECTED, Kind.NOT_ACCUMULATED),
    **{
        name: (f"{name}_", EXPECTED, Kind.STATEMENT)
        for name in ("index_add", "scatter_add", "scatter", "copy", "fill", "index_put")
    },
}
"""What may be meant where another function is called."""

KEEPING = REDUCTIONS | {"amax", "argmax", "std", "var", "prod", "logsumexp", "max", "min"}
"""What can keep the axis along which it runs."""

DROPPED: Mapping[str, tuple[int, Kind]] = {
    **dict.fromkeys(("flip", "roll", "sort"), (LIKELY, Kind.PERMUTED)),
    **dict.fromkeys(("transpose", "permute", "t"), (EXPECTED, Kind.TRANSPOSED)),
    **dict.fromkeys(("unsqueeze", "squeeze", "flatten"), (LIKELY, Kind.WRONG_SHAPE)),
    **dict.fromkeys(REDUCTIONS, (LIKELY, Kind.WRONG_SHAPE)),
}

HARMLESS = frozenset({"view", "reshape", "clone", "detach"})


def change_call(site: Site, scope: Scope) -> Edits:
    """Another function, another order of its arguments, no call at all."""
    node, own = site.node, site.own
    assert isinstance(node, ast.Call)
    piece = quoted(own.source(node))
    match node.func:
        case ast.Attribute(value=value, attr=name):
            on_module = getattr(value, "id", "") in MODULES
            start = f"{own.source(value)}." if on_module else f"{own.atom(value)}."
            yield from _other_function(site, node, name, start)
            yield from _axes(site, node, name, start)
            yield from _special(site, node, name, start, scope)
            if not on_module and name not in HARMLESS:
                likelihood, kind = DROPPED.get(name, (LIKELY, Kind.OPERATOR))
                if any(getattr(p, "attr", "") in ("reshape", "view") for p in site.parents[:2]):
                    kind = Kind.PERMUTED
                message = f"`.{name}` in {piece} is too much."
                yield edit(site, likelihood, kind, own.atom(value), message)
    function, message = own.source(node.func), f"The arguments of {piece} stand in another order."
    rest = own.arguments(ast.Call(node.func, [], node.keywords))
    for place in range(len(node.args) - 1):
        texts = [own.source(argument) for argument in node.args]
        texts[place : place + 2] = texts[place + 1], texts[place]
        new = ", ".join([*texts, *([rest] if rest else [])])
        yield edit(site, LIKELY, Kind.WRONG_ORDER, f"{function}({new})", message)


def _other_function(site: Site, node: ast.Call, name: str, start: str) -> Edits:
    own = site.own
    arguments, piece = own.arguments(node), quoted(own.source(node))
    if name in INSTEAD:
        other, likelihood, kind = INSTEAD[name]
        message = f"`{name}` is not the function that belongs here."
        if kind is Kind.STATEMENT:
            message = f"What `{name}` makes is thrown away: it changes nothing in place."
        elif kind in (Kind.NOT_ACCUMULATED, Kind.OVERWRITTEN_BRANCH):
            message = f"`{name}` replaces what is there already instead of adding to it."
        yield edit(site, likelihood, kind, f"{start}{other}({arguments})", message)
    if name == "mean":
        message = f"In {piece} a mean stands where a sum belongs."
        yield edit(site, FIRST, Kind.MEAN_FOR_SUM, f"{start}sum({arguments})", message)
    if name == "sum":
        message = f"In {piece} a sum stands where a mean belongs."
        yield edit(site, LIKELY, Kind.SUM_FOR_MEAN, f"{start}mean({arguments})", message)


def _axes(site: Site, node: ast.Call, name: str, start: str) -> Edits:
    """The axis kept or not, or one named at all."""
    own, keywords = site.own, {keyword.arg for keyword in node.keywords}
    on_module = start.removesuffix(".") in MODULES
    axes = len(node.args) > on_module or bool(keywords & {"dim", "axis"})
    piece, arguments = quoted(own.source(node)), own.arguments(node)
    if name in KEEPING and axes and keywords.isdisjoint(_KEEPDIM):
        message = f"{capital(piece)} loses an axis of length 1."
        new = f"{start}{name}({arguments}, keepdim=True)"
        yield edit(site, FIRST, Kind.LOST_KEEPDIM, new, message)
    if name in REDUCTIONS and not axes:
        for axis, keep in itertools.product((0, 1, 2), (", keepdim=True", "")):
            inside = f"{arguments}, {axis}{keep}" if arguments else f"{axis}{keep}"
            message = f"In {piece} every axis is summed."
            yield edit(site, EXPECTED, Kind.WRONG_AXIS, f"{start}{name}({inside})", message)
    elif name in REDUCTIONS and not keywords.isdisjoint(_KEEPDIM):
        message = f"{capital(piece)} keeps an axis that the tensor does not have."
        new = f"{start}{name}({own.arguments(node, but=_KEEPDIM)})"
        yield edit(site, EXPECTED, Kind.WRONG_SHAPE, new, message)


def _special(site: Site, node: ast.Call, name: str, start: str, scope: Scope) -> Edits:
    own = site.own
    piece, arguments = quoted(own.source(node)), own.arguments(node)
    if name == "one_hot" and len(node.args) == 1 and not node.keywords:
        message = f"{capital(piece)} has as many columns as this batch's largest index asks for."
        for size in scope.lecture:
            new = f"{start}one_hot({arguments}, {size})"
            yield edit(site, EXPECTED, Kind.ONLY_THIS_BATCH, new, message, f"`{size}`")
    elif name == "zeros_like" and node.args:
        message = f"{capital(piece)} is nothing but zeros."
        yield edit(site, LIKELY, Kind.MISSING_BRANCH, own.atom(node.args[0]), message)
    elif name == "exp" and not node.args:
        message = f"{capital(piece)} is not divided by its row's sum: it is no probability yet."
        yield edit(site, LIKELY, Kind.MISSING_FACTOR, f"{start}softmax(1)", message)


def change_attribute(site: Site, _: Scope) -> Edits:
    """A transpose too many, a method that is not called."""
    node, own = site.node, site.own
    assert isinstance(node, ast.Attribute)
    if role(site) == CALLEE:
        return
    piece = quoted(own.source(node))
    if node.attr in ("T", "mT"):
        message = f"{capital(piece)} is the wrong way round here."
        yield edit(site, EXPECTED, Kind.TRANSPOSED, own.atom(node.value), message)
    elif node.attr in ("t", "exp", "sum", "mean", "clone", "squeeze", "log", "tanh"):
        message = f"{capital(piece)} is a function, not its result: nothing calls it."
        kind = Kind.TRANSPOSED if node.attr == "t" else Kind.BRACKETS
        yield edit(site, EXPECTED, kind, f"{own.source(node)}()", message)


def change_index(site: Site, scope: Scope) -> Edits:
    """No index, another order of the indices, all of an axis, or one entry of each row."""
    node, own = site.node, site.own
    assert isinstance(node, ast.Subscript)
    value = own.atom(node.value)
    message = f"{capital(quoted(own.source(node)))} picks other entries."
    yield edit(site, LIKELY, Kind.WRONG_INDEX, value, message)
    if getattr(node.value, "id", "") in scope.indices:
        for name in scope.indices:
            yield edit(site, LIKELY, Kind.WRONG_NAME, name, message, f"`{name}`")
    if isinstance(node.slice, ast.Tuple):
        parts = [own.source(part) for part in node.slice.elts]
        for place, part in enumerate(node.slice.elts):
            is_all = isinstance(part, ast.Slice)
            for other in (f"range({size})" for size in scope.lecture) if is_all else (":",):
                index = ", ".join([*parts[:place], other, *parts[place + 1 :]])
                likelihood = EXPECTED if is_all else LIKELY
                yield edit(site, likelihood, Kind.WRONG_INDEX, f"{value}[{index}]", message)


def change_indices(site: Site, scope: Scope) -> Edits:
    """The indices of what is read or stored to, in another order, or one of them another."""
    node, own = site.node, site.own
    assert isinstance(node, ast.Tuple)
    if not isinstance(site.parents[0], ast.Subscript):
        return
    parts = [own.source(part) for part in node.elts]
    start, end = own.source(node)[0] == "(", "these entries are not the ones that belong here."
    message = f"In {quoted(', '.join(parts))} {end}"
    orders = [[*parts] for _ in itertools.combinations(parts, 2)]
    for order, (i, j) in zip(orders, itertools.combinations(range(len(parts)), 2), strict=True):
        order[i], order[j] = parts[j], parts[i]
    for place, part in enumerate(node.elts):
        if isinstance(part, ast.Slice):
            orders += [
                [*parts[:place], f"range({size})", *parts[place + 1 :]] for size in scope.lecture
            ]
    for order in orders:
        new = ", ".join(order)
        yield edit(site, EXPECTED, Kind.WRONG_INDEX, f"({new})" if start else new, message)
