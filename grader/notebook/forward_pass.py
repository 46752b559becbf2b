"""A notebook's own forward pass: which of its lines and values are not the course's."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.answer.assigned import first_assignments
from grader.answer.effects import root
from grader.answer.parse import Answer, AnswerCell
from grader.answer.quote import LONGEST_QUOTE, quote
from grader.diagnosis.kinds import Kind
from grader.printable import listed
from grader.program.compare import compare
from grader.program.forward_program import ForwardProgram, is_differentiable
from grader.verdict import Diagnosis, Place

MOST_NAMED = 3
"""More tensors than this are counted, not named: after the first, the others follow from it."""


def names_read(answer: Answer) -> frozenset[str]:
    """What an answer takes from the notebook: names that it reads or changes, and then may bind."""
    bound, taken = set[str](), set[str]()
    for statement in answer.statements:
        effects = answer.shown[statement]
        taken |= (effects.reads | effects.changes) - bound
        bound |= effects.binds
    return frozenset(taken)


def find_edited(
    program: ForwardProgram,
    namespace: Mapping[str, Any],
    statements: Iterable[ast.stmt],
    shared: Collection[str] = (),
) -> tuple[str, str] | None:
    """The first line of a notebook's forward pass that is not the course's, and the course's.

    Comments and spaces do not count. A plain number such as `n` is judged by its value, as it may
    be set in several ways.

    Args:
        program: the exercise's forward program.
        namespace: the notebook's names.
        statements: what ran in the notebook, in order; the latest that gives a name counts.
        shared: names that another exercise of the notebook gives another meaning.
    """
    lines = dict[str, str]()
    for statement in statements:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)])
                | ast.AnnAssign(target=ast.Name(id=name))
                | ast.AugAssign(target=ast.Name(id=name))
            ):
                lines[name] = ast.unparse(statement)
    for step in program.steps:
        expected = f"{step.name} = {ast.unparse(ast.parse(step.expression))}"
        own = lines.get(step.name, expected)
        is_tensor = isinstance(namespace.get(step.name), Tensor)
        if own != expected and is_tensor and step.name not in shared:
            return own, expected
    return None


def describe_edited(own: str, expected: str) -> Diagnosis:
    """Say which line differs, and what the verdicts and the numbers are about."""
    return Diagnosis(
        Kind.STALE_FORWARD,
        f"Your notebook has `{own[:LONGEST_QUOTE]}` where the course's forward pass has"
        f" `{expected}`: the verdicts are about the course's line, the numbers about yours.",
        "",
    )


def find_stale(
    program: ForwardProgram,
    namespace: Mapping[str, Any],
    shared: Collection[str] = (),
) -> list[str]:
    """The forward tensors of a notebook that are not what the program makes of its inputs now.

    Costs one forward pass; where that does not run, none is found.

    Args:
        program: the exercise's forward program.
        namespace: the notebook's names.
        shared: names that another exercise of the notebook gives another meaning.
    """
    # A student's namespace holds anything, and nothing in it may keep a check from its verdicts.
    try:
        with torch.no_grad():
            now = program.run({name: namespace[name] for name in program.inputs})
            return [
                name
                for name in program.names
                if name in namespace
                and name not in (*program.inputs, *shared)
                and not _is_current(name, namespace[name], now[name])
            ]
    except Exception:
        return []


def _is_current(name: str, value: object, now: object) -> bool:
    if not isinstance(now, Tensor):
        return isinstance(value, type(now)) and bool(value == now)
    if not is_differentiable(now):
        return isinstance(value, Tensor) and torch.equal(value, now)
    if not bool(now.isfinite().all()):
        return True  # whatever is wrong there, running the cell again will not mend it
    return bool(compare(name, value, now).approximate)


def describe_stale(
    names: Sequence[str],
    program: ForwardProgram,
    answer: Answer,
    others: Iterable[AnswerCell] = (),
) -> Diagnosis:
    """Say which tensors are out of date, which line changes them, and what to run.

    Args:
        names: what `find_stale` found.
        program: the exercise's forward program.
        answer: the student's; a line of it may be what changes the tensors.
        others: the cells that are no answers, one of which makes each input.
    """
    listing = listed((f"`{name}`" for name in names), most=MOST_NAMED)
    lines = {name: places[0] for name in names if (places := writers(answer, name))}
    for name, place in lines.items():
        return Diagnosis(
            Kind.STALE_FORWARD,
            f"Your line `{quote(place, answer.cells, answer.last_lines)}` changes the notebook's"
            f" `{name}`, so that it starts from other numbers each time it runs.",
            f"Give the result a name of its own; where you write in place, write into a copy,"
            f" `{name}.clone()`. Then run the cells from {_maker(name, program, others)} on again,"
            " down to your answers.",
        )
    verb, them = ("is", "it") if len(names) == 1 else ("are", "them")
    return Diagnosis(
        Kind.STALE_FORWARD,
        f"The notebook's {listing} {verb} not what the forward pass makes of its inputs now, so"
        f" what you compute from {them} is not right either.",
        f"Run the cell of the forward pass again ({_maker(names[0], program)}), then the answer"
        " cells from the top down.",
    )


def writers(answer: Answer, name: str) -> list[Place]:
    """Where the answer changes a name or binds it anew, or changes it under another name."""
    found, alike = list[Place](), {name}
    for statement in answer.statements:
        effects = answer.shown[statement]
        if name in effects.binds or not alike.isdisjoint(effects.changes):
            found.append(answer.places[answer.number[statement]])
        match statement:
            case ast.Assign(targets=[ast.Name(id=other)], value=value):
                # An index may copy, as that of an embedding does.
                copies = any(isinstance(one, ast.Subscript) for one in ast.walk(value))
                is_same = not copies and not alike.isdisjoint(root(value))
                alike = alike | {other} if is_same else alike - ({other} - {name})
    return found


def _maker(name: str, program: ForwardProgram, others: Iterable[AnswerCell] = ()) -> str:
    """The cell in which a forward tensor is made."""
    lines = [step.line.splitlines()[0] for step in program.steps if step.name == name]
    for cell in others:
        if line := first_assignments(cell.source, (name,)).get(name):
            lines.append(cell.source.split("\n")[line - 1].strip())
    return f"the one with `{lines[0]}`" if lines else f"the one that makes `{name}`"
