"""A notebook's own forward pass: what in it is out of date."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from grader.answer.parse import Answer
from grader.diagnosis.kinds import Kind
from grader.printable import listed
from grader.program.compare import compare
from grader.program.forward_program import ForwardProgram, Step, is_differentiable
from grader.verdict import Diagnosis

MOST_NAMED = 3
"""More tensors than this are counted, not named: after the first, the others follow from it."""


def names_read(answer: Answer) -> frozenset[str]:
    """What an answer takes from the notebook: the names it reads and does not assign itself."""
    names = [node for nodes in answer.nodes.values() for node in nodes if type(node) is ast.Name]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return frozenset(node.id for node in names) - bound


def find_stale(
    program: ForwardProgram, namespace: Mapping[str, Any], wanted: frozenset[str]
) -> Diagnosis | None:
    """Compare a notebook's forward tensors with what the program makes of its inputs now.

    Costs one forward pass. A forward pass that does not run is no matter for this diagnosis.

    Args:
        program: the exercise's forward program.
        namespace: the notebook's names.
        wanted: only these steps are compared, such as those that an answer reads.
    """
    # A student's namespace holds anything, and nothing in it may keep a check from its verdicts.
    try:
        with torch.no_grad():
            now = program.run({name: namespace[name] for name in program.inputs})
            stale = [
                step
                for step in program.steps
                if step.name in wanted
                and not _is_current(step.name, namespace.get(step.name), now[step.name])
            ]
    except Exception:
        return None
    return _describe(stale) if stale else None


def _is_current(name: str, value: object, now: object) -> bool:
    if not isinstance(now, Tensor):
        return isinstance(value, type(now)) and bool(value == now)
    if not is_differentiable(now):
        return isinstance(value, Tensor) and torch.equal(value, now)
    if not bool(now.isfinite().all()):
        return True  # whatever is wrong there, running the cell again will not mend it
    return bool(compare(name, value, now).approximate)


def _describe(stale: list[Step]) -> Diagnosis:
    names = listed((f"`{step.name}`" for step in stale), most=MOST_NAMED)
    verb, them = ("is", "it") if len(stale) == 1 else ("are", "them")
    line = stale[0].line.splitlines()[0]
    return Diagnosis(
        Kind.STALE_FORWARD,
        f"The notebook's {names} {verb} not what the forward pass makes of its inputs now, so"
        f" what you compute from {them} is not right either.",
        f"Run the cell of the forward pass again (the one with `{line}`), then the answer cells"
        " from the top down.",
    )
