"""The judge: evidence beside references gives verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from torch import Tensor

from grader.compare import compare, describe_type, nothing_to_compare
from grader.comparison import Comparison
from grader.evidence import GradientEvidence, Value
from grader.examine import Finding, examine, find_unusable, told_at, worst_of
from grader.reasons import (
    BATCH_OF_OTHER_SIZES,
    NOT_ALONE,
    ONLY_ON_OTHER_SIZES,
    STEP_BY_STEP,
    TRUE_ZERO,
    aliased,
    lecture_lengths,
    settle_carried,
    why_it_fails,
)
from grader.references import Reference, References
from grader.verdict import Check, Outcome, Verdict

FAR_OFF = 1e-3
"""Differences beyond this, relative to the largest value, are no rounding in float32 either."""

_AT_FAULT = (Outcome.FAIL, Outcome.ERROR)


def judge(
    evidence: Sequence[GradientEvidence],
    references: References,
    lecture: Mapping[str, Tensor],
) -> list[Verdict]:
    """A verdict for each gradient, by the table in the design.

    Args:
        evidence: what the student's statements did, one entry for each gradient asked for.
        references: autograd's gradients on the hidden instances.
        lecture: autograd's gradients, by tensor, on the float32 instance of the lecture's sizes.
    """
    lengths = [lecture_lengths(reference, lecture) for reference in references.hidden]
    verdicts = [_judge_gradient(item, references, lecture, lengths) for item in evidence]
    verdicts = list(_settle_shared_memory(evidence, verdicts, references))
    verdicts = list(_settle_siblings(evidence, verdicts, references))
    return list(settle_carried(evidence, verdicts))


def _judge_gradient(
    item: GradientEvidence,
    references: References,
    lecture: Mapping[str, Tensor],
    lengths: Sequence[Mapping[int, int]],
) -> Verdict:
    comparison = _compare_lecture(item.name, item.lecture, lecture[item.name[1:]])
    whole, local = Finding(Check.NOT_RUN), Finding(Check.NOT_RUN)
    if item.offences:
        outcome = Outcome.REFUSED
        reason = Finding(Check.NOT_RUN, item.offences[0].message, item.offences[0].place)
    elif item.broken is not None:
        outcome = Outcome.ERROR
        reason = Finding(Check.NOT_RUN, item.broken.message, item.broken.place)
    elif item.is_blank:
        outcome, reason = Outcome.TODO, Finding(Check.NOT_RUN)
    else:
        whole = told_at(_check_globally(item, references), item.name, lengths)
        local = told_at(_check_locally(item, item.local, references), item.name, lengths)
        outcome, reason = _weigh(item, references, whole, local, comparison)
    place = reason.place or item.place
    return Verdict(item.name, outcome, comparison, whole.check, local.check, reason.sentence, place)


def _weigh(
    item: GradientEvidence,
    references: References,
    whole: Finding,
    local: Finding,
    comparison: Comparison,
) -> tuple[Outcome, Finding]:
    """The design's verdict table for what was written, with the finding that gives the reason."""
    if whole.check is Check.RIGHT:
        on_lecture = find_unusable(item.name, item.lecture)
        if on_lecture is not None:
            return Outcome.ERROR, on_lecture
        if not _is_far_off(comparison) or item.name[1:] in references.zero_by_structure:
            return _weigh_right_value(item, references, local)
        if local.check is not Check.RIGHT:
            return Outcome.FAIL, Finding(Check.WRONG, ONLY_ON_OTHER_SIZES)
    if local.check is Check.RIGHT:
        return Outcome.CARRIED, Finding(Check.RIGHT)
    if Check.WRONG in (local.check, whole.check):
        sentence = why_it_fails(comparison, whole.sentence, local.sentence)
        return Outcome.FAIL, Finding(Check.WRONG, sentence)
    # Where both raised, the local check's reason is the line's own, not an earlier line's.
    reason = local if local.check is Check.NOT_RUN else whole
    reason = _at_the_lectures_sizes(reason, item.lecture)
    if comparison.approximate:
        sentence = f"{BATCH_OF_OTHER_SIZES}. {reason.sentence}"
        return Outcome.ERROR, replace(reason, sentence=sentence)
    return Outcome.ERROR, reason


def _weigh_right_value(
    item: GradientEvidence, references: References, local: Finding
) -> tuple[Outcome, Finding]:
    """The upper half of the table: the value is right, but can it show a mistake?"""
    tensor, zero = item.name[1:], references.zero_by_structure
    if tensor in zero and all(map(_is_zero, item.local or item.hidden)):
        sentence = f"Zeros are right: {item.name} is zero for every input."
        return Outcome.PASS, Finding(Check.RIGHT, sentence)
    if local.check is Check.RIGHT or local.check is Check.NOT_POSSIBLE:
        return Outcome.PASS, replace(local, check=Check.RIGHT)
    readers = references.program.readers(tensor)
    # A branch through a zero gradient shows in no value, whether the statements read that
    # gradient or, reading the other branch alone, make up for it on their own.
    alone = not item.reads.isdisjoint(readers) and not item.writes
    hides = bool(zero & item.reads) or (alone and not zero.isdisjoint(readers))
    if tensor not in zero and not hides:
        return Outcome.PASS, Finding(Check.RIGHT, STEP_BY_STEP)
    if local.check is Check.NOT_RUN or local.shapes is not None:
        # Whole it gives the right value, alone none: the slice is at fault, not the student.
        return Outcome.PASS, Finding(Check.RIGHT, NOT_ALONE)
    return Outcome.FAIL, Finding(Check.WRONG, local.sentence or TRUE_ZERO)


def _is_far_off(comparison: Comparison) -> bool:
    """True if the value at the lecture's sizes is wrong by more than any rounding."""
    return comparison.exact is not None and (
        comparison.relative is None or comparison.relative > FAR_OFF
    )


def _check_globally(item: GradientEvidence, references: References) -> Finding:
    """The whole answer's value beside autograd's gradient, on every hidden instance."""
    tensor = item.name[1:]
    return worst_of(
        examine(
            item.name, value, reference.gradients[tensor], _floor(tensor, reference, references)
        )
        for value, reference in zip(item.hidden, references.hidden, strict=True)
    )


def _check_locally(
    item: GradientEvidence, values: Sequence[Value] | None, references: References
) -> Finding:
    """What the gradient's own statements made of random upstreams, beside the program's VJP.

    The upstreams that count are those the statements read: whoever writes a gradient in
    fewer steps than the program has reads a later one. A line is right if it is the VJP from any
    of the sensible sets of upstreams.
    """
    if values is None:
        return Finding(Check.NOT_POSSIBLE)
    tensor = item.name[1:]
    readers = frozenset(references.program.readers(tensor))
    candidates = (item.reads, item.reads - item.writes, readers, frozenset[str]())

    def check(given: Set[str], zeroed: Set[str]) -> Finding:
        return worst_of(
            examine(
                item.name,
                value,
                reference.local_vjp(tensor, given, zeroed),
                _floor(tensor, reference, references),
            )
            for value, reference in zip(values, references.hidden, strict=True)
        )

    findings: list[Finding] = []
    for given in dict.fromkeys(candidates):
        findings.append(check(given, frozenset()))
        if findings[-1].check is Check.RIGHT:
            return findings[-1]
    for branch in sorted(references.zero_by_structure - item.reads - {tensor}):
        if check(item.reads, {branch}).check is Check.RIGHT:
            sentence = f"Leaving out the branch through {branch} is right: it is always zero."
            return Finding(Check.RIGHT, sentence)
    return findings[0]


def _floor(tensor: str, reference: Reference, references: References) -> float:
    """What counts as large where the reference itself is rounding noise around zero."""
    if tensor not in references.zero_by_structure:
        return 0.0
    return reference.magnitude(tensor)


def _is_zero(value: Value) -> bool:
    return value.tensor is not None and not bool(value.tensor.any())


def _compare_lecture(name: str, value: Value, reference: Tensor) -> Comparison:
    """The lecture's line, as the student would see it in the notebook."""
    shape = tuple(reference.shape)
    if value.raised is not None:
        return nothing_to_compare(name, value.tensor, shape, value.raised.message)
    if value.tensor is None and not value.is_placeholder:
        problem = describe_type(name, value.type_name or "nothing", shape)
        return nothing_to_compare(name, None, shape, problem)
    return compare(name, value.tensor, reference)


def _at_the_lectures_sizes(reason: Finding, lecture: Value) -> Finding:
    """The same exception as the student sees it: with the shapes of the notebook's batch."""
    raised = lecture.raised
    if raised is None or raised.place != reason.place:
        return reason
    if raised.message.partition(":")[0] != reason.sentence.partition(":")[0]:
        return reason
    return replace(reason, sentence=raised.message)


def _settle_shared_memory(
    evidence: Sequence[GradientEvidence], verdicts: Sequence[Verdict], references: References
) -> Iterator[Verdict]:
    """Tell a wrong line from a right one whose memory another gradient's line changes later.

    Where that other gradient is wrong by itself, the mistake is paid for there.
    """
    outcomes = {verdict.name: verdict.outcome for verdict in verdicts}
    for item, verdict in zip(evidence, verdicts, strict=True):
        if verdict.outcome not in _AT_FAULT or not _was_right_as_assigned(item, references):
            yield verdict
        elif any(outcomes.get(f"d{other}") in _AT_FAULT for other in item.channels):
            yield replace(verdict, outcome=Outcome.CARRIED)
        else:
            others = " and ".join(sorted(f"d{other}" for other in item.channels))
            note = (
                f"{item.name} is right when it is assigned, but this line changes it, through"
                f" {others}: two names for one tensor."
            )
            yield replace(verdict, note=note, diagnosis=(aliased(item, verdict.place),))


def excusable(evidence: Sequence[GradientEvidence], verdicts: Sequence[Verdict]) -> frozenset[str]:
    """The gradients at fault that use another one's result which is wrong or missing.

    What their own lines make of the right one, `GradientEvidence.beside`, decides about them.
    """
    outcomes = {verdict.name: verdict.outcome for verdict in verdicts}
    excused = (*_AT_FAULT, Outcome.TODO)
    return frozenset(
        item.name
        for item, verdict in zip(evidence, verdicts, strict=True)
        if verdict.outcome in _AT_FAULT
        and verdict.global_check is not Check.RIGHT
        and any(outcomes.get(f"d{other}") in excused for other in item.siblings)
    )


def _settle_siblings(
    evidence: Sequence[GradientEvidence], verdicts: Sequence[Verdict], references: References
) -> Iterator[Verdict]:
    """Tell a wrong line from a right one that uses another gradient's wrong or missing result."""
    doubtful = excusable(evidence, verdicts)
    for item, verdict in zip(evidence, verdicts, strict=True):
        if (
            item.name in doubtful
            and item.beside is not None
            and _check_locally(item, item.beside, references).check is Check.RIGHT
        ):
            verdict = replace(verdict, outcome=Outcome.CARRIED, local_check=Check.RIGHT)
        yield verdict


def _was_right_as_assigned(item: GradientEvidence, references: References) -> bool:
    if item.as_assigned is None:
        return False
    return _check_locally(item, item.as_assigned, references).check is Check.RIGHT
