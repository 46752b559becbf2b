"""Which operation of the table an expression is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import torch
from torch import Tensor

from grader.authoring.backward.on_instances import OnInstances
from grader.authoring.backward.readable import text, total
from grader.authoring.backward.table import NOUNS, Operation


class UnknownOperation(Exception):
    """An operation that the table does not know; the message is what it is called."""

    def __init__(self, node: ast.expr) -> None:
        called = node.value if isinstance(node, ast.Attribute | ast.Subscript) else node
        super().__init__(text(called.func if isinstance(called, ast.Call) else node))


def noun(node: ast.expr, on: OnInstances) -> str:
    """A name for the value of an expression."""
    name = operations(node, on)[0].name
    return NOUNS.get(name, name)


def operations(node: ast.expr, on: OnInstances) -> list[Operation]:
    """An expression's operation: an index by its kind; one for each tensor that it joins."""
    match node:
        case ast.Attribute(value=ast.Call() as body, attr="values"):
            index: ast.expr = ast.Constant(0)
        case ast.Subscript(value=body, slice=index):
            if isinstance(on.value(body), Tensor):
                return [_taken(body, index, on)]
        case _:
            found = Operation.read(node, on.is_module)
            axes = [len(on.shape(each)) for each in found.places if found.name == "MatMult"]
            if 1 in axes:
                return [Operation("matvec" if axes[1] == 1 else "vecmat", found.places)]
            return [*_joined(node, found, on)] if found.name in ("cat", "stack") else [found]
    found = Operation.read(body, on.is_module)
    return [Operation(found.name, found.places, {**found.keywords, "part": index})]


def _joined(node: ast.expr, found: Operation, on: OnInstances) -> Iterator[Operation]:
    """For each tensor the place where it stands in the value."""
    given = {**dict(zip(("tensors", "dim"), found.places, strict=False)), **found.keywords}
    axis = on.value(given.get("dim", ast.Constant(0))) % len(on.shape(node))
    tensors: list[ast.expr] = getattr(given["tensors"], "elts", [])
    lengths = [on.count(each, [axis]) for each in tensors if found.name == "cat"]
    for number, each in enumerate(tensors):
        place: ast.expr = ast.Constant(number)
        if lengths:
            start = total(lengths[:number]) if number else None
            is_last = number == len(tensors) - 1
            place = ast.Slice(start, None if is_last else total(lengths[: number + 1]))
        index = ast.Tuple([*[ast.Slice()] * axis, place], ast.Load()) if axis else place
        yield Operation("joined", (each, index))


def _taken(body: ast.expr, index: ast.expr, on: OnInstances) -> Operation:
    """An index as the table has it: nothing taken twice, rows of one axis, or single places."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    values = [None if isinstance(part, ast.Slice) else on.value(part) for part in parts]
    looked_up = [value for value in values if isinstance(value, Tensor | range | list)]
    if all(text(part) in (":", "None", "...") for part in parts):
        return Operation("reshape", (body,))
    once = (
        isinstance(value, range)
        or (isinstance(value, Tensor) and value.dtype == torch.bool)
        or text(part).startswith("torch.arange(")
        for part, value in zip(parts, values, strict=True)
    )
    if any(once) or not looked_up:
        return Operation("placed", (body, index))
    if all(text(part) == ":" for part in parts[:-1]) and len(on.shape(parts[-1])) == 1:
        return Operation("added", (body, ast.Constant(len(parts) - 1), parts[-1]))
    if len(looked_up) == len(parts):
        return Operation("put", (body, ast.Tuple(list(parts), ast.Load())))
    return Operation("Subscript")
