"""A forward pass and its backward pass, read off the cells that a notebook has run."""

from __future__ import annotations

import ast
import copy
import itertools
import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import Parameter, Signature
from typing import Annotated, Any

import torch
from torch import Tensor

from grader.answer.cell_source import hide_magics
from grader.answer.parse import AnswerCell, parse_answer
from grader.answer.quote import LONGEST_QUOTE
from grader.answer.statements import walk_names
from grader.explanation.backward import Backward
from grader.explanation.forward import SIZES, Forward
from grader.explanation.subject import Subject
from grader.user_error import BadInput

FILE = "the cell"
"""What a report calls the cell with the backward pass."""

NEAR = 0.1
"""By how much a drawn number differs from one of the notebook's, as a share of it."""

FEW = 2
"""A float tensor with so few different values that needs no gradient is a mask: it stays one."""

MOST_LOOKED_AT = 100_000
"""Numbers of a tensor of which it is asked how many are different: a mask may be as large."""

MOST_SIZES = len(SIZES[0])


@dataclass(eq=False)
class ForwardCells:
    """The steps from tensors that nobody computed to the `result`, in the order in which they ran.

    Only statements `name = expression` count. What cannot be read, such as a loop, becomes an
    input: `remarks` has a sentence about each.

    `sources` are the cells that ran, `namespace` the notebook's names.
    """

    sources: Sequence[str]
    namespace: Mapping[str, Any]
    result: str
    remarks: list[str] = field(default_factory=list)

    @cached_property
    def steps(self) -> dict[str, ast.Assign]:
        """The statement of each step."""
        chosen: dict[str, int] = {}
        wanted = [(self.result, len(self._written))]
        while wanted:
            name, before = wanted.pop()
            place = self._last(name, before)
            if name in chosen or place is None or not self._is_step(name, place):
                continue
            chosen[name] = place
            wanted += [(read, place) for read in self._reads(self._written[place][0])]
        if self.result not in chosen:
            raise BadInput(
                f"No cell that ran computes {self.result} in a line of its own,"
                f" `{self.result} = ...`, from tensors."
            )
        ordered = sorted(chosen.items(), key=lambda item: item[1])
        found = ((name, self._written[place][0]) for name, place in ordered)
        return {name: one for name, one in found if isinstance(one, ast.Assign)}

    @cached_property
    def inputs(self) -> dict[str, Tensor]:
        """The tensors that the steps read and that none of them makes."""
        read = itertools.chain.from_iterable(map(self._reads, self.steps.values()))
        names = (name for name in dict.fromkeys(read) if name not in self.steps)
        values = ((name, self.namespace.get(name)) for name in names)
        return {name: value.detach() for name, value in values if isinstance(value, Tensor)}

    @cached_property
    def _written(self) -> list[tuple[ast.stmt, frozenset[str]]]:
        """The statements that ran, each with the names that it binds or changes."""
        # A cell that is not Python raised, and made nothing.
        read = (parse_answer([AnswerCell("", source)]) for source in self.sources)
        return [pair for answer in read for pair in answer.written.items()]

    def _last(self, name: str, before: int) -> int | None:
        """Where a name was bound or changed last before a place."""
        places = range(before - 1, -1, -1)
        return next((n for n in places if name in self._written[n][1]), None)

    def _is_step(self, name: str, place: int) -> bool:
        """True for a statement that computes a name from tensors, and nothing else."""
        value, (statement, _) = self.namespace.get(name), self._written[place]
        if isinstance(value, Tensor):
            is_data = not value.is_floating_point() or (value.is_leaf and value.requires_grad)
            if is_data:
                return False
        reads = self._reads(statement)
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)]) if target == name and name not in reads:
                return any(isinstance(self.namespace.get(one), Tensor) for one in reads)
        if isinstance(value, Tensor) and (value.requires_grad or reads):
            line = ast.unparse(statement).partition("\n")[0][:LONGEST_QUOTE]
            self.remarks.append(f"`{line}` cannot be read as a step, so `{name}` is an input here.")
        return False

    def _reads(self, statement: ast.stmt) -> list[str]:
        nodes = (node for node in walk_names(statement) if isinstance(node.ctx, ast.Load))
        return [*dict.fromkeys(node.id for node in nodes if node.id in self.namespace)]


def read_cells(cells: ForwardCells, backward: str) -> Iterator[tuple[Forward, Subject]]:
    """The forward pass of some cells and the backward pass of another, the most general first.

    Hidden instances have other sizes than the notebook where the code allows it, so the reading
    counts that can be run; the last one keeps the notebook's sizes.

    Args:
        cells: those with the forward pass.
        backward: the cell with gradients, `dX = ...` for tensors X of the forward pass.

    Raises:
        BadInput: there is no such forward pass; the message is a sentence.
    """
    mentioned = {
        node.id for node in walk_names(*cells.steps.values(), ast.parse(hide_magics(backward)))
    }
    for shapes, lengths in _ways_to_vary(cells.inputs, cells.namespace, mentioned):
        function = _forward_function(cells, shapes)
        read = Forward.of(function, {}, _drawing(cells.inputs, shapes, lengths))
        yield (
            replace(read, shown=lengths),
            Subject(_backward(backward, read, cells.namespace)),
        )


def _ways_to_vary(
    inputs: Mapping[str, Tensor], namespace: Mapping[str, Any], mentioned: set[str]
) -> Iterator[tuple[dict[str, list[str]], dict[str, int]]]:
    """Shapes of the inputs in names of sizes, the most general first, and the sizes' lengths.

    A length is called as the notebook calls it, if its code does, else by the tensor and the axis.
    """
    called = {
        value: name
        for name, value in namespace.items()
        if type(value) is int and name in mentioned and value > 1
    }
    names: dict[int, str] = {}
    for name, value in inputs.items():
        for axis, length in enumerate(value.shape):
            if length > 1:
                names.setdefault(length, called.get(length, f"{name}_{axis}"))
    lengths = {name: length for length, name in names.items()}
    pairs = itertools.combinations([n for n in names.items() if n[0] < max(names, default=0)], 2)
    products = {m * n: f"{one} * {other}" for (m, one), (n, other) in pairs if m * n in names}
    for more in ({}, products) if products else ({},):
        texts = names | more
        shapes = {
            n: [texts.get(length, str(length)) for length in v.shape] for n, v in inputs.items()
        }
        used = {name for shape in shapes.values() for text in shape for name in text.split(" * ")}
        if len(used) <= MOST_SIZES:
            yield shapes, {name: length for name, length in lengths.items() if name in used}
    yield {name: [*map(str, value.shape)] for name, value in inputs.items()}, {}


def _forward_function(
    cells: ForwardCells, shapes: Mapping[str, Sequence[str]]
) -> Callable[..., Any]:
    """The steps as a function, such as `explain` takes."""
    given = ", ".join(
        f"{n}: Annotated[Tensor, {', '.join(shape)!r}]" for n, shape in shapes.items()
    )
    places = {
        text: f"{name}.shape[{axis}]"
        for name, shape in shapes.items()
        for axis, text in enumerate(shape)
        if text.isidentifier()
    }
    lines = [
        f"    {name} = {ast.unparse(_Reading(places).visit(copy.deepcopy(step.value)))}"
        for name, step in cells.steps.items()
    ]
    text = "\n".join([f"def forward({given}):", *lines, f"    return {cells.result}\n"])
    file = f"<forward pass of {cells.result} {hash(text)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {**cells.namespace, "Annotated": Annotated, "Tensor": Tensor}
    exec(compile(text, file, "exec"), scope)
    function: Callable[..., Any] = scope["forward"]
    return function


def _drawing(
    inputs: Mapping[str, Tensor], shapes: Mapping[str, Sequence[str]], lengths: Mapping[str, int]
) -> Callable[..., Mapping[str, Tensor]]:
    """Draws values near the notebook's: what `explain` calls `inputs`."""

    def draw(generator: torch.Generator, **sizes: int) -> dict[str, Tensor]:
        return {
            name: _near(
                value,
                [eval(text, {}, sizes) for text in shapes[name]],
                generator,
                _bound(value, lengths, sizes),
            )
            for name, value in inputs.items()
        }

    asked = [Parameter(name, Parameter.KEYWORD_ONLY) for name in ("generator", *lengths)]
    vars(draw)["__signature__"] = Signature(asked)
    return draw


def _bound(value: Tensor, lengths: Mapping[str, int], sizes: Mapping[str, int]) -> int | None:
    """Below what whole numbers stay: the size that they seem to index; None where there is none."""
    if value.is_floating_point() or value.dtype == torch.bool or not value.numel():
        return None
    above = {length: name for name, length in lengths.items() if length > int(value.max())}
    return sizes[above[min(above)]] if above else int(value.max()) + 1


def _near(
    value: Tensor, shape: Sequence[int], generator: torch.Generator, below: int | None
) -> Tensor:
    """A tensor of another shape with numbers near some of a tensor's own."""
    if below is not None:
        least = min(int(value.min()), below - 1)
        return torch.randint(least, below, [*shape], generator=generator)
    flat = value.flatten()
    picked = flat[torch.randint(max(1, len(flat)), [*shape], generator=generator)]
    if not value.is_floating_point():
        return picked
    noise = torch.randn([*shape], generator=generator, dtype=torch.float64)
    different = len({*flat.tolist()}) if len(flat) < MOST_LOOKED_AT else MOST_LOOKED_AT
    if different <= FEW:  # a parameter as it was begun with, or a mask
        return picked.double() + 3 * NEAR * noise if different == 1 else picked.double()
    return picked.double() * (1 + NEAR * noise)


def _calculation(source: str, given: Set[str]) -> str:
    """A cell without what it shows, as `print(...)` and `cmp(...)` do, and what it is `given`."""
    lines = source.encode().split(b"\n")
    for statement in ast.parse(source).body[::-1]:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], end_lineno=int(last)) if name in given:
                pass
            case ast.Expr(value=ast.Call(func=ast.Name()), end_lineno=int(last)):
                pass
            case _:
                continue
        first = statement.lineno - 1
        before, behind = (
            lines[first][: statement.col_offset],
            lines[last - 1][statement.end_col_offset :],
        )
        lines[first:last] = [before + b"pass" + behind, *[b""] * (last - first - 1)]
    return b"\n".join(lines).decode()


@dataclass(frozen=True, slots=True)
class _Reading(ast.NodeTransformer):
    """Reads a size off an input where the notebook has a number of that name."""

    places: Mapping[str, str]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A name of a size, or any other."""
        if node.id not in self.places:
            return node
        return ast.parse(self.places[node.id], mode="eval").body


def _backward(cell: str, forward: Forward, namespace: Mapping[str, Any]) -> Backward:
    """A cell's statements as the body of a function that asks for what it reads."""
    arriving = {f"d{name}" for name in forward.returned}
    text = _calculation(hide_magics(cell), arriving)
    body = ast.parse(text).body
    names = {*forward.program.names, *forward.program.size_names}
    read = {node.id for node in walk_names(*body) if isinstance(node.ctx, ast.Load)}
    asked = sorted((read & names) | (read & arriving))
    module = ast.parse(f"def backward({', '.join(asked)}): pass")
    (definition,) = module.body
    assert isinstance(definition, ast.FunctionDef)
    definition.body = body or definition.body
    scope = dict(namespace)
    exec(compile(module, FILE, "exec"), scope)
    return Backward(scope["backward"], definition, text, FILE, is_cell=True)
