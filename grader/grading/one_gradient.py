"""One gradient judged by itself, as if there were no others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from torch import Tensor

from grader.answer.parse import Raised
from grader.execution.evidence import GradientEvidence, Value
from grader.grading.reasons import (
    LEFT_OUT,
    NOT_ALONE,
    ONLY_ON_OTHER_SIZES,
    STEP_BY_STEP,
    TRUE_ZERO,
    WRITTEN_IN,
    on_other_sizes,
    why_it_fails,
    with_drawn_lengths,
    with_sizes_met,
)
from grader.program.compare import (
    FAR_OFF,
    FLOAT64_NOISE,
    FLOAT64_TOLERANCE,
    agrees,
    compare,
    describe_dtype,
    describe_nonfinite,
    describe_shape,
    describe_type,
    nothing_to_compare,
)
from grader.program.references import References
from grader.verdict import Check, Comparison, Flag, Outcome, Place, Verdict
from grader.worker.results import REFUSED

_WORST_FIRST = (Check.NOT_RUN, Check.WRONG, Check.RIGHT)
_WRONG_FIRST = (Check.WRONG, Check.NOT_RUN, Check.RIGHT)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check of one gradient found: a word, and where needed a sentence and a place."""

    check: Check
    sentence: str = ""
    place: Place | None = None


RIGHT, WRONG, NOT_RUN = map(Finding, (Check.RIGHT, Check.WRONG, Check.NOT_RUN))


def judge_gradient(item: GradientEvidence, references: References, is_right_alone: bool) -> Verdict:
    """The verdict on a gradient by the table in the design.

    `is_right_alone` says that its own statements are known to be right.
    """
    reference = references.lecture_gradients[item.name[1:]]
    may_be_zero = item.name[1:] in references.zero_by_structure
    comparison = _compare_lecture(item.name, item.lecture, reference, may_be_zero)
    whole = local = NOT_RUN
    if item.broken is not None:
        outcome, reason = Outcome.ERROR, _not_run(item.broken)
    elif item.is_blank and not item.offences:
        outcome, reason = Outcome.TODO, NOT_RUN
    else:
        right = references.gradients(item.name[1:])
        whole = RIGHT if item.is_right else _examine_all(item, item.hidden, references, right)
        local = RIGHT if is_right_alone else check_locally(item, item.local, references)
        outcome, reason = _weigh(item, references, whole, local, comparison)
        if outcome is Outcome.ERROR and (asked := _asked(item, reason)):
            outcome, reason = Outcome.REFUSED, asked
    place = reason.place or item.place
    return Verdict(item.name, outcome, comparison, whole.check, local.check, reason.sentence, place)


def _asked(item: GradientEvidence, reason: Finding) -> Finding | None:
    """Why there is no value, if that is because autograd was asked for it and does not answer."""
    at = {flag.place: _not_run(flag) for flag in item.offences}
    first = next(iter(at.values()), None)
    if REFUSED in reason.sentence:
        return at.get(reason.place, first or reason)
    # `g = h.grad` raises nothing; what is done with None on a later line does.
    missing = reason.place is None and any(value.tensor is None for value in item.hidden)
    return at.get(reason.place, first if missing or "NoneType" in reason.sentence else None)


def _weigh(
    item: GradientEvidence,
    references: References,
    whole: Finding,
    local: Finding,
    comparison: Comparison,
) -> tuple[Outcome, Finding]:
    """The design's verdict table for what was written, with the finding that gives the reason."""
    if whole.check is Check.RIGHT:
        on_lecture = None if comparison.approximate else find_unusable(item.name, item.lecture)
        if on_lecture is not None:
            return Outcome.ERROR, on_lecture
        if not _is_far_off(comparison) or item.name[1:] in references.zero_by_structure:
            return _weigh_right_value(item, references, local)
        if local.check is not Check.RIGHT:
            return Outcome.FAIL, Finding(Check.WRONG, ONLY_ON_OTHER_SIZES)
    if local.check is Check.RIGHT:
        return Outcome.CARRIED, RIGHT
    at_lecture = item.lecture.raised
    if at_lecture and not any(value.raised for value in (*item.local, *item.hidden)):
        return Outcome.ERROR, _not_run(at_lecture)  # an index out of range at these sizes alone
    if Check.WRONG in (local.check, whole.check):
        sentence = why_it_fails(comparison, references, whole.sentence, local.sentence)
        return Outcome.FAIL, Finding(Check.WRONG, sentence)
    # Where both raised, the local check's reason is the line's own, not an earlier line's.
    reason = local if local.check is Check.NOT_RUN else whole
    if comparison.approximate:
        sentence = on_other_sizes(reason.sentence, references)
        return Outcome.ERROR, replace(reason, sentence=sentence)
    return Outcome.ERROR, _at_the_lectures_sizes(reason, item.lecture, references)


def _weigh_right_value(
    item: GradientEvidence, references: References, local: Finding
) -> tuple[Outcome, Finding]:
    """The upper half of the table: the value is right, but can it show a mistake?"""
    tensor, zero = item.name[1:], references.zero_by_structure
    if tensor in zero and not any(v.tensor is None or v.tensor.any() for v in item.local):
        sentence = f"Zeros are right: {item.name} is zero for every input."
        return Outcome.PASS, Finding(Check.RIGHT, sentence)
    if local.check is Check.RIGHT:
        idle = None
        if not local.sentence and tensor not in zero:
            idle = references.idle_branch(tensor, item.reads)
        return Outcome.PASS, replace(local, sentence=LEFT_OUT.format(idle)) if idle else local
    if not hides_mistakes(item, references):
        return Outcome.PASS, Finding(Check.RIGHT, STEP_BY_STEP)
    if WRONG in (local, check_locally(item, item.local, references, _WRONG_FIRST)):
        return Outcome.FAIL, Finding(Check.WRONG, TRUE_ZERO)
    if local.check is Check.NOT_RUN and all(value.on_the_way for value in item.hidden):
        # A line that it needs raises, whole or alone, and zero is all that it could have spoilt.
        is_elsewhere = item.lecture.on_the_way is None
        sentence = on_other_sizes(local.sentence, references) if is_elsewhere else local.sentence
        return Outcome.ERROR, replace(local, sentence=sentence)
    # Whole it gives the right value, alone none: the slice is at fault, not the student.
    return Outcome.PASS, Finding(Check.RIGHT, NOT_ALONE)


def hides_mistakes(item: GradientEvidence, references: References) -> bool:
    """True if the right value may come of a wrong line, since what it lacks is zero in the end."""
    tensor, zero = item.name[1:], references.zero_by_structure
    # The branch that shows in no value may be read and spoilt, or left out where others are read.
    alone = not item.reads.isdisjoint(references.program.readers(tensor)) and not item.writes
    is_beside = alone and tensor in references.beside_zero
    return tensor in zero or bool(zero & item.reads) or is_beside


def _is_far_off(comparison: Comparison) -> bool:
    """True if the value at the lecture's sizes is wrong by more than any rounding."""
    return comparison.exact is not None and (
        comparison.relative is None or comparison.relative > FAR_OFF
    )


def _examine_all(
    item: GradientEvidence,
    values: Sequence[Value],
    references: References,
    right: Sequence[Tensor],
    order: Sequence[Check] = _WORST_FIRST,
) -> Finding:
    """The values on the hidden instances beside the right ones; the first in this order."""
    floors = references.floors(item.name[1:])
    instances = zip(values, right, floors, references.lengths, strict=False)
    findings = (_examine(item.name, *instance) for instance in instances)
    return min(findings, key=lambda finding: order.index(finding.check))


def _examine(
    name: str, value: Value, reference: Tensor, floor: float, at_lecture: Mapping[int, int]
) -> Finding:
    """One value beside one reference, on a float64 instance."""
    if value.agrees(reference, floor):
        return RIGHT
    if (unusable := find_unusable(name, value)) is not None:
        return unusable
    if value.interrupted is not None:
        return _not_run(value.interrupted)
    assert value.tensor is not None
    if value.tensor.shape != reference.shape:
        shape, expected = (
            tuple(at_lecture.get(length, length) for length in tensor.shape)
            for tensor in (value.tensor, reference)
        )
        # Only at the lecture's sizes is it right: a number is written into the line.
        written_in = shape == expected
        sentence = WRITTEN_IN if written_in else describe_shape(name, shape, expected)
        return Finding(Check.WRONG, sentence)
    return WRONG


def find_unusable(name: str, value: Value) -> Finding | None:
    """Why there is no number to compare: raised, missing, of a wrong type, NaN or infinite."""
    if value.raised is not None:
        return _not_run(value.raised)
    if value.is_placeholder:
        sentence = f"{name} is not assigned."
    elif value.tensor is None:
        sentence = describe_type(name, value.type_name or "nothing")
    elif not value.tensor.is_floating_point():
        sentence = describe_dtype(name, value.tensor)
    else:
        sentence = describe_nonfinite(name, value.tensor)
    return Finding(Check.NOT_RUN, sentence) if sentence else None


def _not_run(reason: Raised | Flag) -> Finding:
    return Finding(Check.NOT_RUN, reason.message, reason.place)


def _compare_lecture(name: str, value: Value, reference: Tensor, may_be_zero: bool) -> Comparison:
    """The lecture's line, as the student would see it in the notebook."""
    shape = tuple(reference.shape)
    if value.raised is not None:
        return nothing_to_compare(name, value.tensor, shape, value.raised.message)
    if value.tensor is None and not value.is_placeholder:
        problem = describe_type(name, value.type_name or "nothing", shape)
        return nothing_to_compare(name, None, shape, problem)
    return compare(name, value.tensor, reference, may_be_zero=may_be_zero)


def _at_the_lectures_sizes(reason: Finding, lecture: Value, references: References) -> Finding:
    """The same exception as the student sees it: with the shapes of the notebook's batch.

    Where nothing is raised in the notebook, or something else, the other sizes are explained.
    """
    raised, kind = lecture.raised, reason.sentence.partition(":")[0]
    if raised and (raised.place, raised.message.partition(":")[0]) == (reason.place, kind):
        return replace(reason, sentence=with_drawn_lengths(raised.message, references))
    return replace(reason, sentence=with_sizes_met(reason.sentence, references))


def check_locally(
    item: GradientEvidence,
    values: Sequence[Value],
    references: References,
    order: Sequence[Check] = _WORST_FIRST,
) -> Finding:
    """What the gradient's own statements made of random upstreams, beside the program's VJP.

    A line is right if it is the VJP from any of the sets of upstreams it may be written for.
    """
    tensor = item.name[1:]
    readers = frozenset(references.program.readers(tensor))

    def check(given: Set[str], zeroed: Set[str]) -> Finding:
        right = references.local_vjps(tensor, given, zeroed)
        return _examine_all(item, values, references, right, order)

    findings: list[Finding] = []
    # Of a gradient that is read the shape alone may be wanted.
    without_one = (item.reads - {name} for name in sorted(item.reads))
    for given in dict.fromkeys((*item.upstreams(readers), *without_one, frozenset[str]())):
        findings.append(check(given, frozenset()))
        if findings[-1].check is Check.RIGHT:
            return findings[-1]
    for branch in sorted(references.zero_by_structure - item.reads - {tensor}):
        if check(item.reads, {branch}).check is Check.RIGHT:
            return Finding(Check.RIGHT, LEFT_OUT.format(branch))
    return findings[0]


def is_rough(item: GradientEvidence, references: References) -> bool:
    """True if the gradient's lines are right, but only to a few digits: more than noise is left.

    The values of the whole answer count, and those of its own lines alone: what was rough already
    when it was handed down is held against the line that made it so.
    """
    tensor = item.name[1:]
    readers = frozenset(references.program.readers(tensor))
    compared = [
        (item.hidden, references.gradients(tensor)),
        *((item.local, references.local_vjps(tensor, given)) for given in item.upstreams(readers)),
    ]

    def agree(tolerance: float) -> bool:
        floors = references.floors(tensor)
        return any(
            all(
                value.tensor is not None and agrees(value.tensor, reference, floor, tolerance)
                for value, reference, floor in zip(values, right, floors, strict=False)
            )
            for values, right in compared
        )

    return not agree(FLOAT64_NOISE) and agree(FLOAT64_TOLERANCE)
