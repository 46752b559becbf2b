"""The judge: evidence beside references gives verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from torch import Tensor

from grader.compare import (
    Comparison,
    compare,
    describe_dtype,
    describe_nonfinite,
    describe_shape,
    describe_type,
    nothing_to_compare,
)
from grader.evidence import GradientEvidence, Value
from grader.references import Reference, References
from grader.verdict import Check, Outcome, Place, Verdict

TOLERANCE = 1e-6
"""Largest accepted difference on a float64 instance, relative to the reference's largest value.

Right answers differ by about 1e-14; the smallest mistake seen, a forgotten eps, by 1e-5.
"""


_AT_FAULT = (Outcome.FAIL, Outcome.ERROR)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check of one gradient found: a word, and where needed a sentence and a place."""

    check: Check
    sentence: str = ""
    place: Place | None = None


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
    verdicts = [_judge_gradient(item, references, lecture) for item in evidence]
    verdicts = list(_settle_shared_memory(evidence, verdicts, references))
    verdicts = list(_settle_siblings(evidence, verdicts, references))
    return list(_say_what_was_carried(evidence, verdicts))


def _judge_gradient(
    item: GradientEvidence, references: References, lecture: Mapping[str, Tensor]
) -> Verdict:
    tensor = item.name[1:]
    comparison = _compare_lecture(tensor, item.lecture, lecture[tensor])
    whole, local = Finding(Check.NOT_RUN), Finding(Check.NOT_RUN)
    if item.offences:
        outcome = Outcome.REFUSED
        reason = Finding(Check.NOT_RUN, item.offences[0].message, item.offences[0].place)
    elif item.broken is not None:
        outcome = Outcome.ERROR
        reason = Finding(Check.NOT_RUN, item.broken.message, item.broken.place)
    elif all(value.is_placeholder for value in item.hidden):
        outcome, reason = Outcome.TODO, Finding(Check.NOT_RUN)
    else:
        whole = _check_globally(item, references)
        local = _check_locally(item, item.local, references)
        outcome, reason = _weigh(item, references.zero_by_structure, whole, local, comparison)
    place = reason.place or item.place
    return Verdict(item.name, outcome, comparison, whole.check, local.check, reason.sentence, place)


def _weigh(
    item: GradientEvidence,
    zero: Set[str],
    whole: Finding,
    local: Finding,
    comparison: Comparison,
) -> tuple[Outcome, Finding]:
    """The design's verdict table for what was written, with the finding that gives the reason."""
    if whole.check is Check.RIGHT:
        on_lecture = _find_unusable(item.name, item.lecture)
        if on_lecture is not None:
            return Outcome.ERROR, on_lecture
        if item.name[1:] in zero and all(_is_zero(value) for value in item.hidden):
            sentence = f"Zeros are right: {item.name} is zero for every input."
            return Outcome.PASS, Finding(Check.RIGHT, sentence)
        if local.check is Check.RIGHT or local.check is Check.NOT_POSSIBLE:
            return Outcome.PASS, replace(local, check=Check.RIGHT)
        if item.name[1:] not in zero and zero.isdisjoint(item.reads):
            return Outcome.PASS, Finding(Check.RIGHT, "Right, by another way than step by step.")
    elif local.check is Check.RIGHT:
        return Outcome.CARRIED, Finding(Check.RIGHT)
    if local.check is Check.WRONG or whole.check is Check.WRONG:
        sentence = _say_why_it_fails(item, whole, local, comparison)
        return Outcome.FAIL, Finding(Check.WRONG, sentence)
    # Where both raised, the local check's reason is the line's own, not an earlier line's.
    reason = local if local.check is Check.NOT_RUN else whole
    reason = _at_the_lectures_sizes(reason, item.lecture)
    if whole.check is Check.NOT_RUN and comparison.approximate:
        sentence = f"It works on sizes like the lecture's, not on others: {reason.sentence}"
        return Outcome.ERROR, replace(reason, sentence=sentence)
    return Outcome.ERROR, reason


def _check_globally(item: GradientEvidence, references: References) -> Finding:
    """The whole answer's value beside autograd's gradient, on every hidden instance."""
    tensor = item.name[1:]
    return _worst(
        _examine(
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
        return _worst(
            _examine(
                item.name,
                value,
                reference.local_vjp(tensor, given, zeroed),
                _floor(tensor, reference, references),
            )
            for value, reference in zip(values, references.hidden, strict=True)
        )

    findings = [check(given, frozenset()) for given in dict.fromkeys(candidates)]
    right = [finding for finding in findings if finding.check is Check.RIGHT]
    if right:
        return right[0]
    for branch in sorted(references.zero_by_structure - item.reads - {tensor}):
        if check(item.reads, {branch}).check is Check.RIGHT:
            sentence = f"Leaving out the branch through {branch} is right: it is always zero."
            return Finding(Check.RIGHT, sentence)
    return findings[0]


def _examine(name: str, value: Value, reference: Tensor, floor: float) -> Finding:
    """One value beside one reference, on a float64 instance."""
    unusable = _find_unusable(name, value)
    if unusable is not None:
        return unusable
    assert value.tensor is not None
    shape, expected = tuple(value.tensor.shape), tuple(reference.shape)
    if shape != expected:
        return Finding(Check.WRONG, describe_shape(name, shape, expected))
    if reference.numel() == 0:
        return Finding(Check.RIGHT)
    largest = max(floor, float(reference.abs().max()))
    difference = float((value.tensor.double() - reference).abs().max())
    # Written so that anything unordered is wrong.
    return Finding(Check.RIGHT if difference <= TOLERANCE * largest else Check.WRONG)


def _find_unusable(name: str, value: Value) -> Finding | None:
    """Why there is no number to compare: raised, missing, of a wrong type, NaN or infinite."""
    if value.raised is not None:
        return Finding(Check.NOT_RUN, value.raised.message, value.raised.place)
    if value.tensor is None:
        if value.is_placeholder:
            return Finding(Check.NOT_RUN, f"{name} is not assigned.")
        sentence = describe_type(name, value.type_name or "nothing")
        return Finding(Check.NOT_RUN, sentence)
    if not value.tensor.is_floating_point():
        return Finding(Check.NOT_RUN, describe_dtype(name, value.tensor))
    if sentence := describe_nonfinite(name, value.tensor):
        return Finding(Check.NOT_RUN, sentence)
    return None


def _worst(findings: Iterable[Finding]) -> Finding:
    """One finding for several instances: not run before wrong before right."""
    order = (Check.NOT_RUN, Check.WRONG, Check.RIGHT)
    return min(findings, key=lambda finding: order.index(finding.check))


def _floor(tensor: str, reference: Reference, references: References) -> float:
    """What counts as large where the reference itself is rounding noise around zero."""
    if tensor not in references.zero_by_structure:
        return 0.0
    return reference.magnitude(tensor) * TOLERANCE


def _is_zero(value: Value) -> bool:
    return value.tensor is not None and not bool(value.tensor.any())


def _compare_lecture(tensor: str, value: Value, reference: Tensor) -> Comparison:
    """The lecture's line, as the student would see it in the notebook."""
    shape = tuple(reference.shape)
    if value.raised is not None:
        return nothing_to_compare(tensor, value.tensor, shape, value.raised.message)
    if value.tensor is None and not value.is_placeholder:
        problem = describe_type(f"d{tensor}", value.type_name or "nothing", shape)
        return nothing_to_compare(tensor, None, shape, problem)
    return compare(tensor, value.tensor, reference)


def _say_why_it_fails(
    item: GradientEvidence, whole: Finding, local: Finding, comparison: Comparison
) -> str:
    """What can be said of a wrong gradient without knowing the mistake."""
    if comparison.problem and item.lecture.raised is None:
        return comparison.problem
    if local.sentence:
        return local.sentence
    if whole.check is Check.RIGHT:
        return (
            "The value matches only because the true gradient here is zero: given another"
            " gradient from above, this line computes something else than the chain rule."
        )
    if comparison.approximate:
        return (
            "It matches on sizes like the lecture's, not on others: is a number or a position"
            " of this batch written into the line?"
        )
    return ""


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
            yield replace(verdict, note=note)


def _settle_siblings(
    evidence: Sequence[GradientEvidence], verdicts: Sequence[Verdict], references: References
) -> Iterator[Verdict]:
    """Tell a wrong line from a right one that uses another gradient's wrong or missing result."""
    outcomes = {verdict.name: verdict.outcome for verdict in verdicts}
    excused = (*_AT_FAULT, Outcome.TODO)
    for item, verdict in zip(evidence, verdicts, strict=True):
        if (
            verdict.outcome in _AT_FAULT
            and verdict.global_check is not Check.RIGHT
            and any(outcomes.get(f"d{other}") in excused for other in item.siblings)
            and item.beside is not None
            and _check_locally(item, item.beside, references).check is Check.RIGHT
        ):
            verdict = replace(verdict, outcome=Outcome.CARRIED, local_check=Check.RIGHT)
        yield verdict


def _was_right_as_assigned(item: GradientEvidence, references: References) -> bool:
    if item.as_assigned is None:
        return False
    return _check_locally(item, item.as_assigned, references).check is Check.RIGHT


def _say_what_was_carried(
    evidence: Sequence[GradientEvidence], verdicts: Sequence[Verdict]
) -> Iterator[Verdict]:
    """Name, for each `carried`, the gradients with which it began."""
    outcomes = {verdict.name: verdict.outcome for verdict in verdicts}
    handed = {
        item.name: [f"d{tensor}" for tensor in sorted(item.reads | item.channels)]
        for item in evidence
    }

    def origins(name: str, seen: set[str]) -> Iterator[str]:
        for other in handed.get(name, ()):
            if other in seen or outcomes.get(other, Outcome.PASS) is Outcome.PASS:
                continue
            seen.add(other)
            if outcomes[other] is Outcome.CARRIED:
                yield from origins(other, seen)
            else:
                yield other

    for verdict in verdicts:
        if verdict.outcome is Outcome.CARRIED:
            names = " and ".join(sorted(origins(verdict.name, {verdict.name})))
            note = f"Right by itself; what it was handed is not: see {names or 'what is above it'}."
            verdict = replace(verdict, note=note)
        yield verdict
