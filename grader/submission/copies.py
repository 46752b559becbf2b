"""Several cells with one id: which of them are graded."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from grader.answer.assigned import first_assignments, has_only_blanks
from grader.answer.effects import handed_over
from grader.answer.parse import LONGEST_ANSWER, AnswerCell, is_blank, parse_answer
from grader.answer.statements import COMPOUND, blocks
from grader.printable import listed
from grader.submission.notebook_file import Cell
from grader.verdict import Flag, Place


def graded_copies(
    found: Sequence[tuple[str, Cell]], gradients: tuple[str, ...]
) -> tuple[tuple[AnswerCell, ...], list[Flag]]:
    """The answer cells to grade, and a flag for each id that several of them have.

    An id is there twice where a cell was split, pasted or duplicated. Cells count as when the
    notebook runs from top to bottom: a later one replaces an earlier one only if it binds every
    name of it afresh, so that all pieces of a split cell count. Blanks replace nothing. From the
    second on, copies are called `ex1-softmax#2`.

    Args:
        found: the answer cells with their ids, in the order in which they run.
        gradients: those that the notebook asks for.
    """
    answers: dict[int, AnswerCell] = {}
    flags = []
    for grade_id in dict.fromkeys(name for name, _ in found):
        copies = [(place, cell) for place, (name, cell) in enumerate(found) if name == grade_id]
        sources = [cell.source or "" for _, cell in copies]
        kept = _kept(sources, tuple(gradients))
        for number in kept:
            place, cell = copies[number]
            name = grade_id if number == 0 else f"{grade_id}#{number + 1}"
            answers[place] = AnswerCell(name, cell.source or "")
        if len(copies) > 1:
            which = listed(f"copy {number + 1}" for number in kept)
            message = (
                f"The answer cell {grade_id} is there {len(copies)} times; graded: {which} "
                "(later copies overrule earlier ones, blanks do not)."
            )
            flags.append(Flag("duplicate-answer", message, Place(f"cell {copies[1][1].number}", 1)))
    return tuple(answers[place] for place in sorted(answers)), flags


def overrules(later: str, earlier: str, gradients: tuple[str, ...]) -> bool:
    """True if a cell that runs later binds afresh every name that an earlier one changes."""
    changed = _names(earlier, tuple(gradients)).changed
    return bool(changed) and changed <= _names(later, tuple(gradients)).afresh


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of a cell: which it changes, binds afresh, or takes from what ran before it."""

    changed: set[str]
    afresh: set[str]
    taken: set[str]


def _kept(sources: Sequence[str], gradients: tuple[str, ...]) -> list[int]:
    """The numbers of the copies that count, in order; at least one does."""
    if len(sources) == 1 or sum(map(len, sources)) > LONGEST_ANSWER:  # then none is graded
        return [*range(len(sources))]
    kept: list[int] = []
    afresh: set[str] = set()
    taken: set[str] = set()
    for number in reversed(range(len(sources))):
        if has_only_blanks(sources[number]):
            continue
        names = _names(sources[number], gradients)
        if names.changed and names.changed <= afresh - taken:
            continue
        taken = (taken - names.afresh) | names.taken
        afresh |= names.afresh
        kept.insert(0, number)
    return kept or [len(sources) - 1]


@lru_cache(maxsize=256)  # a notebook that runs is asked at every check
def _names(source: str, gradients: tuple[str, ...]) -> _Names:
    answer = parse_answer([AnswerCell("", source)])
    if answer.broken:  # it binds nothing, but is the place where these gradients were to be
        return _Names(set(first_assignments(source, gradients)), set(), set())
    changed: set[str] = set()
    bound: set[str] = set()
    taken: set[str] = set()
    for statement, runs in _in_sequence(answer.top):
        effects = answer.shown[statement]
        taken |= effects.reads - bound
        changed |= effects.binds | effects.changes | handed_over(statement, effects)
        if runs:
            bound |= effects.binds
    return _Names(changed, bound - taken, taken)


def _in_sequence(
    statements: Sequence[ast.stmt], runs: bool = True
) -> Iterator[tuple[ast.stmt, bool]]:
    """Each statement, and whether it runs for sure, as a branch need not."""
    for statement in statements:
        if is_blank(statement):
            continue
        # Nobody writes a loop of no steps.
        always = isinstance(statement, ast.With | ast.For) or not isinstance(statement, COMPOUND)
        sure = runs and always
        yield statement, sure
        if isinstance(statement, COMPOUND):
            yield from _in_sequence([one for block in blocks(statement) for one in block], sure)
