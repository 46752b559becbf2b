"""Judge one gradient by itself, as if there were no others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.answer.parse import Raised
from grader.answer.statements import walk_names
from grader.diagnosis.kinds import Kind, hint
from grader.execution.evidence import Observed, Value, furthest
from grader.grading.reasons import (
    WRITTEN_IN,
    Reasons,
    on_other_sizes,
    why_it_fails,
    with_drawn_lengths,
    with_sizes_met,
)
from grader.program.compare import (
    FAR_OFF,
    FLOAT64_NOISE,
    FLOAT64_TOLERANCE,
    compare,
    describe_dtype,
    describe_nonfinite,
    describe_shape,
    describe_type,
    nothing_to_compare,
)
from grader.program.references import References
from grader.verdict import (
    AT_FAULT,
    Check,
    Comparison,
    Diagnosis,
    Flag,
    Outcome,
    Place,
    Reason,
    Verdict,
    because,
)
from grader.worker.results import REFUSED

_WORST_FIRST = (Check.NOT_RUN, Check.WRONG, Check.RIGHT)
_WRONG_FIRST = (Check.WRONG, Check.NOT_RUN, Check.RIGHT)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check of one gradient: a word, and if needed the reasons and a place."""

    check: Check
    reasons: Reasons = ()
    place: Place | None = None
    raised: Raised | None = None


RIGHT, WRONG, NOT_RUN = map(Finding, (Check.RIGHT, Check.WRONG, Check.NOT_RUN))


def examine(item: Observed, references: References, is_right_alone: bool) -> Verdict:
    """Give the verdict on a gradient, by the table in the design.

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
        local = RIGHT if is_right_alone else _check_locally(item, item.local, references)
        outcome, reason = _weigh(item, references, whole, local, comparison)
        if outcome is Outcome.PASS:
            is_exact = is_right_alone or not is_rough(item, references)
            why = _beside_a_right_value(item, references, reason, is_exact)
            if item.lecture.shape:
                why = (*why, _of_other_shape(item.name, item.lecture.shape, reference.shape))
            reason = replace(reason, reasons=why)
        elif outcome is Outcome.ERROR and (asked := _asked(item, reason)):
            outcome, reason = Outcome.REFUSED, asked
    place, checks = reason.place or item.place, (whole.check, local.check)
    verdict = Verdict(item.name, outcome, comparison, *checks, reason.reasons, place)
    return _excused(item, verdict, references) if outcome in AT_FAULT else verdict


def _excused(item: Observed, verdict: Verdict, references: References) -> Verdict:
    """The verdict on a gradient at fault, excused if only another line makes it wrong.

    It may be right until another gradient's line changes its memory. Or it may become right as soon
    as everything that it is made from is right, as does a line that reuses other results of the
    student's.
    """
    before, is_right = item.as_assigned, verdict.global_check is Check.RIGHT
    if before is not None and _check_locally(item, before, references).check is Check.RIGHT:
        if is_right and references.as_lecture:
            others = tuple(f"d{other}" for other in sorted(item.channels))
            why = because("changed-by-nothing", gradients=others)
            return replace(verdict, outcome=Outcome.PASS, reasons=(why,))
        return replace(verdict, reasons=(), diagnosis=(_aliased(item, verdict.place),))
    if is_right or item.among_right is None or hides_mistakes(item, references):
        return verdict
    tensor = item.name[1:]
    instances = zip(item.among_right, references.hidden, references.floors(tensor), strict=True)
    if all(value.agrees(one.from_loss(tensor), floor) for value, one, floor in instances):
        return carried(verdict)
    return verdict


def carried(verdict: Verdict, reasons: Reasons | None = None) -> Verdict:
    """The verdict on a right line that is not to blame for its wrong value."""
    why = verdict.reasons if reasons is None else reasons
    return replace(verdict, outcome=Outcome.CARRIED, local_check=Check.RIGHT, reasons=why)


def _aliased(item: Observed, place: Place | None) -> Diagnosis:
    """The diagnosis of a gradient that is right until another gradient's line changes it."""
    names = tuple(f"d{other}" for other in sorted(item.channels))
    line = "a later line" if place is None else f"line {place.line} of {place.cell}"
    message = (
        f"`{item.name}` is right when it is assigned; {line} changes it through"
        f" {' and '.join(f'`{name}`' for name in names)}, the same tensor."
    )
    return Diagnosis(Kind.ALIASED, message, hint(Kind.ALIASED, item.name), names)


def of_other_dtype(name: str, found: torch.dtype, due: torch.dtype) -> Diagnosis:
    """The diagnosis of a gradient that is right, but in a dtype that a later line cannot mix."""
    has, needs = (str(dtype).removeprefix("torch.") for dtype in (found, due))
    message = (
        f"`{name}` has dtype {has}, and `{name[1:]}` has {needs}; a later line cannot mix them."
    )
    said = "Which part of the line has that dtype? NumPy, for one, makes float64."
    return Diagnosis(Kind.WRONG_DTYPE, message, said)


def _asked(item: Observed, reason: Finding) -> Finding | None:
    """Why there is no value, if the line called autograd, which is switched off."""
    words = reason.raised.words if reason.raised else ""
    at = {flag.place: _refused(flag) for flag in item.offences}
    first = next(iter(at.values()), None)
    if REFUSED in words:
        return at.get(reason.place, first or reason)
    # `g = h.grad` raises no exception; a later line does, which computes with None.
    missing = reason.place is None and any(value.tensor is None for value in item.hidden)
    return at.get(reason.place, first if missing or "NoneType" in words else None)


def _refused(flag: Flag) -> Finding:
    reason = because("refused", kind=flag.kind, message=flag.message)
    return Finding(Check.NOT_RUN, (reason,), flag.place)


def _weigh(
    item: Observed,
    references: References,
    whole: Finding,
    local: Finding,
    comparison: Comparison,
) -> tuple[Outcome, Finding]:
    """The design's verdict table for a line that was written, with the finding for the reason."""
    if whole.check is Check.RIGHT:
        on_lecture = None if comparison.approximate else find_unusable(item.name, item.lecture)
        if on_lecture is not None:
            return Outcome.ERROR, on_lecture
        if not _is_far_off(comparison) or item.name[1:] in references.zero_by_structure:
            return _weigh_right_value(item, references, local)
        if local.check is not Check.RIGHT:
            return Outcome.FAIL, Finding(Check.WRONG, (because("only-on-other-sizes"),))
    if local.check is Check.RIGHT:
        return Outcome.CARRIED, RIGHT
    at_lecture = item.lecture.raised
    if at_lecture and not any(value.raised for value in (*item.local, *item.hidden)):
        return Outcome.ERROR, _not_run(at_lecture)  # an index out of range at these sizes alone
    if Check.WRONG in (local.check, whole.check):
        why = why_it_fails(comparison, references, whole.reasons, local.reasons)
        return Outcome.FAIL, Finding(Check.WRONG, why)
    # Where both raised, the local check's reason is the line's own, not an earlier line's.
    reason = local if local.check is Check.NOT_RUN else whole
    if comparison.approximate:
        return Outcome.ERROR, replace(reason, reasons=on_other_sizes(reason.reasons, references))
    return Outcome.ERROR, _at_the_lectures_sizes(reason, item.lecture, references)


def _weigh_right_value(
    item: Observed, references: References, local: Finding
) -> tuple[Outcome, Finding]:
    """The upper half of the table: the value is right, but could it show a mistake at all?"""
    tensor, zero = item.name[1:], references.zero_by_structure
    if tensor in zero and not any(v.tensor is None or v.tensor.any() for v in item.local):
        return Outcome.PASS, Finding(Check.RIGHT, (because("zeros", tensor=tensor),))
    if local.check is Check.RIGHT or not hides_mistakes(item, references):
        return Outcome.PASS, replace(local, place=None)
    if WRONG in (local, _check_locally(item, item.local, references, _WRONG_FIRST)):
        return Outcome.FAIL, Finding(Check.WRONG, (because("true-zero"),))
    if local.check is Check.NOT_RUN and all(value.on_the_way for value in item.hidden):
        # A line that it needs raises, whole or alone, and could only have spoilt zeros.
        is_elsewhere = item.lecture.on_the_way is None
        why = on_other_sizes(local.reasons, references) if is_elsewhere else local.reasons
        return Outcome.ERROR, replace(local, reasons=why)
    # Whole it gives the right value, alone none: the forced run is at fault, not the student.
    return Outcome.PASS, NOT_RUN


def _beside_a_right_value(
    item: Observed, references: References, reason: Finding, is_exact: bool
) -> Reasons:
    """The reasons beside a right value: what its line would do with other gradients."""
    raised = [value.on_the_way for value in (item.lecture, *item.hidden)]
    if raised[0] and all(raised):  # in the notebook, its cell does not get further than that line
        return (because("on-the-way"), *raised[0].reasons)
    if reason.check is Check.RIGHT:
        tensor = item.name[1:]
        if reason.reasons:
            return reason.reasons
        is_zero = tensor in references.zero_by_structure
        if not is_zero and (idle := references.idle_branch(tensor, item.reads)):
            return (because("idle-branch", branch=idle),)
        return () if is_exact else (because("almost"),)
    if reason != WRONG:
        return (because("not-alone"),)
    # What else it reads does not fit to random gradients, which are drawn one by one.
    program = references.program
    reached = program.reached(item.name[1:], item.reads)
    arrives = {reader for tensor in reached for reader in program.readers(tensor)}
    others = {*program.arriving.values()} & {name.id for name in walk_names(*item.code)}
    is_sure = bool(item.reads) and item.reads <= arrives and not (item.siblings or others)
    return (because("only-these-gradients" if is_sure else "another-way"),)


def hides_mistakes(item: Observed, references: References) -> bool:
    """True if a wrong line may give the right value, because what it lacks is zero in the end."""
    tensor, zero = item.name[1:], references.zero_by_structure
    # A branch that shows in no value may be read and spoilt, or left out while others are read.
    alone = not item.reads.isdisjoint(references.program.readers(tensor)) and not item.writes
    is_beside = alone and tensor in references.beside_zero
    return tensor in zero or bool(zero & item.reads) or is_beside


def _is_far_off(comparison: Comparison) -> bool:
    """True if the value at the lecture's sizes is wrong by more than rounding."""
    return comparison.exact is not None and (
        comparison.relative is None or comparison.relative > FAR_OFF
    )


def _examine_all(
    item: Observed,
    values: Sequence[Value],
    references: References,
    right: Sequence[Tensor],
    order: Sequence[Check] = _WORST_FIRST,
) -> Finding:
    """Compare the values on the hidden instances; return the first finding in this order."""
    floors = references.floors(item.name[1:])
    instances = zip(values, right, floors, references.lengths, strict=False)
    findings = (_examine_value(item.name, *instance) for instance in instances)
    return min(findings, key=lambda finding: order.index(finding.check))


def _examine_value(
    name: str, value: Value, reference: Tensor, floor: float, at_lecture: Mapping[int, int]
) -> Finding:
    """Compare one value with one reference, on a float64 instance."""
    if value.agrees(reference, floor):
        return RIGHT
    if (unusable := find_unusable(name, value)) is not None:
        return unusable
    if value.interrupted is not None:
        return _not_run(value.interrupted)
    assert value.tensor is not None
    if value.tensor.shape == reference.shape:
        return WRONG
    shape, expected = (
        tuple(at_lecture.get(length, length) for length in tensor.shape)
        for tensor in (value.tensor, reference)
    )
    if shape == expected:  # only at the lecture's sizes is it right: a number is written in
        return Finding(Check.WRONG, WRITTEN_IN)
    return Finding(Check.WRONG, (because("shape", message=describe_shape(name, shape, expected)),))


def find_unusable(name: str, value: Value) -> Finding | None:
    """Say why a value cannot be compared: it raised, is missing, of a wrong type, NaN or inf."""
    if value.raised is not None:
        return _not_run(value.raised)
    if value.is_placeholder:
        return Finding(Check.NOT_RUN, (because("not-assigned", gradient=name),))
    if value.tensor is None:
        said = describe_type(name, value.type_name or "nothing")
    elif not value.tensor.is_floating_point():
        said = describe_dtype(name, value.tensor)
    else:
        said = describe_nonfinite(name, value.tensor)
    return Finding(Check.NOT_RUN, (because("value", message=said),)) if said else None


def _not_run(raised: Raised) -> Finding:
    return Finding(Check.NOT_RUN, raised.reasons, raised.place, raised)


def _compare_lecture(name: str, value: Value, reference: Tensor, may_be_zero: bool) -> Comparison:
    """The lecture's line, as the student would see it in the notebook."""
    shape = tuple(reference.shape)
    if value.raised is not None:
        return nothing_to_compare(name, value.tensor, shape, value.raised.message)
    if value.tensor is None and not value.is_placeholder:
        problem = describe_type(name, value.type_name or "nothing", shape)
        return nothing_to_compare(name, None, shape, problem)
    comparison = compare(name, value.tensor, reference, may_be_zero=may_be_zero)
    return replace(comparison, shape=value.shape) if value.shape else comparison


def _of_other_shape(name: str, shape: tuple[int, ...], due: Sequence[int]) -> Reason:
    words = {"tensor": name[1:], "shape": str(shape), "due": str(tuple(due))}
    return because("shape-accepted", **words)


def _at_the_lectures_sizes(reason: Finding, lecture: Value, references: References) -> Finding:
    """The same exception as the student sees it, with the shapes of the notebook's batch.

    If the line raises nothing in the notebook, or something else, the other sizes are explained.
    """
    here, there = lecture.raised, reason.raised
    if here and there and (here.place, here.kind) == (there.place, there.kind):
        return replace(reason, reasons=with_drawn_lengths(here.reasons, references))
    return replace(reason, reasons=with_sizes_met(reason.reasons, references))


def _check_locally(
    item: Observed,
    values: Sequence[Value],
    references: References,
    order: Sequence[Check] = _WORST_FIRST,
) -> Finding:
    """Compare what the gradient's own statements make of random gradients with the program's VJP.

    A line may be written for one of several sets of upstream gradients. It is right if it is the
    VJP from any of these sets.
    """
    tensor = item.name[1:]
    readers = frozenset(references.program.readers(tensor))

    def check(given: Set[str], zeroed: Set[str]) -> Finding:
        right = references.local_vjps(tensor, given, zeroed)
        return _examine_all(item, values, references, right, order)

    findings: list[Finding] = []
    # A line may read a gradient only for its shape.
    without_one = (item.reads - {name} for name in sorted(item.reads))
    for given in dict.fromkeys((*item.upstreams(readers), *without_one, frozenset[str]())):
        findings.append(check(given, frozenset()))
        if findings[-1].check is Check.RIGHT:
            return findings[-1]
    for branch in sorted(references.zero_by_structure - item.reads - {tensor}):
        if check(item.reads, {branch}).check is Check.RIGHT:
            return Finding(Check.RIGHT, (because("left-out", branch=branch),))
    return findings[0]


def is_rough(item: Observed, references: References) -> bool:
    """True if the gradient's lines are right, but only to a few digits.

    Both the whole answer and its own lines must differ by more than noise, so that only the line
    that made a value rough is blamed, and not those further down.
    """
    tensor, readers = item.name[1:], frozenset(references.program.readers(item.name[1:]))
    right = (references.local_vjps(tensor, given) for given in item.upstreams(readers))
    compared = [(item.hidden, references.gradients(tensor)), *((item.local, one) for one in right)]
    far = (furthest([(item.name, *one)], references).get(item.name, math.inf) for one in compared)
    return FLOAT64_NOISE < min(far) <= FLOAT64_TOLERANCE
