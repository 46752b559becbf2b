"""The lecture's own notebook, cut into its exercises at the landmarks of its code."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from grader.answer.cell_source import hide_magics, parsed
from grader.answer.parse import AnswerCell
from grader.answer.statements import stored_names, walk_names
from grader.program.course import BUILT_IN, Course, Outline, built_in_course
from grader.submission.answer_cells import find_answer_cells
from grader.submission.lecture_forward import SIZES, Assigned, Forward, forward_to, names_in
from grader.submission.notebook_file import Cell

ASKED: Mapping[str, Sequence[str]] = {
    "ex2": ["dlogits"],
    "ex3": ["dhprebn"],
    "ex4": ["dC", "dW1", "db1", "dW2", "db2", "dbngain", "dbnbias"],
}
"""What the lecture asks for, where that is not what our own exercise does."""

ENGINE = ("backward", "retain_grad", "grad")
"""What is left out of an answer: autograd's own part of the notebook."""

Cut = tuple[Course, tuple[AnswerCell, ...]]
"""A course with one exercise, as a notebook has it, and that exercise's answer."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A statement in its cell as Python reads it; `node` is None where it cannot read the cell."""

    cell: int
    source: str
    node: ast.stmt | None

    @property
    def binds(self) -> frozenset[str]:
        """The names that it binds."""
        return stored_names(self.node) if self.node else frozenset()

    @property
    def names(self) -> list[str]:
        """The names in it."""
        return [name.id for name in walk_names(self.node)] if self.node else []

    def asks(self, *methods: str) -> bool:
        """True for a call such as `loss.backward()`, and for a loop of nothing else."""
        match self.node:
            case (
                ast.Expr(ast.Call(ast.Attribute(attr=attr)))
                | ast.For(body=[ast.Expr(ast.Call(ast.Attribute(attr=attr)))])
                | ast.For(body=[ast.Assign([ast.Attribute(attr=attr)])])
            ):
                return attr in methods
        return False


def cut_lecture(cells: Sequence[Cell]) -> list[Cut]:
    """The exercises between the landmarks of the lecture's notebook; none in any other."""
    if find_answer_cells(cells):
        return []
    lines = [line for cell in cells for line in _lines_of(cell)]
    retains = _first(line.asks("retain_grad") for line in lines)
    begin = _first(line.asks("backward") and i > retains for i, line in enumerate(lines))
    marks = "loss_fast", "hpreact_fast", "max_steps"
    binding = [_first(name in line.binds for line in lines[begin:]) + begin for name in marks]
    assigned = _assigned(lines[:begin])
    _, learned = assigned.get("parameters", (0, None))
    parameters = names_in(learned) if learned else ()
    forward = forward_to("loss", assigned, parameters)
    places = zip((begin, *binding), _first_three(forward) if forward else (), strict=False)
    found = [
        _exercise(f"ex{number}", program, lines[place + 1 : _end(place, binding)], lines, begin)
        for number, (place, program) in enumerate(places, start=1)
        if program.steps and place < len(lines)
    ]
    found += itertools.islice(_trainings(lines, begin, parameters), 1)
    return [(course, answer) for course, answer in found if course.exercises[0].gradients]


def _end(place: int, marks: Sequence[int]) -> int:
    """The first of the marks behind a place."""
    return min((mark for mark in marks if mark > place), default=place)


def _trainings(lines: Sequence[_Line], begin: int, parameters: Sequence[str]) -> Iterator[Cut]:
    """The fourth exercise, for each loop behind the line `begin` that may be its own."""
    for number in range(begin, len(lines)):
        for body in _bodies(lines[number]):
            first = _first("loss" in line.binds for line in body)
            end = _first("grads" in line.binds for line in body)
            forward = forward_to("loss", _assigned(body[: first + 1]), parameters)
            if forward and first < end < len(body):
                yield _exercise("ex4", forward, body[first + 1 : end], lines, number)


def _first_three(forward: Forward) -> Iterator[Forward]:
    """The forward passes of exercises 1 to 3; without steps where the notebook's has other names.

    In exercise 2 the steps behind the logits have values, and no gradient comes back from them.
    """
    yield forward
    steps = dict(forward.up_to("logits"))
    if steps:
        behind = {n: text for n, text in forward.steps.items() if n not in steps}
        steps |= {n: re.sub(r"\blogits\b", "logits.detach()", t) for n, t in behind.items()}
        steps["loss_fast"] = f"F.cross_entropy(logits, {forward.inputs['Yb']})"
    yield replace(forward, steps=steps)
    steps = dict(forward.up_to("hpreact"))
    yield replace(forward, steps=steps and {**steps, "total": "(dhpreact * hpreact).sum()"})


def _first(holds: Iterable[bool]) -> int:
    """The number of the first that holds, or how many there are."""
    number = 0
    for number, one in enumerate(holds, start=1):
        if one:
            return number - 1
    return number


def _lines_of(cell: Cell) -> list[_Line]:
    if cell.kind != "code" or not cell.source:
        return []
    source = hide_magics(cell.source)
    tree = parsed(source)
    return [_Line(cell.number, source, node) for node in (tree.body if tree else [None])]


def _bodies(line: _Line) -> Iterator[list[_Line]]:
    """The bodies of the loops in a statement."""
    for node in ast.walk(line.node) if line.node else ():
        if isinstance(node, ast.For):
            yield [_Line(line.cell, line.source, each) for each in node.body]


def _assigned(lines: Iterable[_Line]) -> Assigned:
    found = dict[str, tuple[int, ast.expr | None]]()
    for number, line in enumerate(lines):
        found |= dict.fromkeys(line.binds, (number, None))
        if isinstance(line.node, ast.Assign):
            for target in line.node.targets:
                found |= {name: (number, value) for name, value in _values(target, line.node.value)}
    return found


def _values(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names in the target of an assignment, each with its value."""
    match target, value:
        case ast.Name(name), _:
            yield name, value
        case ast.Tuple(parts), ast.Tuple(values) if len(parts) == len(values):
            for part, one in zip(parts, values, strict=True):
                yield from _values(part, one)
        case ast.Tuple(parts), _:
            for number, part in enumerate(parts):
                one = ast.Subscript(value, ast.Constant(number), ast.Load())
                yield from _values(part, one)


def _exercise(
    prefix: str, forward: Forward, answer: Sequence[_Line], lines: Sequence[_Line], end: int
) -> Cut:
    """An exercise with this forward pass and answer; its sizes are set before the line `end`."""
    outlines = {outline.prefix: outline for outline in built_in_course().exercises}
    renamed = {f"d{ours}": f"d{theirs}" for ours, theirs in forward.inputs.items()}
    ours = [renamed.get(name, name) for name in outlines[prefix].gradients]
    tensors = {*forward.inputs.values(), *[*forward.steps][:-1]}
    written = frozenset[str]().union(*(line.binds for line in answer))
    asked = {renamed.get(name, name) for name in ASKED.get(prefix, ours)}
    asked |= written if prefix in ("ex1", "ex4") else set()
    retained = (name for line in lines if line.asks("retain_grad") for name in line.names)
    order = dict.fromkeys((*ours, *(f"d{name}" for name in retained)))
    numbers = {name: value for name, (_, value) in _assigned(lines[:end]).items()}
    numbers["n"] = numbers.get("batch_size", numbers.get("n"))
    sizes = dict(outlines["ex1"].sizes)
    for name in sizes:
        match numbers.get(name):
            case ast.Constant(int(number)):
                sizes[name] = number
    outline = Outline(
        *(prefix, f"Exercise {prefix[2:]}", "lecture.py", "forward"),
        tuple(each for each in order if each in asked and each[1:] in tensors),
        tuple(sizes.items()),
        as_lecture=True,
    )
    text = forward.text(arriving="dhpreact" if prefix == "ex3" else "")
    course = Course(BUILT_IN, "The lecture", "", (outline,), ((outline.file, text),))
    kept = _whole(answer, lines, {*SIZES, *tensors, *(f"d{name}" for name in tensors), "cmp"})
    return course, tuple(_cells(kept, prefix, written))


def _whole(answer: Sequence[_Line], lines: Sequence[_Line], bound: Set[str]) -> list[_Line]:
    """The answer without its calls of autograd, behind what it uses of other cells.

    That may be functions, modules and numbers, under other names than are `bound` already.
    """
    others = (line for line in lines if line not in answer)
    helpers = {name: line for line in others for name in _helps(line) - bound}
    pending = [line for line in answer if not line.asks(*ENGINE)]
    kept = [*pending]
    while pending:
        used = [helpers.pop(name) for name in pending.pop().names if name in helpers]
        kept, pending = [*used, *kept], [*pending, *used]
    return kept


def _helps(line: _Line) -> frozenset[str]:
    """The names of the function, the modules or the number that a statement defines."""
    match line.node:
        case ast.FunctionDef(name):
            return frozenset({name})
        case ast.Import(names) | ast.ImportFrom(names=names):
            return frozenset(each.asname or each.name for each in names) - {"torch", "F"}
        case ast.Assign([ast.Name(name)], ast.Constant()):
            return frozenset({name})
    return frozenset()


def _cells(lines: Iterable[_Line], prefix: str, written: Set[str]) -> Iterator[AnswerCell]:
    """Statements as answer cells, each line where its own cell has it.

    Where somebody has another name for a gradient, which is not `written` then, `cmp` knows it.
    """
    cells = dict[int, list[str]]()
    for line in lines:
        text = line.source.split("\n")
        shown, node = cells.setdefault(line.cell, [""] * len(text)), line.node
        begin, end = (node.lineno - 1, node.end_lineno) if node else (0, len(text))
        indent = node.col_offset if node else 0
        for place in range(begin, end or 0):
            is_inside = text[place][:indent].isspace()
            shown[place] = text[place][indent if is_inside else 0 :]
        match node:
            case ast.Expr(ast.Call(ast.Name("cmp"), [_, ast.Name(name), ast.Name(tensor)])):
                if name != (gradient := f"d{tensor}") and gradient not in written:
                    shown[begin] = f"{gradient} = {name}"
    for number, shown in cells.items():
        yield AnswerCell(f"cell {number}", "\n".join(shown), prefix)
