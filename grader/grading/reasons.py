"""Reasons: what a student is told of a gradient that is not simply right."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import combinations

import torch
from torch import Tensor

from grader.answer.parse import Answer
from grader.close_names import SLIP, nearest
from grader.diagnosis.kinds import Kind, hint
from grader.execution.evidence import GradientEvidence
from grader.printable import listed
from grader.program.references import References
from grader.verdict import Comparison, Diagnosis, Place, Verdict, says_nothing_else

TRUE_ZERO = (
    "The value matches only because a true gradient is zero here: if anything else arrived, this"
    " line would be wrong."
)
STEP_BY_STEP = "Right, by another way than step by step."
ON_ANOTHER_BATCH = "It works on a batch like the notebook's, not on one of another size"
WRITTEN_IN = "Is a number or a position of this batch written into the line?"
ONLY_ON_OTHER_SIZES = "It is right on batches of other sizes, but not on one like the lecture's."
AT_THE_WRONG_TIME = (
    "This line is right by itself, and so is what it reads, in the end: is something used before"
    " it is complete, or changed later under another name?"
)
ALMOST = (
    "This line is right to a few digits only: is a small number added where none belongs, or one"
    " rounded?"
)
KEPT_FROM_RUNNING = "Right by itself; in its block, what makes {} keeps it from running."
RAISES_ON_THE_WAY = "The value is right, but a line that it needs raises: {}"
LEFT_OUT = "Leaving out the branch through {} is right: it is always zero."
NOTHING = "{} is None: what is called for it returns nothing."
SIZE_WRITTEN = (
    "`{0}` has its value already. {1}, which writes it as a number, was left out, because it would"
    " be wrong for a batch of another size."
)
NOT_ALONE = "The value is right; its own lines could not be run by themselves."


def on_other_sizes(reason: str, references: References) -> str:
    """What is said of a line that works on the lecture's batch only, with the numbers explained."""
    met = sizes_met(reason, references)
    return f"{ON_ANOTHER_BATCH}{f' ({met})' if met else ''}. {reason}"


def sizes_met(reason: str, references: References) -> str:
    """Which sizes of a hidden network a sentence speaks of; empty where it speaks of none."""
    lecture, numbers = references.lecture.sizes, {*map(int, re.findall(r"\d+", reason))}
    for reference in references.hidden:
        sizes = reference.instance.sizes
        if met := {n for length, names in _lengths(sizes) if length in numbers for n in names}:
            said = (f"{n} is {sizes[n]} there instead of {lecture[n]}" for n in sizes if n in met)
            return ", ".join(said)
    return ""


def with_sizes_met(reason: str, references: References) -> str:
    """The same sentence, with the sizes of another network explained where it speaks of them."""
    met = sizes_met(reason, references)
    return f"{reason} (On another batch: {met}.)" if met else with_drawn_lengths(reason, references)


def with_drawn_lengths(reason: str, references: References) -> str:
    """The same sentence, marked where it speaks of a length that another batch would not have.

    How many rows a mask leaves is drawn with the values: the check's batch has the notebook's
    sizes, but not its rows.
    """
    numbers = {*map(int, re.findall(r"\d+", reason))}
    for instance in (references.lecture, *(reference.instance for reference in references.hidden)):
        products = {1, *(length for length, _ in _lengths(instance.sizes))}
        drawn = {
            len(value)
            for value in instance.values.values()
            if isinstance(value, Tensor) and value.dtype == torch.int64 and value.dim() == 1
        }
        if numbers & {rows * each for rows in drawn - products for each in products}:
            return f"{reason} (On a batch of another size.)"
    return reason


def _lengths(sizes: Mapping[str, int]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """What an axis may have for its length: a size, or a product of sizes where it is flattened."""
    for many in (1, 2, 3):
        for names in combinations(sizes, many):
            yield math.prod(sizes[name] for name in names), names


def why_it_fails(comparison: Comparison, references: References, whole: str, local: str) -> str:
    """What can be said of a wrong gradient without knowing the mistake.

    Args:
        comparison: with autograd at the lecture's sizes.
        references: of its exercise.
        whole: what is wrong with the value of the whole answer, if there is a sentence.
        local: what is wrong with that of the gradient's own statements.
    """
    if comparison.approximate:
        return on_other_sizes(whole or WRITTEN_IN, references)
    is_of_shape = local.startswith(f"{comparison.name} has shape ")
    if is_of_shape and comparison.shape not in (None, comparison.expected_shape):
        # It speaks of the notebook's own sizes.
        return with_drawn_lengths(comparison.problem, references)
    # The local sentence is about this line; the whole answer's may be about an earlier one.
    return with_sizes_met(local, references) or says_nothing_else(comparison.name)


def mistyped(answer: Answer, gradients: Sequence[str], names: Set[str]) -> Mapping[str, str]:
    """What is said of a name where an answer cell assigns one much like it, by the name meant.

    Args:
        answer: the student's.
        gradients: all that are asked for.
        names: those of the forward pass and of its gradients, none of which is a slip.
    """
    known, said = [*gradients, *names], dict[str, str]()
    for statement in answer.top:
        for name in sorted(answer.written[statement] - {*known}):
            for meant in nearest(name, known, SLIP)[:1]:
                cell = answer.places[answer.number[statement]].cell
                said.setdefault(meant, f"{cell} assigns `{name}`: did you mean `{meant}`?")
    return said


def lost_by_slips(answer: Answer, verdicts: Sequence[Verdict], names: Set[str]) -> dict[str, str]:
    """What is said of right gradients that leave a branch out, where a slip in a name does it."""
    left_out = LEFT_OUT.partition("{")[0]
    right = [verdict.name for verdict in verdicts if verdict.note.startswith(left_out)]
    meant = answer.with_slips(right, names)
    return {
        name: f"Line {place.line} of {place.cell} changes a name that no answer cell defines: did"
        f" you mean `{name}`? The value is right without it, since what it leaves out is zero."
        for name in right
        for place in [answer.places[n] for n in meant.writing(name) - answer.writing(name)][:1]
    }


def said_of_sizes(
    answer: Answer, evidence: Sequence[GradientEvidence], verdicts: Sequence[Verdict]
) -> dict[str, str]:
    """What is said of `n = 32`, at the first gradient that reads `n` and has no other note."""
    said = dict[str, str]()
    for name, place in answer.written_sizes.items():
        for item, verdict in zip(evidence, verdicts, strict=True):
            reads = (answer.shown[answer.statements[number]].reads for number in item.keep)
            if not verdict.note and item.name not in said and any(name in one for one in reads):
                said[item.name] = SIZE_WRITTEN.format(name, f"Line {place.line} of {place.cell}")
                break
    return said


def returns_nothing(item: GradientEvidence) -> bool:
    """True for a gradient that is None because a function without a `return` gave it."""
    match item.code:
        case [*_, ast.Assign(value=ast.Call())]:
            return any(value.type_name == "NoneType" for value in item.hidden)
    return False


def aliased(item: GradientEvidence, place: Place | None) -> Diagnosis:
    """The diagnosis of a gradient that is right until another's line changes it."""
    others = " and ".join(f"`d{other}`" for other in sorted(item.channels))
    line = "a later line" if place is None else f"line {place.line} of {place.cell}"
    message = (
        f"`{item.name}` is right when it is assigned; {line} changes it through {others}, the same"
        " tensor."
    )
    return Diagnosis(Kind.ALIASED, message, hint(Kind.ALIASED, item.name))


def of_other_dtype(name: str, found: torch.dtype, due: torch.dtype) -> Diagnosis:
    """The diagnosis of a gradient that is right, and of a dtype that a later line cannot mix."""
    has, needs = (str(dtype).removeprefix("torch.") for dtype in (found, due))
    message = (
        f"`{name}` has dtype {has}, and `{name[1:]}` has {needs}; a later line cannot mix them."
    )
    said = "Which part of the line has that dtype? NumPy, for one, makes float64."
    return Diagnosis(Kind.WRONG_DTYPE, message, said)


def right_although(names: Sequence[str]) -> str:
    """What is said of a right value whose line is another than it, and reads what is not right.

    Mostly two mistakes cancel. A formula of another way may read a gradient for its shape only.
    """
    return f"Right, although it reads {listed(names)}: look at it again once that is put right."


def carried(names: Sequence[str], missing: bool) -> str:
    """What is said of a right line that was handed wrong gradients, or missing ones.

    Args:
        names: the gradients with which it began, from the loss down.
        missing: whether all of them are still to be written.
    """
    if missing:
        return f"Right by itself; it waits for {listed(names)}, still to be written."
    return f"Right by itself; what it was handed is not: see {listed(names)}."
