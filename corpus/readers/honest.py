"""Honest answers: right ones in many styles, each a right answer with some of its lines replaced.

A file of `corpus/honest` holds answers of one style. A line `## what it does | option | option`
begins one. Its lines replace those of the exercise's own right answer: `#: dh dW2` begins what
stands in place of the lines that write these, `#: after dh` what follows those of dh, `#: each`
what follows those of every gradient (`{d}` and `{t}` are the names), `#: end` what comes last;
before the first of them stands what comes first. Options:

    ex3                 the exercise; ex1 where none is said
    one cell, split     all lines in one cell, or a cell for each gradient
    error: db2          outcomes that are not `pass`: error, fail, todo, refused; `odd` for any
    flags: module open  kinds of flags that a human should see
    needless: denied    kinds that it gets, and better did not
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from corpus.readers.exercise_text import read_cells
from corpus.readers.lecture_course import EXERCISES
from corpus.readers.places import ANSWERS, HONEST
from grader.answer.parse import AnswerCell
from grader.program.exercises import Exercise

BASES = {"ex1": "lecture", "ex2": "lecture", "ex2s": "one_expression", "ex3": "derivation"}
BASES |= {"ex4": "notebook"}

OUTCOMES = {"error", "fail", "todo", "refused", "odd"}


@dataclass(frozen=True, slots=True)
class HonestAnswer:
    """One answer: its cells, the outcomes that are not `pass`, the flags that are in order."""

    style: str
    title: str
    exercise: Exercise
    cells: tuple[AnswerCell, ...]
    outcomes: Mapping[str, str] = field(default_factory=dict)
    flags: frozenset[str] = frozenset()
    needless: frozenset[str] = frozenset()


def styles() -> list[str]:
    """The names of the files."""
    return sorted(path.stem for path in HONEST.glob("*.ipy"))


@cache
def honest_answers(style: str) -> tuple[HonestAnswer, ...]:
    """The answers of one file, in order."""
    _, *parts = re.split(r"(?m)^## ", (HONEST / f"{style}.ipy").read_text(encoding="utf-8"))
    return tuple(_read(style, *part.split("\n", 1)) for part in parts)


def _read(style: str, head: str, text: str) -> HonestAnswer:
    title, *options = (part.strip() for part in head.split("|"))
    prefix = next((option for option in options if option in BASES), "ex1")
    exercise = next(one for one in EXERCISES if one.prefix == prefix)
    said = dict(option.split(": ") for option in options if ": " in option)
    unknown = {*options} - {prefix, "one cell", "split"} - {f"{k}: {v}" for k, v in said.items()}
    assert not unknown, head
    assert said.keys() <= OUTCOMES | {"flags", "needless"}, head
    source = _woven(exercise, text.rstrip())
    if "one cell" in options:
        source = f"# answer: {prefix}-all\n" + re.sub(r"(?m)^# answer: .*\n", "", source)
    if "split" in options:
        source = re.sub(r"(?m)^(d\w+) = ", rf"# answer: {prefix}-\1\n\g<0>", source)
    cells = tuple(AnswerCell(name, cell) for name, cell in read_cells(source))
    outcomes = {d: kind for kind, names in said.items() if kind in OUTCOMES for d in names.split()}
    kinds = (frozenset(said.get(word, "").split()) for word in ("flags", "needless"))
    return HonestAnswer(style, title, exercise, cells, outcomes, *kinds)


def _woven(exercise: Exercise, text: str) -> str:
    """The exercise's own right answer with an answer's lines among and in place of its lines."""
    first, *rest = re.split(r"(?m)^#: (.*)\n", text)
    parts = dict(zip(rest[::2], rest[1::2], strict=True))
    base = list(_base(exercise.prefix))
    last = {name: position for position, (name, _) in enumerate(base) if name}
    in_place = {tuple(key.split()): value for key, value in parts.items() if key[0] == "d"}
    replaced = {name for names in in_place for name in names}
    assert replaced <= {*exercise.gradients}, replaced
    lines = []
    for position, (name, line) in enumerate(base):
        if name not in replaced:
            lines.append(line)
        for names, value in in_place.items():
            if position == max(last[name] for name in names):
                lines.append(value.rstrip())
        if last.get(name) == position:
            lines.append(parts.get(f"after {name}", "").rstrip())
            lines.append(parts.get("each", "").rstrip().format(d=name, t=name[1:]))
    # The first line names the cell.
    lines[1:1] = [first.rstrip()]
    return "\n".join(filter(None, [*lines, parts.get("end", "")])) + "\n"


@cache
def _base(prefix: str) -> tuple[tuple[str, str], ...]:
    """A right answer as (the gradient that is written, lines); comments write none."""
    path = ANSWERS / prefix / "right" / f"{BASES[prefix]}.py"
    return tuple(_statements(prefix, path.read_text(encoding="utf-8")))


def _statements(prefix: str, source: str) -> Iterator[tuple[str, str]]:
    for _, cell in read_cells(source):
        lines = cell.splitlines()
        yield "", lines[0]
        for statement in ast.parse(cell).body:
            stored = [n for n in ast.walk(statement) if isinstance(getattr(n, "ctx", 0), ast.Store)]
            names = [n.id for part in stored for n in ast.walk(part) if isinstance(n, ast.Name)]
            (name, *_) = [name for name in names if name[0] == "d"]
            yield name, "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
