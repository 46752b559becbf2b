"""Run an annotated forward function line by line, with autograd and nothing of the grader."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import cycle
from math import prod
from types import ModuleType
from typing import get_type_hints

import torch
from torch import Tensor

SIZES = ((4, 3, 5, 2), (5, 4, 2, 3))
"""Lengths for the size names of a function, in the order in which they appear; two instances."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A forward function on one instance: every value by name, and autograd's gradients."""

    values: Mapping[str, Tensor | int]
    gradients: Mapping[str, Tensor]
    """By "dx" for each differentiable input or step `x`."""
    asked: tuple[str, ...]
    """Those of the inputs, in order: what a backward function returns."""


def definition(function: Callable[..., object]) -> ast.FunctionDef:
    """The syntax tree of a function."""
    statement = ast.parse(inspect.getsource(function)).body[0]
    assert isinstance(statement, ast.FunctionDef)
    return statement


def steps(function: Callable[..., object]) -> list[tuple[str, ast.expr]]:
    """The lines `name = expression` of a forward function, each name assigned once."""
    *lines, last = definition(function).body
    found: list[tuple[str, ast.expr]] = []
    for line in lines:
        assert isinstance(line, ast.Assign), f"not a step: {ast.unparse(line)}"
        (target,) = line.targets
        assert isinstance(target, ast.Name), f"not a name: {ast.unparse(line)}"
        found.append((target.id, line.value))
    names = [*inspect.signature(function).parameters, *(name for name, _ in found)]
    assert len(names) == len(set(names)), f"a name is assigned twice: {names}"
    assert isinstance(last, ast.Return)
    assert ast.unparse(last) == f"return {found[-1][0]}"
    return found


def run(module: ModuleType, function: str, lengths: tuple[int, ...], seed: int) -> Run:
    """Run a module's forward function on drawn inputs, from a drawn gradient of what it returns."""
    forward = getattr(module, function)
    generator = torch.Generator().manual_seed(seed)
    shapes = _shapes(forward)
    sizes = dict(zip(_size_names(shapes), cycle(lengths), strict=False))
    inputs = {name: _draw(shape, sizes, generator) for name, shape in shapes.items()}
    if hasattr(module, "inputs"):
        inputs |= module.inputs(generator, **sizes)
    for value in inputs.values():
        if value.is_floating_point():
            value.requires_grad_()
    scope = vars(module) | inputs
    lines = steps(forward)
    for name, expression in lines:
        scope[name] = eval(compile(ast.Expression(expression), "<forward>", "eval"), scope)
    returned = scope[lines[-1][0]]
    upstream = torch.randn(returned.shape, generator=generator, dtype=torch.float64)
    known = {name: scope[name] for name in (*inputs, *(name for name, _ in lines))}
    smooth = {f"d{name}": value for name, value in known.items() if value.requires_grad}
    found = torch.autograd.grad(returned, list(smooth.values()), upstream, materialize_grads=True)
    return Run(
        values={name: value.detach() for name, value in known.items()}
        | sizes
        | {f"d{lines[-1][0]}": upstream},
        gradients=dict(zip(smooth, found, strict=True)),
        asked=tuple(f"d{name}" for name in inputs if f"d{name}" in smooth),
    )


def _shapes(function: Callable[..., object]) -> dict[str, str]:
    hints = get_type_hints(function, include_extras=True)
    return {name: hints[name].__metadata__[0] for name in inspect.signature(function).parameters}


def _size_names(shapes: Mapping[str, str]) -> list[str]:
    words = " ".join(shapes.values()).replace(",", " ").replace("*", " ").replace("<", " ").split()
    return list(dict.fromkeys(word for word in words if not word.isdigit()))


def _draw(annotation: str, sizes: Mapping[str, int], generator: torch.Generator) -> Tensor:
    shape, _, bound = annotation.partition("<")
    lengths = [_length(text, sizes) for text in shape.split(",")]
    if bound:
        return torch.randint(_length(bound, sizes), lengths, generator=generator)
    return torch.randn(lengths, generator=generator, dtype=torch.float64)


def _length(text: str, sizes: Mapping[str, int]) -> int:
    factors = (factor.strip() for factor in text.split("*"))
    return prod(int(factor) if factor.isdigit() else sizes[factor] for factor in factors)
