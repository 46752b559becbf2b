"""The lecture's own notebook, cut into its exercises at the landmarks of its code."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.answer.cell_source import hide_magics, parsed
from grader.answer.parse import AnswerCell
from grader.answer.statements import stored_names, walk_names
from grader.program.course import BUILT_IN, Course, Outline, built_in_course
from grader.submission.answer_cells import find_answer_cells
from grader.submission.lecture_forward import INPUTS, Assigned, forward_text, steps_to
from grader.submission.notebook_file import Cell, UnreadableNotebook, read_cells

TRAINED = ("dC", "dW1", "db1", "dW2", "db2", "dbngain", "dbnbias")
"""What exercise 4 asks for; of the gradients on the way, those that are written count."""


@dataclass(frozen=True, slots=True)
class LectureExercise:
    """An exercise as one notebook has it: what is asked for, its forward function, the answer."""

    outline: Outline
    forward: str
    answer: tuple[AnswerCell, ...]


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

    def asks(self, method: str) -> bool:
        """True for a call such as `loss.backward()`, and for a loop of nothing else."""
        match self.node:
            case ast.Expr(ast.Call(ast.Attribute(attr=attr))):
                return attr == method
            case ast.For(body=[ast.Expr(ast.Call(ast.Attribute(attr=attr)))]):
                return attr == method
            case ast.For(body=[ast.Assign([ast.Attribute(attr=attr)])]):
                return attr == method
        return False


def lecture_courses(path: Path) -> tuple[Course, ...]:
    """A course for each exercise in a copy of the lecture's notebook; none for another file."""
    try:
        exercises = lecture_exercises(read_cells(path))
    except UnreadableNotebook:  # whoever reads its answers says why
        return ()
    return tuple(
        Course(BUILT_IN, "The lecture", "", (one.outline,), ((one.outline.file, one.forward),))
        for one in exercises
    )


def lecture_exercises(cells: Sequence[Cell]) -> list[LectureExercise]:
    """The exercises between the landmarks of the lecture's notebook; none in any other."""
    if find_answer_cells(cells):
        return []
    lines = [line for cell in cells for line in _lines_of(cell)]
    retains = _first(line.asks("retain_grad") for line in lines)
    begin = _first(line.asks("backward") and i > retains for i, line in enumerate(lines))
    forward = _assigned(lines[:begin])
    steps, normalised = steps_to("loss", forward), steps_to("hpreact", forward)
    fused = {**steps, "loss_fast": "F.cross_entropy(logits, Yb)"} if "logits" in steps else {}
    weighed = {**normalised, "total": "(dhpreact * hpreact).sum()"} if normalised else {}
    fast, norm, training = (
        _first(name in line.binds and i > begin for i, line in enumerate(lines))
        for name in ("loss_fast", "hpreact_fast", "max_steps")
    )
    found = []
    for prefix, program, place in (
        ("ex1", steps, begin),
        ("ex2", fused, fast),
        ("ex3", weighed, norm),
    ):
        end = min((one for one in (fast, norm, training) if one > place), default=len(lines))
        if program and place < len(lines):
            found.append(_exercise(prefix, program, lines[place + 1 : end], lines, begin))
    for number in range(begin, len(lines)):
        for body in _bodies(lines[number]):
            first = _first("loss" in line.binds for line in body)
            end = _first("grads" in line.binds for line in body)
            program = steps_to("loss", _assigned(body[: first + 1]))
            if program and first < end < len(body):
                return [*found, _exercise("ex4", program, body[first + 1 : end], lines, number)]
    return found


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
        match line.node:
            case ast.Assign([ast.Name(name)], value):
                found[name] = number, value
            case _:
                found |= dict.fromkeys(line.binds, (number, None))
    return found


def _exercise(
    prefix: str, steps: Mapping[str, str], answer: Sequence[_Line], lines: Sequence[_Line], end: int
) -> LectureExercise:
    """An exercise with these steps and this answer, in a notebook whose forward pass ends there."""
    first, own = (
        next(each for each in built_in_course().exercises if each.prefix == one)
        for one in ("ex1", prefix)
    )
    written = frozenset[str]().union(*(line.binds for line in answer))
    known = {f"d{name}" for name in (*INPUTS, *steps)}
    asked = [gradient for gradient in own.gradients if gradient in known]
    if prefix == "ex3":
        asked = ["dhprebn"]
    elif prefix == "ex4":
        asked = [gradient for gradient in asked if gradient in {*TRAINED, *written}]
    asked += [
        f"d{name}"
        for name in steps
        if f"d{name}" in written and prefix in ("ex1", "ex4")
        if f"d{name}" not in asked
    ]
    values = {name: value for name, (_, value) in _assigned(lines[:end]).items()}
    values["n"] = values.get("batch_size", values.get("n"))
    sizes = {
        name: value.value if isinstance(value := values.get(name), ast.Constant) else size
        for name, size in first.sizes
    }
    outline = Outline(
        prefix,
        f"Exercise {prefix[2:]}",
        "lecture.py",
        "forward",
        tuple(asked),
        tuple(sizes.items()),
        as_lecture=True,
    )
    text = forward_text(steps, arriving="dhpreact" if prefix == "ex3" else "")
    return LectureExercise(outline, text, tuple(_cells(prefix, answer, lines)))


def _cells(prefix: str, answer: Sequence[_Line], lines: Sequence[_Line]) -> Iterator[AnswerCell]:
    """The answer with the functions and modules that it uses, each line where its cell has it."""
    kept = [line for line in answer if not any(map(line.asks, ("backward", "retain_grad", "grad")))]
    helpers = {name: line for line in lines for name in _defined(line)}
    pending = [*kept]
    while pending:
        node = pending.pop().node
        names = {name.id for name in walk_names(node)} if node else set[str]()
        used = [line for name in names if (line := helpers.pop(name, None)) and line not in answer]
        kept, pending = [*used, *kept], [*pending, *used]
    for number in dict.fromkeys(line.cell for line in kept):
        own = [line for line in kept if line.cell == number]
        text = own[0].source.split("\n")
        shown = [""] * len(text)
        for node in (line.node for line in own):
            begin, end = (node.lineno, node.end_lineno or 0) if node else (1, len(text))
            for place in range(begin - 1, end):
                indent = node.col_offset if node else 0
                is_inside = text[place][:indent].isspace()
                shown[place] = text[place][indent if is_inside else 0 :]
        yield AnswerCell(f"cell {number}", "\n".join(shown), prefix)


def _defined(line: _Line) -> frozenset[str]:
    """The names of the function or the modules that a statement brings in; not what is there."""
    match line.node:
        case ast.FunctionDef(name):
            return frozenset({name}) - {"cmp"}
        case ast.Import(names) | ast.ImportFrom(names=names):
            return frozenset(each.asname or each.name for each in names) - {"torch", "F", "plt"}
    return frozenset()
