"""The judge: compare evidence with references, and give verdicts."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence, Set
from dataclasses import replace

from grader.answer.statements import COMPOUND, walk_names, walk_statements
from grader.execution.evidence import Observed, furthest
from grader.grading.one_gradient import (
    carried,
    examine,
    find_unusable,
    is_rough,
    of_other_dtype,
)
from grader.grading.reasons import Reasons, with_sizes_met
from grader.program.compare import FLOAT64_NOISE
from grader.program.references import References
from grader.verdict import AT_FAULT, Check, Outcome, Verdict, because

OF_DTYPES = re.compile(r"dtype|scalar type|Double|Float")
"""These words, in PyTorch's exceptions, say that two tensors differ in dtype."""


def judge(evidence: Sequence[Observed], references: References) -> list[Verdict]:
    """Give a verdict on each gradient, by the table in the design.

    Each gradient is first judged by itself. Then, from the loss down, it is judged together with
    those above it: a right line whose upstream gradient is wrong is carried.

    Args:
        evidence: what the student's statements did, one entry for each gradient asked for.
        references: autograd's gradients, on the hidden instances and on the lecture's.
    """
    vjps = references.local_vjps
    own = ((item.name, item.local, vjps(item.name[1:], item.reads)) for item in evidence)
    far = furthest(own, references)
    alone = {name for name, apart in far.items() if apart <= FLOAT64_NOISE}
    judge = _Judge(evidence, references, alone)
    order = references.program.names
    # Not in the order of the exercise: verdicts further up count for those below.
    for name in sorted(judge.items, key=lambda name: -order.index(name[1:])):
        judge.verdicts[name] = judge.settle(name)
    return [judge.verdicts[item.name] for item in evidence]


class _Judge:
    """The verdicts on an answer's gradients, first by themselves, and then settled one by one.

    `outcomes` are the outcomes that count for other gradients. The gradients `at_fault` are wrong
    by themselves. Those in `rough` are right to a few digits only, those in `stuck` are right but
    raise an exception or give NaN on the lecture's batch, and those in `useless` have no value
    there.
    """

    def __init__(
        self, evidence: Sequence[Observed], references: References, alone: Set[str]
    ) -> None:
        self.items = {item.name: item for item in evidence}
        self.references = references
        self.verdicts = {g: examine(item, references, g in alone) for g, item in self.items.items()}
        self.outcomes = {name: verdict.outcome for name, verdict in self.verdicts.items()}
        for name, verdict in self.verdicts.items():
            channels = (f"d{other}" for other in self.items[name].channels)
            if verdict.diagnosis and any(self.outcomes.get(one) in AT_FAULT for one in channels):
                # The gradient whose memory is wrong by itself pays for the mistake.
                self.verdicts[name] = carried(replace(verdict, diagnosis=()))
                self.outcomes[name] = Outcome.CARRIED
        self.stopped = dict[str, frozenset[str]]()  # what keeps a right line from running
        found = [*self.verdicts.values()]
        self.at_fault = {one.name for one in found if one.outcome in AT_FAULT}
        self.rough = {one.name for one in found if one.why == "almost"}
        self.stuck = {
            one.name
            for one in found
            if one.outcome is Outcome.ERROR and one.global_check is Check.RIGHT
        }
        lecture = {name: item.lecture for name, item in self.items.items() if self.stuck}
        self.useless = {name for name, value in lecture.items() if find_unusable(name, value)}
        dtype = references.lecture.dtype
        # Hidden instances are float64, the lecture's is float32, and some operations mix the two.
        self.wide = {
            name: value.tensor.dtype
            for name, value in lecture.items()
            if value.tensor is not None
            if value.tensor.is_floating_point() and value.tensor.dtype is not dtype
        }

    def settle(self, name: str) -> Verdict:
        """Settle the verdict on a gradient, given the verdicts on those above it."""
        item, verdict = self.items[name], self.verdicts[name]
        if verdict.outcome is Outcome.CARRIED:
            return self._carried(item, verdict)
        if name in self.stuck and verdict.local_check is Check.RIGHT:
            return self._at_lecture(verdict)
        handed = sorted(_handed(item) & self.items.keys())
        if verdict.why in ("another-way", "only-these-gradients") and (
            bad := [one for one in handed if self.verdicts[one].outcome is not Outcome.PASS]
        ):
            # Usually two mistakes cancel here, or a gradient is read for its shape only.
            return replace(verdict, reasons=(because("right-although", gradients=tuple(bad)),))
        return verdict

    def _carried(self, item: Observed, verdict: Verdict) -> Verdict:
        """The verdict on a right line with a wrong value, with the gradients that caused it.

        If no gradient caused it, all that the line reads is right in the end. Then the mistake
        shows here and is paid for here, unless a gradient that is right to a few digits only can
        explain it.
        """
        names = self._began_with(verdict)
        for rough in self.rough & {*names}:
            self.verdicts[rough] = replace(self.verdicts[rough], outcome=Outcome.FAIL)
            self.outcomes[rough] = Outcome.FAIL
        if names:
            missing = all(self.outcomes[one] is Outcome.TODO for one in names)
            code = because("waiting" if missing else "carried", gradients=tuple(names))
            return carried(verdict, (code,))
        if stopped := self._stopped_by(item):
            self.stopped[item.name] = frozenset(stopped)
            return carried(verdict, (because("kept-from-running", gradients=tuple(stopped)),))
        verdict = _begins_here(item, verdict, self.references)
        self.outcomes[verdict.name] = verdict.outcome
        return verdict

    def _began_with(self, verdict: Verdict) -> list[str]:
        outcomes = self.outcomes

        def causes(name: str) -> set[str]:
            """The upstream gradients of a carried gradient that are not right."""
            if outcomes[name] is not Outcome.CARRIED:
                return set()
            wrong = {other for other, outcome in outcomes.items() if outcome is not Outcome.PASS}
            handed = _handed(self.items[name]) & (wrong | self.rough)
            return handed | self.stopped.get(name, frozenset())

        above = _above(verdict.name, causes)
        # From the loss down, so that the causes of a carried gradient are already known.
        names = [n for n in outcomes if n in above and outcomes[n] is not Outcome.CARRIED]
        names = [name for name in names if name not in self.rough] or names
        if names or verdict.global_check is not Check.RIGHT:
            return names
        # Rounded away in float32, because the error above is larger than the right value here.
        above = self.at_fault & _above(
            verdict.name, lambda one: _handed(self.items[one]) & self.items.keys()
        )
        return [
            n for n in outcomes if n in above and self.verdicts[n].global_check is not Check.RIGHT
        ]

    def _stopped_by(self, item: Observed) -> list[str]:
        """The gradients at fault that share a block with one, and keep it from being made."""
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

        def stops_it(other: Observed) -> bool:
            if self.verdicts[other.name].place in places:
                return True
            # An exception that the block catches has no place.
            may_raise = other.name in read or not raising
            return may_raise and max(other.keep, default=-1) < max(item.keep, default=-1)

        at_fault = (one for name, one in self.items.items() if name in self.at_fault)
        near = (one for one in at_fault if not blocks.isdisjoint(one.code))
        return [other.name for other in near if is_stopped and stops_it(other)]

    def _at_lecture(self, verdict: Verdict) -> Verdict:
        """The verdict on a right line that has no value on the lecture's batch.

        Of several such lines only the first pays. If one of them brought in a dtype that raises an
        exception further down, that one is to blame.
        """
        bad_lines = {name for name, outcome in self.outcomes.items() if outcome in AT_FAULT}
        handed_on = {name for name, outcome in self.outcomes.items() if outcome is Outcome.CARRIED}

        def causes(name: str) -> set[str]:
            """The gradients that it reads and that keep it from being right."""
            if name in handed_on & self.useless:  # what it was handed was NaN already
                return _handed(self.items[name]) & self.useless & (bad_lines | handed_on)
            if name not in self.stuck and name not in self.wide:
                return set()
            raised = self.items[name].lecture.raised
            mixes = name in self.stuck and raised is not None and OF_DTYPES.search(raised.words)
            bad = bad_lines | self.wide.keys() if name in self.wide or mixes else bad_lines
            is_useless = name in self.stuck and raised is None
            return _handed(self.items[name]) & (
                (bad | handed_on) & self.useless if is_useless else bad
            )

        first = {one for one in _above(verdict.name, causes) if not causes(one)}
        for name in first & self.wide.keys():
            if (one := self.verdicts[name]).outcome is Outcome.PASS:
                why = of_other_dtype(name, self.wide[name], self.references.lecture.dtype)
                self.verdicts[name] = replace(
                    one, outcome=Outcome.FAIL, reasons=(), diagnosis=(why,)
                )
        names = tuple(name for name in self.items if name in first)
        return carried(verdict, (because("carried", gradients=names),)) if names else verdict


def _begins_here(item: Observed, verdict: Verdict, references: References) -> Verdict:
    """The verdict on a line that is right by itself, if no other one is to blame for its value."""
    why: Reasons
    outcome, place = Outcome.ERROR, verdict.place
    stopped = next((v for v in item.hidden if v.raised is not None or v.is_placeholder), None)
    if verdict.global_check is Check.RIGHT:
        outcome, why = Outcome.FAIL, (because("only-on-other-sizes"),)
    elif stopped and stopped.raised:
        # Another statement of the same block kept it from running.
        why = with_sizes_met(stopped.raised.reasons, references)
        place = stopped.raised.place or place
    elif stopped:
        why = (because("not-assigned", gradient=verdict.name),)
    else:
        code = because("almost" if is_rough(item, references) else "at-the-wrong-time")
        outcome, why = Outcome.FAIL, (code,)
    return replace(verdict, outcome=outcome, reasons=why, place=place)


def _handed(item: Observed) -> set[str]:
    """The other gradients from which one is made."""
    return {f"d{tensor}" for tensor in item.reads | item.channels} - {item.name}


def _above(name: str, causes: Callable[[str], Set[str]]) -> set[str]:
    """The causes of a wrong gradient, their causes, and so on."""
    seen, pending = {name}, [name]
    while pending:
        before = causes(pending.pop()) - seen
        seen |= before
        pending += before
    return seen - {name}
