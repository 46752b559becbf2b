"""The judge: evidence beside references gives verdicts."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from torch import Tensor

from grader.answer.statements import COMPOUND, walk_names, walk_statements
from grader.execution.evidence import GradientEvidence, Value, furthest
from grader.grading.one_gradient import (
    check_locally,
    find_unusable,
    hides_mistakes,
    is_rough,
    judge_gradient,
)
from grader.grading.reasons import (
    ALMOST,
    AT_THE_WRONG_TIME,
    KEPT_FROM_RUNNING,
    ONLY_ON_OTHER_SIZES,
    RAISES_ON_THE_WAY,
    STEP_BY_STEP,
    aliased,
    carried,
    of_other_dtype,
    right_although,
    with_sizes_met,
)
from grader.printable import listed
from grader.program.compare import FLOAT64_NOISE
from grader.program.references import References
from grader.verdict import Check, Outcome, Verdict

_AT_FAULT = (Outcome.FAIL, Outcome.ERROR)

OF_DTYPES = re.compile(r"dtype|scalar type|Double|Float")
"""In the words of an exception of PyTorch's: two tensors are not of the same dtype."""

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
        and is_rough(item, references)
    }
    verdicts = [replace(v, note=ALMOST) if v.name in rough else v for v in verdicts]
    for look in (_note_exception, _judge_shared_memory, _judge_among_right):
        outcomes = {verdict.name: verdict.outcome for verdict in verdicts}
        pairs = zip(evidence, verdicts, strict=True)
        verdicts = [look(item, verdict, outcomes, references) for item, verdict in pairs]
    verdicts = list(_judge_carried(evidence, verdicts, references, rough))
    verdicts = list(_judge_at_lecture(evidence, verdicts, references))
    bad = {verdict.name for verdict in verdicts if verdict.outcome is not Outcome.PASS}
    pairs = zip(evidence, verdicts, strict=True)
    return [_note_cancelling(item, verdict, bad) for item, verdict in pairs]


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


def _judge_among_right(
    item: GradientEvidence, verdict: Verdict, outcomes: Outcomes, references: References
) -> Verdict:
    """Tell a wrong line from one that is right as soon as all that it is made from is right.

    Such as a line that counts on what else the student has found out of the same values.
    """
    is_right = verdict.outcome not in _AT_FAULT or verdict.global_check is Check.RIGHT
    if is_right or verdict.diagnosis or item.among_right is None:
        return verdict
    if hides_mistakes(item, references):
        return verdict
    tensor = item.name[1:]
    instances = zip(item.among_right, references.hidden, references.floors(tensor), strict=True)
    if all(value.agrees(one.from_loss(tensor), floor) for value, one, floor in instances):
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

    def causes(name: str) -> set[str]:
        """What is not right of that which a carried gradient was handed."""
        if outcomes[name] is not Outcome.CARRIED:
            return set()
        wrong = {other for other, outcome in outcomes.items() if outcome is not Outcome.PASS}
        return _handed(items[name]) & (wrong | rough)

    at_fault = {verdict.name: verdict for verdict in verdicts if verdict.outcome in _AT_FAULT}
    began, judged = set[str](), dict[str, Verdict]()
    order = references.program.names
    # From the loss down, in whatever order they are asked for: what is settled above counts below.
    for verdict in sorted(verdicts, key=lambda one: -order.index(one.name[1:])):
        if verdict.outcome is Outcome.CARRIED:
            first = _origins(verdict.name, causes)
            named = (name for name in outcomes if name in first)  # from the loss down
            names = [name for name in named if outcomes[name] is not Outcome.CARRIED]
            names = [name for name in names if name not in rough] or names
            if not names and verdict.global_check is Check.RIGHT:
                # Rounded away in float32: what is wrong above is larger than what is right here.
                wrong = _all_above(verdict.name, items) & at_fault.keys()
                spoilt = (n for n in outcomes if n in wrong)
                names = [n for n in spoilt if at_fault[n].global_check is not Check.RIGHT]
            began.update(names)
            if names:
                missing = all(outcomes[name] is Outcome.TODO for name in names)
                verdict = replace(verdict, note=carried(names, missing))
            elif stopped := _stopped_by(items[verdict.name], evidence, at_fault):
                verdict = replace(verdict, note=KEPT_FROM_RUNNING.format(listed(stopped)))
            else:
                verdict = _begins_here(items[verdict.name], verdict, references)
                outcomes[verdict.name] = verdict.outcome
        judged[verdict.name] = verdict
    for verdict in (judged[one.name] for one in verdicts):
        is_origin = verdict.name in rough & began
        yield replace(verdict, outcome=Outcome.FAIL) if is_origin else verdict


def _stopped_by(
    item: GradientEvidence, evidence: Sequence[GradientEvidence], at_fault: Mapping[str, Verdict]
) -> list[str]:
    """The gradients at fault that keep this one from being made: they share a block with it."""
    blocks = {top for top in item.code if isinstance(top, (*COMPOUND, ast.FunctionDef))}
    stops = [value.raised or value.interrupted for value in item.hidden]
    places = {stop.place for stop in stops if stop is not None}
    is_stopped = all(
        stop or value.tensor is None for stop, value in zip(stops, item.hidden, strict=True)
    )
    lines = {place.line for place in places if place is not None}
    simple = (one for one in walk_statements([*blocks]) if not isinstance(one, COMPOUND))
    raising = [s for s in simple if lines & {*range(s.lineno, (s.end_lineno or s.lineno) + 1)}]
    read = {name.id for name in walk_names(*raising)}

    def stops_it(other: GradientEvidence) -> bool:
        if at_fault[other.name].place in places:
            return True
        # An exception that is caught in the block says no place.
        may_raise = other.name in read or not raising
        return may_raise and max(other.keep, default=-1) < max(item.keep, default=-1)

    near = (one for one in evidence if one.name in at_fault and not blocks.isdisjoint(one.code))
    return [other.name for other in near if is_stopped and stops_it(other)]


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
    if is_rough(item, references):
        return replace(verdict, outcome=Outcome.FAIL, note=ALMOST)
    return replace(verdict, outcome=Outcome.FAIL, note=AT_THE_WRONG_TIME)


def _judge_at_lecture(
    evidence: Sequence[GradientEvidence], verdicts: Sequence[Verdict], references: References
) -> Iterator[Verdict]:
    """Have only the first line pay where several raise, or give NaN, on the lecture's batch.

    Hidden instances are float64, the lecture's is float32. Some operations mix the two, some raise:
    then the gradient to blame is the one that brought float64 in.
    """
    items = {item.name: item for item in evidence}
    stuck = {
        verdict.name
        for verdict in verdicts
        if verdict.outcome is Outcome.ERROR and verdict.global_check is Check.RIGHT
    }
    lecture = [(item.name, item.lecture) for item in evidence if stuck]
    useless = {name for name, value in lecture if find_unusable(name, value) is not None}
    at_fault = {v.name for v in verdicts if v.outcome in _AT_FAULT}
    dtype = references.lecture.dtype
    values = ((name, value.tensor) for name, value in lecture)
    wide = {
        name
        for name, value in values
        if isinstance(value, Tensor) and value.is_floating_point() and value.dtype is not dtype
    }

    def causes(name: str) -> set[str]:
        """The gradients that it reads and that keep it from being what it should be."""
        if name not in stuck | wide:
            return set()
        raised = items[name].lecture.raised
        mixes = name in stuck and raised is not None and OF_DTYPES.search(raised.message)
        bad = at_fault | wide if name in wide or mixes else at_fault
        return _handed(items[name]) & (bad & useless if name in stuck and raised is None else bad)

    began = set[str]()
    judged = []
    for verdict in verdicts:
        if verdict.name in stuck and verdict.local_check is Check.RIGHT:
            first = _origins(verdict.name, causes)
            began |= first
            if first:
                note = carried([name for name in items if name in first], missing=False)
                verdict = replace(verdict, outcome=Outcome.CARRIED, note=note)
        judged.append(verdict)
    for verdict in judged:
        value = items[verdict.name].lecture.tensor
        if verdict.name in began & wide and verdict.outcome is Outcome.PASS and value is not None:
            why = (of_other_dtype(verdict.name, value.dtype, dtype),)
            verdict = replace(verdict, outcome=Outcome.FAIL, note="", diagnosis=why)
        yield verdict


def _note_cancelling(item: GradientEvidence, verdict: Verdict, bad: Set[str]) -> Verdict:
    """The verdict; on a right value that was made from a wrong one with a word on that."""
    is_another = verdict.note == STEP_BY_STEP and verdict.local_check is Check.WRONG
    if is_another and (read := _handed(item) & bad):
        return replace(verdict, note=right_although(sorted(read)))
    return verdict


def _handed(item: GradientEvidence) -> set[str]:
    """The other gradients that one is made from."""
    return {f"d{tensor}" for tensor in item.reads | item.channels} - {item.name}


def _all_above(name: str, items: Mapping[str, GradientEvidence]) -> set[str]:
    """The gradients that one is made from, and those that these are made from, up to the loss."""
    found, pending = set[str](), [name]
    while pending:
        before = _handed(items[pending.pop()]) & items.keys() - found
        found |= before
        pending += before
    return found


def _origins(name: str, causes: Callable[[str], Set[str]]) -> set[str]:
    """The gradients with which it began that this one is not right: those without a cause."""
    seen, pending, first = {name}, [name], set[str]()
    while pending:
        one = pending.pop()
        before = causes(one)
        pending += before - seen
        seen |= before
        if not before:
            first.add(one)
    return first - {name}
