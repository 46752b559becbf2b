"""Slips: mistyped names, a missing `return`, and sizes that are written as numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence, Set

from grader.answer.parse import Answer
from grader.close_names import SLIP, nearest
from grader.execution.evidence import Observed
from grader.grading.reasons import Reasons
from grader.program.exercises import Exercise
from grader.verdict import GUESSES, RAISED, Outcome, Verdict, because

_OTHER_WAYS = re.compile(r"(?:grad_?|g_|d_|d(?:L|l|loss|Loss)_?d_?)(\w+)|(\w+?)_?grad")
"""The names that PyTorch, other courses and papers give to a gradient."""


def lost_by_slips(
    evidence: Sequence[Observed],
    judged: Sequence[Verdict],
    answer: Answer,
    exercise: Exercise,
    names: Set[str],
) -> Mapping[str, Reasons]:
    """The reasons for such gradients; `names` are those of the forward pass and its gradients."""
    found = dict(_without_a_branch(judged, answer, names))
    found |= _of_sizes(evidence, judged, answer)
    found |= _known_here(judged, exercise)
    if todo := {one.name for one in judged if one.outcome is Outcome.TODO and not one.reasons}:
        known = [*exercise.gradients, *names, *exercise.sizes]
        found |= {name: why for name, why in _mistyped(answer, known).items() if name in todo}
        nothing = (item.name for item in evidence if item.name in todo and _returns_nothing(item))
        found |= {name: (because("returns-nothing", gradient=name),) for name in nothing}
    return found


def _without_a_branch(
    judged: Sequence[Verdict], answer: Answer, names: Set[str]
) -> Iterator[tuple[str, Reasons]]:
    """Right gradients that leave out a branch because of a slip in a name."""
    right = [one.name for one in judged if one.why in ("left-out", "idle-branch")]
    meant = answer.with_slips(right, names)
    for name in right:
        for number in sorted(meant.writing(name) - answer.writing(name))[:1]:
            place = answer.places[number]
            yield name, (because("slip", line=str(place.line), cell=place.cell, gradient=name),)


def _of_sizes(
    evidence: Sequence[Observed], judged: Sequence[Verdict], answer: Answer
) -> Mapping[str, Reasons]:
    """The remark on `n = 32`, for the first gradient that reads `n` and has no other note."""
    said: dict[str, Reasons] = {}
    for size, place in answer.written_sizes.items():
        for item, verdict in zip(evidence, judged, strict=True):
            reads = (answer.shown[answer.statements[number]].reads for number in item.keep)
            if not verdict.reasons and item.name not in said and any(size in one for one in reads):
                why = because("size-written", size=size, line=str(place.line), cell=place.cell)
                said[item.name] = (why,)
                break
    return said


def _known_here(judged: Sequence[Verdict], exercise: Exercise) -> Iterator[tuple[str, Reasons]]:
    """The reasons if an undefined name is called something else here."""
    for verdict in judged:
        for reason in (one for one in verdict.reasons if one.code in RAISED):
            if here := exercise.called.get(str(reason["unbound"])):
                plain = (one for one in verdict.reasons if one.code not in GUESSES)
                yield verdict.name, (*plain, because("called-here", here=here))


def _mistyped(answer: Answer, known: Sequence[str]) -> Mapping[str, Reasons]:
    """The question if an answer cell assigns a name much like a known one, by the known name."""
    said: dict[str, Reasons] = {}
    for statement in answer.top:
        for name in sorted(answer.written[statement] - {*known}):
            for meant in (*_in_our_way(name, known), *nearest(name, known, SLIP))[:1]:
                cell = answer.places[answer.number[statement]].cell
                said.setdefault(meant, (because("mistyped", cell=cell, name=name, meant=meant),))
    return said


def _in_our_way(name: str, known: Sequence[str]) -> Iterator[str]:
    """The gradient that has this name elsewhere: `grad_h`, `h_grad` and `dL_dh` are `dh`."""
    if (other := _OTHER_WAYS.fullmatch(name)) and (gradient := f"d{other[1] or other[2]}") in known:
        yield gradient


def _returns_nothing(item: Observed) -> bool:
    """True for a gradient that is None because it comes from a function without a `return`."""
    match item.code:
        case [*_, ast.Assign(value=ast.Call())]:
            return any(value.type_name == "NoneType" for value in item.hidden)
    return False
