"""Mistakes that only the corpus of diagnoses needs, beside those of `corpus.readers.faults`."""

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


def softmaxes(site: Site) -> Iterator[Mutation]:
    """The softmax over the batch, in each spelling of its axis."""
    match site.node:
        case ast.Call(func=ast.Attribute(attr="softmax" | "log_softmax"), args=args) as call:
            tensors = 1 if ast.unparse(call.func).startswith(("F.", "torch.")) else 0
            other = ast.Constant(0)
            if len(args) > tensors:
                yield "softmax-axis", with_field(call, args=[*args[:tensors], other])
            else:
                turned = [ast.keyword(k.arg, other) if k.arg == "dim" else k for k in call.keywords]
                yield "softmax-axis", with_field(call, keywords=turned)


def factors(site: Site) -> Iterator[Mutation]:
    match site.node:
        case ast.BinOp(left, ast.Mult(), ast.Name(name) as right) if name in site.names.shape_of:
            yield "factor-repeated", expression("L * R * R", L=left, R=right)
        case ast.BinOp(ast.Name(name) as left, ast.Mult(), right) if name in site.names.shape_of:
            yield "factor-repeated", expression("L * L * R", L=left, R=right)
    match site.node:
        case ast.expr() as node if site.is_result and not is_initial(node):
            yield "number-put-in", expression("2 * E", E=node)


def accumulation(site: Site) -> Iterator[Mutation]:
    match site.node, site.parent:
        case ast.Constant(value=True), ast.keyword(arg="accumulate"):
            yield "last-write-wins", ast.Constant(False)


def kinds_of_number(site: Site) -> Iterator[Mutation]:
    if isinstance(site.node, ast.expr) and _is_whole(site):
        yield "cast-to-integers", expression("(E).long()", E=site.node)
        yield "cast-to-half", expression("(E).half()", E=site.node)


def forms(site: Site) -> Iterator[Mutation]:
    """A result in another shape, or with its values in other places."""
    match site.node:
        case ast.Subscript(ast.Call() as called, index) if "None" in ast.unparse(index):
            if "sum" in ast.unparse(called.func):
                yield "keepdim-dropped", called
    if not isinstance(site.node, ast.expr) or not _is_whole(site):
        return
    shape = site.names.shape_of[site.gradient[1:]]
    yield "axis-added", expression("(E).unsqueeze(0)", E=site.node)
    if "1" in shape:
        return
    if len(shape) > 1:
        yield "flattened", expression("(E).flatten()", E=site.node)
    if len(shape) == 2:
        yield "result-permuted", expression("(E).T.reshape(T.shape)", E=site.node, T=_tensor(site))
    yield "result-permuted", expression("(E).flip(0)", E=site.node)


def _tensor(site: Site) -> ast.expr:
    return ast.Name(site.gradient[1:], ast.Load())


def _is_whole(site: Site) -> bool:
    """True for the expression from which a gradient gets its value in one go."""
    match site.parents:
        case (ast.Assign(targets=[ast.Name(name)], value=value), *_):
            whole = name == site.gradient and value is site.node and not site.changed_later
            return whole and not is_initial(value)
    return False


def views(site: Site) -> Iterator[Mutation]:
    """The right view undone in another order: `emb`'s rows and positions change places."""
    if site.gradient != "demb":
        return
    match site.node:
        case ast.Call(func=ast.Attribute(base, "view" | "view_as" | "unflatten" | "reshape")):
            turned = "E.view(block_size, n, n_embd).transpose(0, 1)"
            yield "view-permuted", expression(turned, E=base)
            turned = "E.view(n, n_embd, block_size).transpose(1, 2)"
            yield "view-permuted", expression(turned, E=base)


def routes_of_the_maximum(site: Site) -> Iterator[Mutation]:
    if site.gradient != "dlogits":
        return
    match site.node:
        case ast.Attribute(ast.Call(func=ast.Attribute(attr="max")), "indices"):
            yield "max-at-the-label", expression("Yb")
        case ast.Call(func=ast.Attribute(ast.Subscript(slice=row), "argmax")):
            yield "max-at-the-label", expression("Yb[I]", I=row)
        case ast.Call(func=ast.Attribute(attr="argmax"), keywords=keywords):
            kept = any(k.arg == "keepdim" for k in keywords)
            yield "max-at-the-label", expression("Yb.unsqueeze(1)" if kept else "Yb")


def batches(site: Site) -> Iterator[Mutation]:
    """What happens to be so in this batch: its largest index, or its number of rows."""
    match site.node:
        case ast.Call(func=ast.Attribute(attr="one_hot"), args=[labels, *_]) as call:
            yield "classes-of-the-batch", with_field(call, args=[labels], keywords=[])
        case ast.Call(func=ast.Attribute(attr="zeros_like"), args=[ast.Name("C")]):
            yield "rows-of-the-batch", expression("torch.zeros(int(Xb.max()) + 1, n_embd)")


def einsums(site: Site) -> Iterator[Mutation]:
    match site.node:
        case ast.Call(args=[ast.Constant(str(letters)), left, right]) as call if (
            letters == "nh,nh->h" and "einsum" in ast.unparse(call.func)
        ):
            yield "summed-first", expression("L.sum(0) * R.sum(0)", L=left, R=right)
    # `from torch import einsum`: the letters' own operator knows torch.einsum.
    match site.parent, site.node:
        case ast.Call(func=ast.Name("einsum")), ast.Constant(str(letters)):
            inputs, output = letters.split("->")
            first, *rest = inputs.split(",")
            summed = sorted(set(inputs) - {","} - set(output))
            if len(output) == 2:
                yield "result-transposed", ast.Constant(f"{inputs}->{output[::-1]}")
            for letter in summed[:1]:
                yield "sum-dropped", ast.Constant(f"{inputs}->{output}{letter}")
                if len(output) == 1:
                    yield "axis-changed", ast.Constant(f"{inputs}->{letter}")
            if rest and len({first, *rest}) == 2 and len(first) == 2:
                turned = ",".join([first[::-1], *rest])
                yield "operand-transposed", ast.Constant(f"{turned}->{output}")


def chains(site: Site) -> Iterator[Mutation]:
    """A clone left out at the head of a chain of methods that change it in place."""
    match site.node, site.parent:
        case ast.Call(func=ast.Attribute(ast.Name(name) as base, "clone"), args=[]), ast.Attribute(
            attr=method
        ) if method.endswith("_") and name in site.names.gradients:
            yield "clone-dropped", base


DIAGNOSIS_MUTATIONS: tuple[Operator, ...] = (
    softmaxes,
    factors,
    accumulation,
    kinds_of_number,
    forms,
    views,
    routes_of_the_maximum,
    batches,
    einsums,
    chains,
)
