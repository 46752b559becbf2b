"""A place in a right answer where a mistake could stand."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """What an exercise calls its tensors: the gradients asked for, symbolic shapes, sizes.

    `shape_of` has every tensor that has a gradient, whether it is asked for or handed in; `sizes`
    are those of the instance that the student sees.
    """

    gradients: tuple[str, ...]
    shape_of: Mapping[str, list[str]]
    sizes: Mapping[str, int]

    @property
    def upstreams(self) -> tuple[str, ...]:
        """The names of gradients, those handed in among them."""
        handed = (f"d{name}" for name in self.shape_of if f"d{name}" not in self.gradients)
        return (*self.gradients, *handed)


def shapes(table: Mapping[str, str]) -> dict[str, list[str]]:
    """The symbolic shape of each name, from a table of names by shape."""
    return {name: shape.split() for shape, names in table.items() for name in names.split()}


ARITHMETIC_METHODS = {"add_", "sub_", "mul_", "div_", "pow", "pow_", "add", "sub", "mul", "div"}

Mutation = tuple[str, ast.expr | ast.stmt]
"""The kind of the mistake, and what stands in the place of the node."""


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A node of an answer that could carry a mistake.

    `parents` goes outwards from the node to its top-level statement; `names` are the exercise's;
    `earlier` are the gradients that are written before that statement. `changed_later` says that a
    later statement changes the gradient in place, `built_upon` that it does more than replace
    every row in a loop.
    """

    node: ast.AST
    parents: tuple[ast.AST, ...]
    gradient: str
    names: Names
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


Operator = Callable[[Site], Iterator[Mutation]]


def expression(template: str, **parts: ast.expr) -> ast.expr:
    """An expression from a template, in which the names of `parts` stand for those parts."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:
            return parts.get(name.id, name)

    filled = Fill().visit(ast.parse(template, mode="eval").body)
    assert isinstance(filled, ast.expr)
    return filled


def with_field(node: ast.expr, **fields: object) -> ast.expr:
    """The same node with some fields replaced."""
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def is_initial(node: ast.expr) -> bool:
    """True for a tensor that is made to be filled later."""
    match node:
        case ast.Call(func=ast.Attribute(ast.Name("torch"), name)):
            return name in {"zeros_like", "zeros", "empty_like"}
    return False
