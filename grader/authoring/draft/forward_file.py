"""An author's file of forward functions, as a course's `forward.py`."""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from pathlib import Path
from typing import Any

from grader.answer.statements import stored_names, walk_names
from grader.explanation.forward import Forward
from grader.program.course import BadCourse, read_text
from grader.program.exercises import run_file
from grader.program.instances import Instance

LONGEST = 100
"""How many characters a line may have."""

LOSSES = ("loss", "total", "weighed")
"""What the last step is called where the author's function returns no loss; the first free one."""


TextEdit = tuple[int, int, str]
"""The bytes of a text, from one up to another, and the text that takes their place."""


def read_forward_file(path: Path) -> tuple[str, list[str]]:
    """Keep the forward functions of a file and what they need; let each end in a loss.

    A function that returns tensors is weighed: it gets the gradients that arrive at them as inputs
    and ends in `loss = (dout * out).sum()`.

    Returns:
        The text of a course's `forward.py`, and the names of its forward functions.

    Raises:
        BadCourse, BadInput: there is no such function, or one that is not straight-line code; the
            message says which line.
    """
    text = read_text(path)
    scope, tree = run_file(path, text), ast.parse(text)
    definitions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    forwards = [node for node in definitions if any(map(_is_shape, _annotations(node)))]
    if not forwards:
        raise BadCourse(
            f"{path} has no forward function: one whose inputs are annotated with their shapes, "
            'such as `def double(x: Annotated[Tensor, "n, d"]):`.'
        )
    names = [node.name for node in definitions]
    for node in forwards:
        if names.count(node.name) > 1:
            again = next(n for n in definitions[::-1] if n.name == node.name)
            raise BadCourse(f"{path}, line {again.lineno}: there is a {node.name} before this one.")
    starts = _line_starts(text)
    edits = [edit for node in forwards for edit in _weighed(scope[node.name], node, text, starts)]
    kept = [*forwards, *needed(tree, forwards)]
    for other in tree.body:
        if other not in kept and not isinstance(other, ast.Expr) and not _is_future(other):
            first = min([other.lineno, *(d.lineno for d in getattr(other, "decorator_list", ()))])
            edits.append((starts[first - 1], starts[other.end_lineno or first], ""))
    return _edited(text, edits), [node.name for node in forwards]


def needed(tree: ast.Module, by: Iterable[ast.AST]) -> list[ast.stmt]:
    """The statements at the top of a file that define what these need."""
    kept: list[ast.stmt] = []
    wanted = {name.id for name in walk_names(*by)}
    for node in reversed(tree.body):
        if not wanted.isdisjoint(_defined(node)):
            kept.append(node)
            wanted |= {name.id for name in walk_names(node)}
    return kept[::-1]


def shape_texts(value: str, instances: Sequence[Instance]) -> list[str]:
    """The axes of a tensor by the names of sizes: ["n", "d * 2", "1"], "?" if none fit."""
    shapes = [tuple(instance.values[value].shape) for instance in instances]
    sizes = {
        name: tuple(instance.sizes[name] for instance in instances) for name in instances[0].sizes
    }
    factors = {**sizes, **{str(number): (number,) * len(shapes) for number in range(2, 10)}}
    known = {(1,) * len(shapes): "1"}
    for count in (1, 2, 3):
        for names in itertools.combinations_with_replacement(factors, count):
            product = tuple(map(math.prod, zip(*(factors[name] for name in names), strict=True)))
            known.setdefault(product, " * ".join(names))
    for (name, size), more in itertools.product(sizes.items(), range(1, 10)):
        known.setdefault(tuple(length - more for length in size), f"{name} - {more}")
        known.setdefault(tuple(length + more for length in size), f"{name} + {more}")
    return [known.get(lengths, "?") for lengths in zip(*shapes, strict=True)]


def _weighed(
    function: Callable[..., Any], node: ast.FunctionDef, text: str, starts: Sequence[int]
) -> Iterator[TextEdit]:
    """The edits after which a function ends in a loss; none where it does already."""
    forward = Forward.of(function, {}, None).tried_out()
    program, tried = forward.program, forward.tried
    if forward.returned == (program.loss,) and tried.values[program.loss].ndim == 0:
        return
    last = node.body[-1]
    where = f"{node.name}, line {last.lineno}"
    instances = program.hidden_instances(seed=0)
    used = {*program.names}
    inputs, terms = [], []
    for result in dict.fromkeys(forward.returned):
        axes = shape_texts(result, instances)
        if "?" in axes:
            raise BadCourse(
                f"{where}: the shape of {result} cannot be said with the sizes of the inputs, so"
                f" that no gradient can be drawn for it. Let {node.name} return a loss."
            )
        is_read = program.readers(result) or f"d{result}" in used
        weight = f"d{result}_given" if is_read else f"d{result}"
        inputs.append((weight, ", ".join(axes)))
        terms.append(f"({weight} * {result}).sum()")
    loss = next(name for name in LOSSES if name not in used)
    yield from _insert_inputs(node, inputs, text, starts)
    indent = " " * last.col_offset
    ending = f"{loss} = {' + '.join(terms)}\n{indent}return {loss}"
    yield _start(last, starts), _end(last, starts), ending


def _insert_inputs(
    node: ast.FunctionDef, inputs: Iterable[tuple[str, str]], text: str, starts: Sequence[int]
) -> Iterator[TextEdit]:
    """Inputs behind the last one with a shape, annotated as that one is."""
    annotation = [each for each in _annotations(node) if _is_shape(each)][-1]
    shape = next(part for part in ast.walk(annotation) if _is_text(part))
    data, behind = text.encode(), _end(annotation, starts)
    before = data[_start(annotation, starts) : _start(shape, starts)].decode()
    after = data[_end(shape, starts) : behind].decode()
    written = [f'{name}: {before}"{axes}"{after}' for name, axes in inputs]
    first = _start(_arguments(node)[0], starts)
    header = text.splitlines()[node.lineno - 1]
    if not header.rstrip().endswith(":"):
        between = f",\n{' ' * _arguments(node)[0].col_offset}"
        yield behind, behind, between + between.join(written)
        return
    inserted = ", " + ", ".join(written)
    if len(header) + len(inserted) > LONGEST:
        closing = data.index(b")", _end(_arguments(node)[-1], starts))
        yield closing, closing, "\n"
        yield first, first, "\n    "
    yield behind, behind, inserted


def _arguments(node: ast.FunctionDef) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _annotations(node: ast.FunctionDef) -> list[ast.expr]:
    return [argument.annotation for argument in _arguments(node) if argument.annotation]


def _is_shape(annotation: ast.expr) -> bool:
    return isinstance(annotation, ast.Subscript) and any(map(_is_text, ast.walk(annotation)))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _defined(node: ast.stmt) -> Set[str]:
    """The names that a statement at the top of a file defines."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return stored_names(node)


def _line_starts(text: str) -> list[int]:
    lengths = map(len, text.encode().splitlines(keepends=True))
    return [0, *itertools.accumulate(lengths)]


def _start(node: Any, starts: Sequence[int]) -> int:
    return int(starts[node.lineno - 1] + node.col_offset)


def _end(node: Any, starts: Sequence[int]) -> int:
    return int(starts[node.end_lineno - 1] + node.end_col_offset)


def _edited(text: str, edits: Iterable[TextEdit]) -> str:
    data = text.encode()
    for start, end, instead in sorted(edits, key=lambda edit: edit[0], reverse=True):
        data = data[:start] + instead.encode() + data[end:]
    return re.sub(r"\n{4,}", "\n\n\n", data.decode()).rstrip() + "\n"
