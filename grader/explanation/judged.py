"""Which gradients of a backward pass are judged, and where it returns them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from grader.answer.parse import AnswerCell
from grader.answer.quote import quote
from grader.explanation.backward import Backward, Key, shown_parts
from grader.explanation.forward import Forward
from grader.explanation.subject import Raised, Subject
from grader.program.compare import agrees, compare
from grader.user_error import BadInput
from grader.verdict import Outcome, Place, Reason, Verdict, because


def returned_gradients(subject: Subject, forward: Forward, returned: Any) -> dict[Key, str]:
    """The gradients that are returned, by where they are in what is returned.

    Args:
        subject: the backward function.
        forward: its forward pass.
        returned: what came back from a call; None if it raised.

    Raises:
        BadInput: it returns more or fewer, or something else.
    """
    source = subject.source
    if not any(one.value is not None for one in source.returns):
        return {}
    at = source.at(source.returns[-1].lineno)
    match returned:
        case None:
            keys = [key for key, _ in shown_parts(source.returns[-1].value)]
        case dict():
            keys = [*returned]
        case tuple() | list():
            keys = [*range(len(returned))]
        case _:
            keys = [None]
    takes, smooth = subject.takes(forward), forward.smooth
    parts = {
        key: returned if key is None else returned[key] for key in keys if returned is not None
    }

    if any(isinstance(key, str) for key in keys):
        names = {**{name: name for name in takes[0]}, **{f"d{name}": name for name in smooth}}
        unknown = [key for key in keys if key not in names]
        if unknown:
            raise BadInput(
                f"{at}, returns {unknown[0]!r}; the gradients that it may return are"
                f" {', '.join(f'd{name}' for name in smooth)}."
            )
        tensors = [names[str(key)] for key in keys]
    else:
        if keys == [None] and returned is None and len(takes[0]) > 1:
            # It raised, and its text does not show what it would have returned.
            keys = [*range(len(takes[0]))]
        while len(takes) == 1 and len(keys) > len(takes[0]) and parts.get(keys[-1], 0) is None:
            keys.pop()  # PyTorch, too, takes no notice of it
        tensors = next((several for several in takes if len(several) == len(keys)), [])
    if not tensors:
        count = f"{len(keys)} gradient{'s' * (len(keys) != 1)}"
        raise BadInput(
            f"{at}, returns {count}; {forward.program.name} has"
            f" {len(takes[-1])} input{'s' * (len(takes[-1]) != 1)}, {', '.join(takes[-1])}."
        )
    return {
        key: f"d{name}"
        for key, name in zip(keys, tensors, strict=True)
        if name in smooth and (name in forward.needing or parts.get(key, 0) is not None)
    }


def by_tensor(returned: Mapping[Key, str], result: Any) -> dict[str, Any]:
    """What was returned, by the tensors whose gradients it should be."""
    return {
        gradient[1:]: result if key is None else result[key] for key, gradient in returned.items()
    }


def summed_by_pytorch(
    verdict: Verdict, found: Sequence[Mapping[str, Any]], right: Sequence[Mapping[str, Tensor]]
) -> Verdict:
    """A pass for a gradient of another shape, if PyTorch makes the right one of it.

    It sums what a Function returns along the axes that its input was copied along.

    Args:
        verdict: of one of a Function's gradients.
        found: what it returned, by tensor, on several instances.
        right: autograd's gradients on these; the last instance is the one shown.
    """
    name = verdict.name[1:]
    if verdict.outcome is not Outcome.FAIL or not found or name not in found[0]:
        return verdict
    try:
        sums = [one[name].sum_to_size(of[name].shape) for one, of in zip(found, right, strict=True)]
    except (AttributeError, RuntimeError):
        return verdict
    if not all(agrees(one, of[name]) for one, of in zip(sums, right, strict=True)):
        return verdict
    shapes = str(tuple(found[-1][name].shape)), str(tuple(sums[-1].shape))
    return replace(
        verdict,
        outcome=Outcome.PASS,
        comparison=compare(verdict.name, sums[-1], right[-1][name]),
        reasons=(because("summed-by-pytorch", shape=shapes[0], expected=shapes[1]),),
        diagnosis=(),
    )


def of_other_shape(
    answer: AnswerCell, given: Mapping[str, Any], forward: Mapping[str, Any]
) -> set[str]:
    """The names of gradients under which statements leave a tensor of another shape.

    `given` is what the names in them mean, `forward` the values of the forward pass.
    """
    names = dict(given)
    with suppress(Exception), torch.no_grad():
        exec(compile(answer.source, answer.grade_id, "exec"), names)
    pairs = ((f"d{name}", value) for name, value in forward.items() if isinstance(value, Tensor))
    return {
        gradient
        for gradient, value in pairs
        if isinstance(names.get(gradient), Tensor) and names[gradient].shape != value.shape
    }


def without_helpers(
    verdicts: Sequence[Verdict], source: Backward, asked: Set[str]
) -> list[Verdict]:
    """The verdicts, if those asked for are right without the wrong ones that these are made of.

    A name such as `dwarm` is its author's to choose: what gives right gradients in the end is a
    helper, and no wrong gradient of `warm`.
    """
    if any(one.name in asked and one.outcome is not Outcome.PASS for one in verdicts):
        return [*verdicts]
    found, helpers = list[Verdict](), list[str]()
    for verdict in verdicts:
        if verdict.outcome is not Outcome.PASS and verdict.name in source.read:
            helpers.append(verdict.name)
        elif helpers and verdict.name in asked:
            said = (because("helper", gradient=name, tensor=name[1:]) for name in helpers)
            found.append(replace(verdict, reasons=tuple(said)))
            helpers = []
        else:
            found.append(verdict)
    return found


def as_returned(
    verdict: Verdict, source: Backward, inputs: Set[str], owed: Set[str], returned: Collection[str]
) -> Verdict:
    """The verdict with what is said beside it.

    The last three are the gradients of all inputs, those that a caller needs and those that it
    gets: what is right may not be returned, or nothing is. And the line that raised may read a
    tensor that is not given.
    """
    name, outcome, said = verdict.name, verdict.outcome, list[Reason]()
    vague = (because("not-its-gradient", tensor=name[1:]),)
    if source.is_call and outcome is Outcome.FAIL and verdict.why != "shape":
        return replace(verdict, reasons=vague, diagnosis=(), piece=None)
    if verdict.why == "not-the-gradient":
        return replace(verdict, reasons=vague)
    if outcome is Outcome.PASS and name in inputs - {*returned} and not source.is_cell:
        said = [because("not-returned")]
        outcome = Outcome.TODO if name in owed and returned else outcome
    elif outcome is Outcome.TODO and name in owed:
        what = "`None`" if name in returned else "nothing"
        said = [because("returned-nothing", tensor=name[1:], what=what)]
    elif outcome is Outcome.ERROR and verdict.place:
        said = [
            because("from-outside", name=other, function=source.definition.name)
            for other, lines in source.mentioned.items()
            if verdict.place.line in lines and isinstance(source.scope.get(other), Tensor)
        ]
    return replace(verdict, outcome=outcome, reasons=(*verdict.reasons, *said))


def without_result(verdict: Verdict, source: Backward, raised: Raised) -> Verdict:
    """The verdict on a right gradient that some caller does not get."""
    place = Place(source.file, raised.line)
    code = quote(place, [AnswerCell(source.file, source.text)], {})
    why = (because("stopped", message=raised.message),)
    outcome = Outcome.FAIL if raised.is_value else Outcome.ERROR
    return replace(verdict, outcome=outcome, place=place, code=code, reasons=why)
