"""Mistakes in what flows where: names, sizes, indices, loops, accumulation."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from corpus.readers.mutation_site import (
    Mutation,
    Operator,
    Site,
    expression,
    is_initial,
    with_field,
)

# What is read for its shape alone is never mutated: another tensor of that shape is no fault.
READS_THE_SHAPE = {"zeros_like", "ones_like", "empty_like"}


def sizes(site: Site) -> Iterator[Mutation]:
    match site.node:
        case ast.Name(name, ast.Load()) if name in site.names.sizes:
            yield "hard-coded-size", ast.Constant(site.names.sizes[name])
            match site.parent:
                case ast.BinOp(left, ast.Sub(), ast.Constant(1)) if left is site.node:
                    pass
                case _:
                    yield "one-too-few", expression("N - 1", N=site.node)
            if name == "n" and "vocab_size" in site.names.sizes:
                yield "other-size", ast.Name("vocab_size", ast.Load())


def names(site: Site) -> Iterator[Mutation]:
    match site.node, site.parent:
        case _, ast.Attribute(attr="shape" | "dtype"):
            return
        case _, ast.Call(func=ast.Attribute(attr=name)) if name in READS_THE_SHAPE:
            return
        case ast.Name(name, ast.Load()) as node, _ if name in site.names.upstreams:
            yield from _gradient_names(site, node)
        case ast.Name(name, ast.Load()) as node, _ if name in site.names.shape_of:
            yield from _forward_names(site, node)


def _gradient_names(site: Site, node: ast.Name) -> Iterator[Mutation]:
    if node.id == site.gradient:
        return
    forward = node.id.removeprefix("d")
    shape_of = site.names.shape_of
    shape = shape_of[forward]
    yield "forward-for-gradient", ast.Name(forward, ast.Load())
    others = [d for d in site.names.gradients if d in site.earlier and shape_of[d[1:]] == shape]
    for other in [d for d in others if d not in (node.id, site.gradient)][-1:]:
        yield "other-gradient", ast.Name(other, ast.Load())
    if shape[0] == "n":
        padding = [0] * (2 * len(shape) - 2) + [1, 0]
        template = f"F.pad({node.id}[1:], {tuple(padding)})"
        yield "first-row-zeroed", expression(template)
    if node.id == "demb" and site.gradient == "dC":
        template = "(demb * (torch.arange(block_size) == 0)[:, None])"
        yield "first-position-only", expression(template)


def _forward_names(site: Site, node: ast.Name) -> Iterator[Mutation]:
    if node.id == "h" and site.gradient == "dhpreact":
        yield "tanh-slope-of-input", ast.Name("hpreact", ast.Load())
        yield "tanh-twice", expression("torch.tanh(h)")
    shape_of = site.names.shape_of
    family = [name for name, shape in shape_of.items() if shape == shape_of[node.id]]
    if len(family) > 1:
        other = family[(family.index(node.id) + 1) % len(family)]
        yield "other-forward", ast.Name(other, ast.Load())
    if f"d{node.id}" in site.earlier and f"d{node.id}" != site.gradient:
        yield "gradient-for-forward", ast.Name(f"d{node.id}", ast.Load())


def routes(site: Site) -> Iterator[Mutation]:
    """Indices, loops and views: where numbers come from or go to."""
    match site.node:
        case ast.Name("Yb", ast.Load()):
            yield "index-misrouted", expression("Yb.flip(0)")
        case ast.Name("Xb", ast.Load()) if not isinstance(site.parent, ast.Attribute):
            yield "index-misrouted", expression("Xb.flip(0)")
        case ast.Attribute(ast.Name("Xb"), "view" | "reshape"):
            yield "index-misrouted", expression(f"Xb.flip(0).{site.node.attr}")
        case ast.Call(func=ast.Name("range"), args=[stop]):
            yield "loop-starts-late", expression("range(1, S)", S=stop)
            if ast.unparse(stop) != "n" and site.gradient == "dC":
                yield "first-position-only", expression("range(1)")
        case ast.Tuple([ast.Name() as first, ast.Name() as second]) if isinstance(
            site.parent, ast.Subscript
        ):
            yield "indices-swapped", ast.Tuple([second, first], ast.Load())
        case ast.Call(func=ast.Attribute(base, "view" | "reshape"), args=[_, _, _]):
            swapped = "E.view(block_size, n, n_embd).transpose(0, 1)"
            yield "view-permuted", expression(swapped, E=base)
            swapped = "E.view(n, n_embd, block_size).transpose(1, 2)"
            yield "view-permuted", expression(swapped, E=base)
        case ast.Slice(lower=ast.BinOp(left=ast.Name(j))):
            every = expression(f"x[{j}::block_size]")
            assert isinstance(every, ast.Subscript)
            yield "view-permuted", every.slice


def results(site: Site) -> Iterator[Mutation]:
    if not site.is_result or not isinstance(site.node, ast.expr):
        return
    if site.built_upon or not is_initial(site.node):
        yield "divided-by-zero", expression("E / 0", E=site.node)
    if site.built_upon and is_initial(site.node):
        match site.node:
            case ast.Call(func=ast.Attribute(attr="zeros_like" | "zeros" as name) as func) as call:
                ones = name.replace("zeros", "ones")
                yield "ones-for-zeros", with_field(call, func=with_field(func, attr=ones))
    if is_initial(site.node):
        return
    yield "times-zero", expression("E * 0", E=site.node)
    if site.changed_later and isinstance(site.parent, ast.Assign):
        yield "first-branch-missing", expression("torch.zeros_like(E)", E=site.node)
    match site.node:
        case ast.Call(func=ast.Attribute(base, "clone"), args=[]) if site.changed_later:
            yield "clone-dropped", base
        case ast.Call(func=ast.Attribute(_, "copy_"), args=[copied]) if site.changed_later:
            yield "clone-dropped", copied


def statements(site: Site) -> Iterator[Mutation]:
    match site.node:
        case ast.AugAssign(target, op, value):
            taken = value if isinstance(op, ast.Add) else expression("-E", E=value)
            if isinstance(op, ast.Add | ast.Sub):
                yield "overwritten", ast.Assign([target], taken, lineno=0)
                other: ast.operator = ast.Sub() if isinstance(op, ast.Add) else ast.Add()
                yield "plus-minus-swapped", ast.AugAssign(target, other, value)
            yield "contribution-missing", ast.Pass()
        case ast.Expr(ast.Call(func=ast.Attribute(base, name), args=args)) if name.endswith("_"):
            yield "contribution-missing", ast.Pass()
            if name == "add_" and isinstance(base, ast.Name):
                call = expression("B.copy_(E)", B=base, E=args[0])
                yield "overwritten", ast.Expr(call)


FLOW_MUTATIONS: tuple[Operator, ...] = (sizes, names, routes, results, statements)
