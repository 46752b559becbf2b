"""Mutation operators: each turns one node of a right answer into a mistake that people make."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.exercise_text import GRADIENTS

SHAPES = {
    "n vocab_size": "logprobs probs counts norm_logits logits",
    "n 1": "counts_sum_inv counts_sum logit_maxes",
    "n n_hidden": "h hpreact bnraw bndiff2 bndiff hprebn",
    "1 n_hidden": "bngain bnbias bnvar_inv bnvar bnmeani",
    "vocab_size": "b2",
    "n_hidden": "b1",
    "n_hidden vocab_size": "W2",
    "block_size*n_embd n_hidden": "W1",
    "vocab_size n_embd": "C",
    "n block_size*n_embd": "embcat",
    "n block_size n_embd": "emb",
}
SHAPE_OF = {name: shape.split() for shape, names in SHAPES.items() for name in names.split()}
"""The symbolic shape of every tensor that has a gradient."""

LECTURE_SIZES = {"n": 32, "vocab_size": 27, "n_embd": 10, "n_hidden": 64, "block_size": 3}
REDUCTIONS = {"sum", "mean", "max", "argmax"}
# What is read for its shape alone is never mutated: another tensor of that shape is no fault.
READS_THE_SHAPE = {"zeros_like", "ones_like", "empty_like"}
ARITHMETIC_METHODS = {"add_", "sub_", "mul_", "div_", "pow", "pow_", "add", "sub", "mul", "div"}

Mutation = tuple[str, ast.expr | ast.stmt]
"""The kind of the mistake, and what stands in the place of the node."""


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A node of an answer that could carry a mistake.

    `parents` goes outwards from the node to its top-level statement; `earlier` are the gradients
    that are written before that statement; `changed_later` says that a later statement changes
    the gradient in place.
    """

    node: ast.AST
    parents: tuple[ast.AST, ...]
    gradient: str
    earlier: frozenset[str]
    changed_later: bool
    built_upon: bool

    @property
    def parent(self) -> ast.AST:
        return self.parents[0] if self.parents else ast.Module([], [])

    @property
    def is_result(self) -> bool:
        """True for the whole expression that a statement assigns, adds or passes to a method."""
        match self.parents:
            case (ast.Assign(value=value) | ast.AugAssign(value=value), *_):
                return value is self.node
            case (ast.Call(args=[value, *_], func=ast.Attribute(attr=name)), ast.Expr(), *_):
                return value is self.node and name in ARITHMETIC_METHODS
        return False

    @property
    def is_number_of_the_formula(self) -> bool:
        """True for a factor, a term or a power; false for an axis, an index or a size."""
        match self.parents:
            case (ast.Slice(), *_) | (_, ast.Slice(), *_):
                return False
            case (ast.BinOp(), *_) | (ast.UnaryOp(), ast.BinOp(), *_):
                return True
            case (ast.keyword(arg="value" | "alpha"), *_):
                return True
            case (ast.UnaryOp(), ast.Call(func=ast.Attribute(attr="scatter_")), *_):
                return True
            case (ast.Call(func=ast.Attribute(attr=name)), *_) | (
                ast.UnaryOp(),
                ast.Call(func=ast.Attribute(attr=name)),
                *_,
            ):
                return name in ARITHMETIC_METHODS
        return False


def expression(template: str, **parts: ast.expr) -> ast.expr:
    """An expression from a template, in which the names of `parts` stand for those parts."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:  # noqa: N802 - called by name
            return parts.get(name.id, name)

    filled = Fill().visit(ast.parse(template, mode="eval").body)
    assert isinstance(filled, ast.expr)
    return filled


def with_field(node: ast.expr, **fields: object) -> ast.expr:
    """The same node with some fields replaced."""
    old = {name: getattr(node, name, None) for name in node._fields}
    return type(node)(**(old | fields))


def signs(site: Site) -> Iterator[Mutation]:
    match site.node:
        case ast.UnaryOp(ast.USub(), ast.BinOp(base, ast.Pow(), exponent)):
            yield "minus-inside-the-power", expression("(-B) ** X", B=base, X=exponent)
    match site.node:
        case ast.UnaryOp(ast.USub(), operand):
            yield "sign-flipped", operand
        case ast.Call(func=ast.Attribute(value, "neg_" | "neg"), args=[]):
            yield "sign-flipped", value
        case ast.expr() as node if site.is_result and not _is_initial(node):
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
            yield "times-for-divide", expression("L / R", L=left, R=right)
        case ast.BinOp(left, ast.Div(), right):
            yield "factor-dropped", left
            if not isinstance(left, ast.Constant):
                yield "factor-dropped", expression("1 / R", R=right)
            yield "times-for-divide", expression("L * R", L=left, R=right)
        case ast.BinOp(left, ast.Add(), right):
            yield "term-dropped", left
            yield "term-dropped", right
            yield "plus-for-minus", expression("L - R", L=left, R=right)
        case ast.BinOp(left, ast.Sub(), right):
            yield "term-dropped", left
            yield "term-dropped", expression("-R", R=right)
            yield "plus-for-minus", expression("L + R", L=left, R=right)
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
    "add_": ("plus-for-minus", "sub_"),
    "sub_": ("plus-for-minus", "add_"),
    "mul_": ("times-for-divide", "div_"),
    "div_": ("times-for-divide", "mul_"),
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
    axis = args[0] if args else next((k.value for k in keywords if k.arg == "dim"), None)
    if isinstance(axis, ast.Constant):
        other = ast.Constant(1 - axis.value)
        turned = [k if k.value is not axis else ast.keyword(k.arg, other) for k in keywords]
        yield "axis-changed", with_field(call, args=[other] if args else [], keywords=turned)
    if name == "sum":
        yield "sum-dropped", base
        match base:
            case ast.BinOp(left, ast.Mult(), right):
                early = with_field(call, func=with_field(func, value=left))
                yield "summed-first", expression("S * R", S=early, R=right)
            case ast.Call(func=ast.Attribute(ast.Name("torch"), "mul"), args=[left, right]):
                early = with_field(call, func=with_field(func, value=left))
                yield "summed-first", expression("S * R", S=early, R=right)
        if isinstance(axis, ast.Constant) and axis.value == 1:
            picked = "E[range(n), Yb].view(n, 1)" if len(kept) < len(keywords) else "E[range(n), Yb]"
            yield "gather-for-sum", expression(picked, E=base)


def transposes(site: Site) -> Iterator[Mutation]:
    match site.node:
        case ast.Attribute(base, "T"):
            yield "transpose-dropped", base
        case ast.expr() as node if site.is_result and isinstance(site.parent, ast.Assign):
            whole = ast.unparse(site.parent.targets[0]) == site.gradient and not _is_initial(node)
            if whole and len(SHAPE_OF[site.gradient[1:]]) == 2:
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
                yield "operand-transposed", ast.Constant(f"{','.join([first[::-1], *rest])}->{output}")


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


def sizes(site: Site) -> Iterator[Mutation]:
    match site.node:
        case ast.Name(name, ast.Load()) if name in LECTURE_SIZES:
            yield "hard-coded-size", ast.Constant(LECTURE_SIZES[name])
            match site.parent:
                case ast.BinOp(left, ast.Sub(), ast.Constant(1)) if left is site.node:
                    pass
                case _:
                    yield "one-too-few", expression("N - 1", N=site.node)
            if name == "n":
                yield "other-size", ast.Name("vocab_size", ast.Load())


def names(site: Site) -> Iterator[Mutation]:
    match site.node, site.parent:
        case _, ast.Attribute(attr="shape" | "dtype"):
            return
        case _, ast.Call(func=ast.Attribute(attr=name)) if name in READS_THE_SHAPE:
            return
        case ast.Name(name, ast.Load()) as node, _ if name in GRADIENTS:
            yield from _gradient_names(site, node)
        case ast.Name(name, ast.Load()) as node, _ if name in SHAPE_OF:
            yield from _forward_names(site, node)


def _gradient_names(site: Site, node: ast.Name) -> Iterator[Mutation]:
    if node.id == site.gradient:
        return
    forward = node.id.removeprefix("d")
    shape = SHAPE_OF[forward]
    yield "forward-for-gradient", ast.Name(forward, ast.Load())
    others = [d for d in GRADIENTS if d in site.earlier and SHAPE_OF[d[1:]] == shape]
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
    family = [name for name, shape in SHAPE_OF.items() if shape == SHAPE_OF[node.id]]
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
            if "n" != ast.unparse(stop) and site.gradient == "dC":
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
    if site.built_upon or not _is_initial(site.node):
        yield "divided-by-zero", expression("E / 0", E=site.node)
    if site.built_upon and _is_initial(site.node):
        match site.node:
            case ast.Call(func=ast.Attribute(value, "zeros_like" | "zeros" as name) as func) as call:
                ones = name.replace("zeros", "ones")
                yield "ones-for-zeros", with_field(call, func=with_field(func, attr=ones))
    if _is_initial(site.node):
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
                yield "plus-for-minus", ast.AugAssign(target, other, value)
            yield "second-branch-missing", ast.Pass()
        case ast.Expr(ast.Call(func=ast.Attribute(base, name), args=args)) if name.endswith("_"):
            yield "second-branch-missing", ast.Pass()
            if name == "add_" and isinstance(base, ast.Name):
                call = expression("B.copy_(E)", B=base, E=args[0])
                yield "overwritten", ast.Expr(call)


def _is_initial(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(ast.Name("torch"), name)):
            return name in {"zeros_like", "zeros", "empty_like"}
    return False


OPERATORS: tuple[Callable[[Site], Iterator[Mutation]], ...] = (
    signs,
    operators,
    methods,
    axes,
    transposes,
    einsum_letters,
    numbers,
    sizes,
    names,
    routes,
    results,
    statements,
)
"""In this order: where two operators make the same text, the first one names the mistake."""
