"""Mistakes in a formula: signs, factors, powers, axes, transposes, constants."""

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

REDUCTIONS = {"sum", "mean", "max", "argmax"}


def signs(site: Site) -> Iterator[Mutation]:
    match site.node:
        case ast.UnaryOp(ast.USub(), ast.BinOp(base, ast.Pow(), exponent)):
            yield "minus-inside-the-power", expression("(-B) ** X", B=base, X=exponent)
    match site.node:
        case ast.UnaryOp(ast.USub(), operand):
            yield "sign-flipped", operand
        case ast.Call(func=ast.Attribute(value, "neg_" | "neg"), args=[]):
            yield "sign-flipped", value
        case ast.expr() as node if site.is_result and not is_initial(node):
            yield "sign-flipped", expression("-E", E=node)


def operators(site: Site) -> Iterator[Mutation]:
    match site.node:
        case ast.BinOp(left, ast.Sub(), ast.Constant(1)) if ast.unparse(left) == "n":
            yield "bessel-forgotten", left
        case ast.BinOp(left, ast.Add(), ast.Constant(1e-5)):
            yield "eps-dropped", left
        case ast.BinOp(left, ast.Mult(), right):
            yield "factor-dropped", left
            yield "factor-dropped", right
            yield "times-divide-swapped", expression("L / R", L=left, R=right)
        case ast.BinOp(left, ast.Div(), right):
            yield "factor-dropped", left
            if not isinstance(left, ast.Constant):
                yield "factor-dropped", expression("1 / R", R=right)
            yield "times-divide-swapped", expression("L * R", L=left, R=right)
        case ast.BinOp(left, ast.Add(), right):
            yield "term-dropped", left
            yield "term-dropped", right
            yield "plus-minus-swapped", expression("L - R", L=left, R=right)
        case ast.BinOp(left, ast.Sub(), right):
            yield "term-dropped", left
            yield "term-dropped", expression("-R", R=right)
            yield "plus-minus-swapped", expression("L + R", L=left, R=right)
        case ast.BinOp(left, ast.Pow(), right):
            yield "power-dropped", left
            yield "power-changed", expression("L ** (R + 1)", L=left, R=right)
        case ast.BinOp(left, ast.MatMult(), right):
            yield "matmul-turned-round", expression("R @ L", L=left, R=right)
            yield "matmul-for-product", expression("L * R", L=left, R=right)
        case ast.Call(func=ast.Attribute(base, "pow"), args=[power]):
            yield "power-dropped", base
            yield "power-changed", expression("B.pow(X + 1)", B=base, X=power)


METHODS = {
    "add_": ("plus-minus-swapped", "sub_"),
    "sub_": ("plus-minus-swapped", "add_"),
    "mul_": ("times-divide-swapped", "div_"),
    "div_": ("times-divide-swapped", "mul_"),
    "index_add_": ("last-write-wins", "index_copy_"),
    "scatter_add_": ("last-write-wins", "scatter_"),
    "argmax": ("max-misrouted", "argmin"),
    "sum": ("mean-for-sum", "mean"),
    "mean": ("sum-for-mean", "sum"),
}


def methods(site: Site) -> Iterator[Mutation]:
    match site.node:
        case ast.Call(func=ast.Attribute(base, name) as func) as call if name in METHODS:
            kind, other = METHODS[name]
            yield kind, with_field(call, func=with_field(func, attr=other))
            if name.endswith("_") and isinstance(base, ast.Call):
                yield "factor-dropped", base
    match site.node:
        case ast.Attribute(ast.Call(func=ast.Attribute(base, "max"), args=args), "indices"):
            misrouted = expression("B.min(A).indices", B=base, A=args[0])
            yield "max-misrouted", misrouted


def axes(site: Site) -> Iterator[Mutation]:
    match site.node:
        case ast.Call(func=ast.Attribute(base, name) as func, args=args, keywords=keywords) as call:
            pass
        case _:
            return
    kept = [k for k in keywords if k.arg != "keepdim"]
    if len(kept) < len(keywords):
        yield "keepdim-dropped", with_field(call, keywords=kept)
    elif name in {"unsqueeze", "view"} and len(args) <= 2 and "shape" not in ast.dump(call):
        yield "keepdim-dropped", base
    if name not in REDUCTIONS:
        return
    # torch.sum(E, 0) as well as E.sum(0).
    tensor, *axes_given = args if ast.unparse(base) == "torch" else [base, *args]
    named = next((k.value for k in keywords if k.arg == "dim"), None)
    axis = axes_given[0] if axes_given else named
    if isinstance(axis, ast.Constant) and isinstance(axis.value, int):
        other = ast.Constant(abs(axis.value - 1))
        placed = [a if a is not axis else other for a in args]
        turned = [k if k.value is not axis else ast.keyword(k.arg, other) for k in keywords]
        yield "axis-changed", with_field(call, args=placed, keywords=turned)
    if name == "sum":
        yield "sum-dropped", tensor
        match tensor:
            case (
                ast.BinOp(left, ast.Mult(), right)
                | ast.Call(func=ast.Attribute(ast.Name("torch"), "mul"), args=[left, right])
            ):
                early = (
                    with_field(call, func=with_field(func, value=left))
                    if tensor is base
                    else with_field(call, args=[left, *axes_given])
                )
                yield "summed-first", expression("S * R", S=early, R=right)
        if isinstance(axis, ast.Constant) and axis.value == 1:
            picked = (
                "E[range(n), Yb].view(n, 1)" if len(kept) < len(keywords) else "E[range(n), Yb]"
            )
            yield "gather-for-sum", expression(picked, E=tensor)


def transposes(site: Site) -> Iterator[Mutation]:
    match site.node:
        case ast.Attribute(base, "T"):
            yield "transpose-dropped", base
        case ast.expr() as node if site.is_result and isinstance(site.parent, ast.Assign):
            whole = ast.unparse(site.parent.targets[0]) == site.gradient and not is_initial(node)
            if whole and len(site.names.shape_of[site.gradient[1:]]) == 2:
                yield "result-transposed", expression("E.T", E=node)


def einsum_letters(site: Site) -> Iterator[Mutation]:
    match site.parent, site.node:
        case ast.Call(func=ast.Attribute(attr="einsum")), ast.Constant(str(letters)):
            inputs, output = letters.split("->")
            given = sorted(set(inputs) - {",", "o"} - set(output))
            if len(output) == 2:
                yield "result-transposed", ast.Constant(f"{inputs}->{output[::-1]}")
                yield "broadcast-forgotten", ast.Constant(f"{inputs}->{output[0]}")
            for letter in given[:1]:
                yield "sum-dropped", ast.Constant(f"{inputs}->{output}{letter}")
                if len(output) == 1:
                    yield "axis-changed", ast.Constant(f"{inputs}->{letter}")
            if len(inputs.split(",")[0]) == 2 and len(set(inputs.split(","))) == 2:
                first, *rest = inputs.split(",")
                yield (
                    "operand-transposed",
                    ast.Constant(f"{','.join([first[::-1], *rest])}->{output}"),
                )


def numbers(site: Site) -> Iterator[Mutation]:
    match site.node:
        case ast.Constant(1e-5):
            yield "eps-changed", ast.Constant(1e-3)
        case ast.Constant(1.5):
            yield "exponent-kept", ast.Constant(0.5)
        case ast.Constant(int() | float() as value) if site.is_number_of_the_formula:
            yield "constant-changed", ast.Constant(value + 1)
            if value not in (0, 1):
                yield "constant-changed", ast.Constant(type(value)(1))


FORMULA_MUTATIONS: tuple[Operator, ...] = (
    signs,
    operators,
    methods,
    axes,
    transposes,
    einsum_letters,
    numbers,
)
