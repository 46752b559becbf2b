"""The graph that gradients flow through: which steps of a forward program read which tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol


class DrawableStep(Protocol):
    """What a graph needs of a `grader.program.Step`."""

    @property
    def name(self) -> str: ...
    @property
    def expression(self) -> str: ...
    @property
    def reads(self) -> tuple[str, ...]: ...


class Drawable(Protocol):
    """What a graph needs of a `grader.program.ForwardProgram`."""

    @property
    def inputs(self) -> tuple[str, ...]: ...
    @property
    def annotations(self) -> Mapping[str, str]: ...
    @property
    def steps(self) -> Sequence[DrawableStep]: ...
    @property
    def loss(self) -> str: ...


_SIZES = frozenset({"shape", "ndim", "dtype", "device"})
_CUTTING_CALLS = frozenset(
    {"argmax", "argmin", "detach", "dim", "item", "len", "numel", "range", "size"}
)
"""Calls whose results carry no gradient."""


def gradient_graph(program: Drawable) -> dict[str, tuple[str, ...]]:
    """Each tensor that has a gradient, with the steps from which its gradient arrives.

    The loss comes first and readers come before what they read. Left out are indices (an input
    whose annotation has a bound, "n < vocab_size"), sizes, and what the loss does not depend on.
    Only the program's text is looked at; nothing is run.
    """
    sources: dict[str, tuple[str, ...]] = {
        name: () for name in program.inputs if "<" not in program.annotations[name]
    }
    for step in program.steps:
        values = set(_value_names(ast.parse(step.expression, mode="eval").body))
        read = tuple(name for name in step.reads if name in sources and name in values)
        if read:
            sources[step.name] = read
    readers: dict[str, tuple[str, ...]] = {program.loss: ()}
    for name in (*(step.name for step in reversed(program.steps)), *program.inputs):
        arriving = tuple(reader for reader in readers if name in sources.get(reader, ()))
        if arriving:
            readers[name] = arriving
    return readers


def _value_names(node: ast.AST) -> Iterator[str]:
    """The names through whose values a gradient can flow: no sizes, indices or comparisons."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Compare():
            return
        case ast.Attribute(attr=attribute) if attribute in _SIZES:
            return
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in _CUTTING_CALLS:
            return
        case ast.Subscript(value=value):
            yield from _value_names(value)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _value_names(child)
