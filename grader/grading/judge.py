"""The judge: evidence beside references gives verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from grader.execution.evidence import GradientEvidence, Value, furthest
from grader.grading.at_lecture import judge_at_lecture
from grader.grading.imprecision import is_rough
from grader.grading.one_gradient import check_locally, judge_gradient
from grader.grading.reasons import (
    ALMOST,
    AT_THE_WRONG_TIME,
    ONLY_ON_OTHER_SIZES,
    RAISES_ON_THE_WAY,
    aliased,
    carried,
    with_sizes_met,
)
from grader.program.compare import FLOAT64_NOISE
from grader.program.references import References
from grader.verdict import Check, Outcome, Verdict

_AT_FAULT = (Outcome.FAIL, Outcome.ERROR)

Outcomes = Mapping[str, Outcome]
"""The outcome of each gradient, so far."""


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
    verdicts = [judge_gradient(item, references, item.name in local) for item in evidence]
    rough = {
        item.name
        for item, verdict in zip(evidence, verdicts, strict=True)
        if (verdict.outcome, verdict.note) == (Outcome.PASS, "")
        and item.name not in local
        and is_rough(item, references, FLOAT64_NOISE)
    }
    verdicts = [replace(v, note=ALMOST) if v.name in rough else v for v in verdicts]
    for look in (_note_exception, _judge_shared_memory, _judge_siblings):
        outcomes = {verdict.name: verdict.outcome for verdict in verdicts}
        pairs = zip(evidence, verdicts, strict=True)
        verdicts = [look(item, verdict, outcomes, references) for item, verdict in pairs]
    verdicts = list(_judge_carried(evidence, verdicts, references, rough))
    return list(judge_at_lecture(evidence, verdicts, references))


def _note_exception(
    item: GradientEvidence, verdict: Verdict, outcomes: Outcomes, references: References
) -> Verdict:
    """The verdict; on a right value with what a line that it needs raised, wherever it ran.

    In the notebook, the cell does not get further than that line.
    """
    raised = [value.on_the_way for value in (item.lecture, *item.hidden)]
    if verdict.outcome is Outcome.PASS and raised[0] and all(raised):
        return replace(verdict, note=RAISES_ON_THE_WAY.format(raised[0].message))
    return verdict


def _judge_shared_memory(
    item: GradientEvidence, verdict: Verdict, outcomes: Outcomes, references: References
) -> Verdict:
    """Tell a wrong line from a right one whose memory another gradient's line changes later.

    Where that other gradient is wrong by itself, the mistake is paid for there.
    """
    if verdict.outcome not in _AT_FAULT or not _is_right(item, item.as_assigned, references):
        return verdict
    if any(outcomes.get(f"d{other}") in _AT_FAULT for other in item.channels):
        return replace(verdict, outcome=Outcome.CARRIED, local_check=Check.RIGHT)
    return replace(verdict, note="", diagnosis=(aliased(item, verdict.place),))


def _judge_siblings(
    item: GradientEvidence, verdict: Verdict, outcomes: Outcomes, references: References
) -> Verdict:
    """Tell a wrong line from a right one that uses another gradient's wrong or missing result."""
    excused = (*_AT_FAULT, Outcome.TODO)
    if (
        verdict.outcome in _AT_FAULT
        and verdict.global_check is not Check.RIGHT
        and any(outcomes.get(f"d{other}") in excused for other in item.siblings)
        and _is_right(item, item.beside, references)
    ):
        return replace(verdict, outcome=Outcome.CARRIED, local_check=Check.RIGHT)
    return verdict


def _is_right(
    item: GradientEvidence, values: Sequence[Value] | None, references: References
) -> bool:
    """True if these values were seen and are right."""
    return values is not None and check_locally(item, values, references).check is Check.RIGHT


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

    began, judged = set[str](), dict[str, Verdict]()
    order = references.program.names
    # From the loss down, in whatever order they are asked for: what is settled above counts below.
    for verdict in sorted(verdicts, key=lambda one: -order.index(one.name[1:])):
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
        judged[verdict.name] = verdict
    for verdict in (judged[one.name] for one in verdicts):
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
