"""Reasons: what a student is told of a gradient that is not simply right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from torch import Tensor

from grader.catalogue import hint
from grader.comparison import Comparison
from grader.evidence import GradientEvidence
from grader.kinds import Kind
from grader.references import Reference
from grader.verdict import Check, Diagnosis, Outcome, Place, Verdict

TRUE_ZERO = (
    "The value matches only because the true gradient here is zero: given another"
    " upstream gradient, this line computes something else than the chain rule."
)
STEP_BY_STEP = "Right, by another way than step by step."
BATCH_OF_OTHER_SIZES = "It works on sizes like the lecture's, not on others"
WRITTEN_IN = "Is a number or a position of this batch written into the line?"


ONLY_ON_OTHER_SIZES = "It is right on batches of other sizes, but not on one like the lecture's."
AT_THE_WRONG_TIME = (
    "This line is right by itself, and so is what it reads, in the end: is something used before"
    " it is complete, or changed later under another name?"
)
NOT_ALONE = "The value is right; its own lines could not be run by themselves."


def why_it_fails(comparison: Comparison, whole: str, local: str) -> str:
    """What can be said of a wrong gradient without knowing the mistake.

    Args:
        comparison: with autograd at the lecture's sizes.
        whole: what is wrong with the value of the whole answer, if there is a sentence.
        local: what is wrong with that of the gradient's own statements.
    """
    if comparison.approximate:
        return f"{BATCH_OF_OTHER_SIZES}. {whole or WRITTEN_IN}"
    # The local sentence is about this line; the whole answer's may be about an earlier one.
    return local or says_nothing_else(comparison.name)


def says_nothing_else(gradient: str) -> str:
    """What is said of a wrong gradient where nothing more is known."""
    return f"This is not the gradient of the loss with respect to {gradient.removeprefix('d')}."


def aliased(item: GradientEvidence, place: Place | None) -> Diagnosis:
    """The diagnosis of a gradient that is right until another's line changes it."""
    others = " and ".join(f"`d{other}`" for other in sorted(item.channels))
    line = "a later line" if place is None else f"line {place.line} of {place.cell}"
    message = (
        f"`{item.name}` is right when it is assigned; {line} changes it through {others}, which"
        " stands for the same tensor."
    )
    return Diagnosis(Kind.ALIASED, message, hint(Kind.ALIASED, item.name))


def lecture_lengths(reference: Reference, lecture: Mapping[str, Tensor]) -> dict[int, int]:
    """For each length of a hidden instance's axes, the lecture's: (7, 11) is (32, 27) there.

    All sizes of an instance differ, so that a length says which size it is.
    """
    return {
        hidden: at_lecture
        for name, gradient in reference.gradients.items()
        if name in lecture
        for hidden, at_lecture in zip(gradient.shape, lecture[name].shape, strict=True)
    }


def settle_carried(
    evidence: Sequence[GradientEvidence], verdicts: Sequence[Verdict]
) -> Iterator[Verdict]:
    """Name, for each `carried`, the gradients with which it began.

    Where it began with none, the line is right and its value is not, although all it reads is
    right in the end: then this is where the mistake shows, and where it is paid for.
    """
    outcomes = {verdict.name: verdict.outcome for verdict in verdicts}
    items = {item.name: item for item in evidence}
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
            names = sorted(origins(verdict.name, {verdict.name}))
            if names:
                missing = all(outcomes[name] is Outcome.TODO for name in names)
                verdict = replace(verdict, note=_carried(names, missing))
            else:
                verdict = _begins_here(items[verdict.name], verdict)
                outcomes[verdict.name] = verdict.outcome
        yield verdict


def _begins_here(item: GradientEvidence, verdict: Verdict) -> Verdict:
    """The verdict on a line that is right by itself, where no other is to blame for its value."""
    if verdict.global_check is Check.RIGHT:
        return replace(verdict, outcome=Outcome.FAIL, note=ONLY_ON_OTHER_SIZES)
    for value in item.hidden:
        if value.raised is not None:
            # A statement of the same block, though not one of its own, kept it from running.
            place = value.raised.place or verdict.place
            note = value.raised.message
            return replace(verdict, outcome=Outcome.ERROR, note=note, place=place)
        if value.is_placeholder:
            note = f"{verdict.name} is not assigned."
            return replace(verdict, outcome=Outcome.ERROR, note=note)
    return replace(verdict, outcome=Outcome.FAIL, note=AT_THE_WRONG_TIME)


def _carried(names: Sequence[str], missing: bool) -> str:
    listed = " and ".join(names)
    if missing:
        return f"Right by itself; it waits for {listed}, still to be written."
    return f"Right by itself; what it was handed is not: see {listed}."
