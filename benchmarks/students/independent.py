"""A class whose answers were made independently: each gradient drawn from all ways to write it."""

from __future__ import annotations

import ast
import builtins
import random
from collections.abc import Mapping, Sequence
from functools import cache

from benchmarks.students.handwriting import RESERVED, rewrite
from benchmarks.students.paper import course_paper
from corpus.readers.exercise_text import right_answers
from corpus.readers.faults import all_faults, owners
from grader.authoring.blank import gradients_in

FAULTY = 0.2
"""The share of gradients that a student of such a class gets wrong."""

Choices = Mapping[str, str]
"""For each gradient, the statements that a student wrote for it."""


def independent(chance: random.Random) -> Choices:
    """What a student chose who has seen nobody else's work."""
    return {gradient: _drawn(gradient, chance) for gradient in pools()[0]}


def partly_copied(choices: Choices, share: float, chance: random.Random) -> Choices:
    """Another student's choices with a share of the gradients copied, the others made alone."""
    copied = chance.sample([*choices], round(share * len(choices)))
    return {
        gradient: text if gradient in copied else _drawn(gradient, chance)
        for gradient, text in choices.items()
    }


def written(choices: Choices, chance: random.Random, other_layout: bool = False) -> str:
    """The text of the answer cells, in somebody's own helper names, comments and order.

    With `other_layout` the code is laid out anew as well: other brackets, spaces and line breaks.
    """
    cells = []
    for grade_id, blank in course_paper().blanks.items():
        text = "\n".join(choices[gradient] for gradient in gradients_in(blank))
        if other_layout:
            text = _laid_out(text, chance)
        cells.append(f"# answer: {grade_id}\n{text}\n")
    return rewrite("".join(cells), chance)


def _laid_out(text: str, chance: random.Random) -> str:
    """The same statements with other spaces, brackets and line breaks."""
    found = []
    for statement in ast.parse(text).body:
        line = ast.unparse(statement)
        match statement:
            case ast.Assign(targets=[ast.Name(name)], value=value) if chance.random() < 0.5:
                line = f"{name} = (\n        {ast.unparse(value)}\n    )"
        found.append(line if chance.random() < 0.5 else f"{line}\n")
    return "\n".join(found)


def _drawn(gradient: str, chance: random.Random) -> str:
    right, faulty = pools()
    wrong = gradient in faulty and chance.random() < FAULTY
    return chance.choice((faulty if wrong else right)[gradient])


@cache
def pools() -> tuple[Mapping[str, Sequence[str]], Mapping[str, Sequence[str]]]:
    """The right and the faulty ways to write each gradient, one for each answer that does so.

    A way that many answers take is drawn as often. Ways that need a helper from elsewhere in their
    answer are left out.
    """
    answers, owned = right_answers(), {n: owners(text) for n, text in right_answers().items()}
    right: dict[str, list[str]] = {}
    for name, text in answers.items():
        for gradient in dict.fromkeys(owned[name].values()):
            if way := _way(gradient, text, owned[name]):
                right.setdefault(gradient, []).append(way)
    faulty: dict[str, list[str]] = {}
    for fault in all_faults():
        # A fault leaves the statements where they are.
        if way := _way(fault.gradient, fault.source, owned[fault.answer]):
            faulty.setdefault(fault.gradient, []).append(way)
    order = [each for blank in course_paper().blanks.values() for each in gradients_in(blank)]
    return {gradient: right[gradient] for gradient in order}, faulty


def _way(gradient: str, text: str, owner: Mapping[int, str]) -> str:
    """The statements that work for a gradient; "" where they need others, or serve others."""
    body = ast.parse(text).body
    own = [body[position] for position, name in owner.items() if name == gradient]
    nodes = [node for statement in own for node in ast.walk(statement)]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
    read = {node.id for node in names} - stored - arguments - RESERVED - {*dir(builtins)}
    if gradient not in stored or read or (stored & RESERVED) - {gradient}:
        return ""
    return "\n".join(ast.get_source_segment(text, statement) or "" for statement in own)
