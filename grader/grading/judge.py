"""The judge: evidence beside references gives verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from torch import Tensor

from grader.answer.parse import Raised
from grader.execution.evidence import GradientEvidence, Value, furthest
from grader.grading.imprecision import is_rough
from grader.grading.reasons import (
    ALMOST,
    AT_THE_WRONG_TIME,
    LEFT_OUT,
    NOT_ALONE,
    ONLY_ON_OTHER_SIZES,
    RAISES_ON_THE_WAY,
    STEP_BY_STEP,
    TRUE_ZERO,
    WRITTEN_IN,
    aliased,
    carried,
    on_other_sizes,
    why_it_fails,
    with_drawn_lengths,
    with_sizes_met,
)
from grader.program.compare import (
    FLOAT64_NOISE,
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

FAR_OFF = 1e-3
"""Differences beyond this, relative to the largest value, are no rounding in float32 either."""

_AT_FAULT = (Outcome.FAIL, Outcome.ERROR)
_WORST_FIRST = (Check.NOT_RUN, Check.WRONG, Check.RIGHT)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check of one gradient found: a word, and where needed a sentence and a place."""

    check: Check
    sentence: str = ""
    place: Place | None = None


RIGHT, WRONG, NOT_RUN = map(Finding, (Check.RIGHT, Check.WRONG, Check.NOT_RUN))


def judge(evidence: Sequence[GradientEvidence], references: References) -> list[Verdict]:
    """A verdict for each gradient, by the table in the design.

    Each gradient is judged by itself first. Then those at fault are looked at beside the others:
    a right line that was handed something wrong is carried.

    Args:
        evidence: what the student's statements did, one entry for each gradient asked for.
        references: autograd's gradients, on the hidden instances and on the lecture's.
    """
    vjps = references.local_vjps
    own = ((item.name, item.local, vjps(item.name[1:], item.reads)) for item in evidence)
    far = furthest(own, references)
    local = {name for name, apart in far.items() if apart <= FLOAT64_NOISE}
    verdicts = [_judge_gradient(item, references, item.name in local) for item in evidence]
    rough = {
        item.name
        for item, verdict in zip(evidence, verdicts, strict=True)
        if (verdict.outcome, verdict.note) == (Outcome.PASS, "")
        and item.name not in local
        and is_rough(item, references, FLOAT64_NOISE)
    }
    verdicts = [replace(v, note=ALMOST) if v.name in rough else v for v in verdicts]
    verdicts = list(_note_exceptions(evidence, verdicts))
    verdicts = list(_judge_shared_memory(evidence, verdicts, references))
    verdicts = list(_judge_siblings(evidence, verdicts, references))
    return list(_judge_carried(evidence, verdicts, references, rough))


def _judge_gradient(item: GradientEvidence, references: References, right_alone: bool) -> Verdict:
    reference = references.lecture_gradients[item.name[1:]]
    comparison = _compare_lecture(item.name, item.lecture, reference)
    whole = local = NOT_RUN
    if item.broken is not None:
        outcome, reason = Outcome.ERROR, _not_run(item.broken)
    elif item.is_blank and not item.offences:
        outcome, reason = Outcome.TODO, NOT_RUN
    else:
        right = references.gradients(item.name[1:])
        whole = RIGHT if item.is_right else _examine_all(item, item.hidden, references, right)
        local = RIGHT if right_alone else _check_locally(item, item.local, references)
        outcome, reason = _weigh(item, references, whole, local, comparison)
        if outcome is Outcome.ERROR and (asked := _asked(item, reason)):
            outcome, reason = Outcome.REFUSED, asked
    place = reason.place or item.place
    return Verdict(item.name, outcome, comparison, whole.check, local.check, reason.sentence, place)


def _note_exceptions(
    evidence: Sequence[GradientEvidence], verdicts: Sequence[Verdict]
) -> Iterator[Verdict]:
    """The verdicts; those on right values with what a line that they need raised, wherever it ran.

    In the notebook, the cell does not get further than that line.
    """
    for item, verdict in zip(evidence, verdicts, strict=True):
        raised = [value.on_the_way for value in (item.lecture, *item.hidden)]
        if verdict.outcome is Outcome.PASS and raised[0] and all(raised):
            verdict = replace(verdict, note=RAISES_ON_THE_WAY.format(raised[0].message))
        yield verdict


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
    readers = references.program.readers(tensor)
    # The branch that shows in no value may be read and spoilt, or left out where others are read.
    alone = not item.reads.isdisjoint(readers) and not item.writes
    hides = bool(zero & item.reads) or (alone and tensor in references.beside_zero)
    if tensor not in zero and not hides:
        return Outcome.PASS, Finding(Check.RIGHT, STEP_BY_STEP)
    if local != WRONG:
        # Whole it gives the right value, alone none: the slice is at fault, not the student.
        return Outcome.PASS, Finding(Check.RIGHT, NOT_ALONE)
    return Outcome.FAIL, Finding(Check.WRONG, TRUE_ZERO)


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
) -> Finding:
    """The values on the hidden instances beside the right ones; the first of the worst."""
    floors = references.floors(item.name[1:])
    instances = zip(values, right, floors, references.lengths, strict=False)
    findings = (_examine(item.name, *instance) for instance in instances)
    return min(findings, key=lambda finding: _WORST_FIRST.index(finding.check))


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


def _check_locally(
    item: GradientEvidence, values: Sequence[Value], references: References
) -> Finding:
    """What the gradient's own statements made of random upstreams, beside the program's VJP.

    A line is right if it is the VJP from any of the sets of upstreams it may be written for.
    """
    tensor = item.name[1:]
    readers = frozenset(references.program.readers(tensor))

    def check(given: Set[str], zeroed: Set[str]) -> Finding:
        right = references.local_vjps(tensor, given, zeroed)
        return _examine_all(item, values, references, right)

    findings: list[Finding] = []
    for given in dict.fromkeys((*item.upstreams(readers), frozenset[str]())):
        findings.append(check(given, frozenset()))
        if findings[-1].check is Check.RIGHT:
            return findings[-1]
    for branch in sorted(references.zero_by_structure - item.reads - {tensor}):
        if check(item.reads, {branch}).check is Check.RIGHT:
            return Finding(Check.RIGHT, LEFT_OUT.format(branch))
    return findings[0]


def _compare_lecture(name: str, value: Value, reference: Tensor) -> Comparison:
    """The lecture's line, as the student would see it in the notebook."""
    shape = tuple(reference.shape)
    if value.raised is not None:
        return nothing_to_compare(name, value.tensor, shape, value.raised.message)
    if value.tensor is None and not value.is_placeholder:
        problem = describe_type(name, value.type_name or "nothing", shape)
        return nothing_to_compare(name, None, shape, problem)
    return compare(name, value.tensor, reference)


def _at_the_lectures_sizes(reason: Finding, lecture: Value, references: References) -> Finding:
    """The same exception as the student sees it: with the shapes of the notebook's batch.

    Where nothing is raised in the notebook, or something else, the other sizes are explained.
    """
    raised, kind = lecture.raised, reason.sentence.partition(":")[0]
    if raised and (raised.place, raised.message.partition(":")[0]) == (reason.place, kind):
        return replace(reason, sentence=with_drawn_lengths(raised.message, references))
    return replace(reason, sentence=with_sizes_met(reason.sentence, references))


def _judge_shared_memory(
    evidence: Sequence[GradientEvidence], verdicts: Sequence[Verdict], references: References
) -> Iterator[Verdict]:
    """Tell a wrong line from a right one whose memory another gradient's line changes later.

    Where that other gradient is wrong by itself, the mistake is paid for there.
    """
    outcomes = {verdict.name: verdict.outcome for verdict in verdicts}
    for item, verdict in zip(evidence, verdicts, strict=True):
        if verdict.outcome not in _AT_FAULT or not _is_right(item, item.as_assigned, references):
            yield verdict
        elif any(outcomes.get(f"d{other}") in _AT_FAULT for other in item.channels):
            yield replace(verdict, outcome=Outcome.CARRIED)
        else:
            diagnosis = (aliased(item, verdict.place),)
            yield replace(verdict, note="", diagnosis=diagnosis)


def _judge_siblings(
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
            and _is_right(item, item.beside, references)
        ):
            verdict = replace(verdict, outcome=Outcome.CARRIED, local_check=Check.RIGHT)
        yield verdict


def _is_right(
    item: GradientEvidence, values: Sequence[Value] | None, references: References
) -> bool:
    """True if these values were seen and are right."""
    return values is not None and _check_locally(item, values, references).check is Check.RIGHT


def _judge_carried(
    evidence: Sequence[GradientEvidence],
    verdicts: Sequence[Verdict],
    references: References,
    rough: Set[str],
) -> Iterator[Verdict]:
    """Name, for each `carried`, the gradients with which it began.

    Where it began with none, the line is right and its value is not, although all it reads is
    right in the end: then this is where the mistake shows, and where it is paid for. But a gradient
    that is `rough`, right to a few digits only, is to blame for what nothing else explains.
    """
    outcomes = {verdict.name: verdict.outcome for verdict in verdicts}
    items = {item.name: item for item in evidence}
    handed = {
        item.name: [f"d{tensor}" for tensor in sorted(item.reads | item.channels)]
        for item in evidence
    }

    def origins(name: str, seen: set[str]) -> Iterator[str]:
        for other in handed.get(name, ()):
            is_right = other not in rough and outcomes.get(other, Outcome.PASS) is Outcome.PASS
            if other in seen or is_right:
                continue
            seen.add(other)
            if outcomes[other] is Outcome.CARRIED:
                yield from origins(other, seen)
            else:
                yield other

    began, judged = set[str](), list[Verdict]()
    for verdict in verdicts:
        if verdict.outcome is Outcome.CARRIED:
            names = sorted(origins(verdict.name, {verdict.name}))
            names = [name for name in names if name not in rough] or names
            began.update(names)
            if names:
                missing = all(outcomes[name] is Outcome.TODO for name in names)
                verdict = replace(verdict, note=carried(names, missing))
            else:
                verdict = _begins_here(items[verdict.name], verdict, references)
                outcomes[verdict.name] = verdict.outcome
        judged.append(verdict)
    for verdict in judged:
        is_origin = verdict.name in rough & began
        yield replace(verdict, outcome=Outcome.FAIL) if is_origin else verdict


def _begins_here(item: GradientEvidence, verdict: Verdict, references: References) -> Verdict:
    """The verdict on a line that is right by itself, where no other is to blame for its value."""
    if verdict.global_check is Check.RIGHT:
        return replace(verdict, outcome=Outcome.FAIL, note=ONLY_ON_OTHER_SIZES)
    for value in item.hidden:
        if value.raised is not None:
            # A statement of the same block, though not one of its own, kept it from running.
            place = value.raised.place or verdict.place
            note = with_sizes_met(value.raised.message, references)
            return replace(verdict, outcome=Outcome.ERROR, note=note, place=place)
        if value.is_placeholder:
            note = f"{verdict.name} is not assigned."
            return replace(verdict, outcome=Outcome.ERROR, note=note)
    if is_rough(item, references, FLOAT64_NOISE):
        return replace(verdict, outcome=Outcome.FAIL, note=ALMOST)
    return replace(verdict, outcome=Outcome.FAIL, note=AT_THE_WRONG_TIME)
