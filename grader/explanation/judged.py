"""Which gradients of a backward pass are judged, and where it returns them."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any

from torch import Tensor

from grader.answer.parse import AnswerCell
from grader.answer.quote import quote
from grader.explanation.backward import Backward, Key, shown_parts
from grader.explanation.forward import Forward
from grader.explanation.subject import Raised
from grader.program.instances import Instance
from grader.user_error import BadInput
from grader.verdict import Outcome, Place, Reason, Verdict, because


def returned_gradients(
    source: Backward, forward: Forward, tried: Instance, returned: Any
) -> dict[Key, str]:
    """The gradients that are returned, by where they are in what is returned.

    Args:
        source: the backward function.
        forward: its forward pass.
        tried: an instance of that.
        returned: what came back from a call; None if it raised.

    Raises:
        BadInput: it returns more or fewer, or something else.
    """
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
    inputs, smooth = [*forward.program.annotations], forward.smooth(tried)
    wanted = [name for name in inputs if name in smooth]
    if keys == [None] and returned is None and len(wanted) > 1:
        # It raised, and its text does not show what it would have returned.
        keys = [*range(len(wanted))]
    if any(isinstance(key, str) for key in keys):
        names = {**{name: name for name in inputs}, **{f"d{name}": name for name in smooth}}
        unknown = [key for key in keys if key not in names]
        if unknown:
            raise BadInput(
                f"{at}, returns {unknown[0]!r}; the gradients that it may return are"
                f" {', '.join(f'd{name}' for name in smooth)}."
            )
        pairs = {key: names[str(key)] for key in keys}
        return {key: f"d{name}" for key, name in pairs.items() if name in smooth}
    for several in (inputs, wanted):
        if len(keys) == len(several):
            found = zip(keys, several, strict=True)
            return {key: f"d{name}" for key, name in found if name in wanted}
    raise BadInput(
        f"{at}, returns {len(keys)} gradient{'s' * (len(keys) != 1)}; {forward.program.name} has"
        f" {len(inputs)} input{'s' * (len(inputs) != 1)}, {', '.join(inputs)}."
    )


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


def remarks(source: Backward, verdict: Verdict, kept: Set[str]) -> tuple[Reason, ...]:
    """What is said beside a verdict.

    That a gradient is right and not returned, one of those that are `kept`; or of a tensor that is
    not given, and is read by the line that raised.
    """
    if verdict.outcome is Outcome.PASS:
        return (because("not-returned"),) if verdict.name in kept else ()
    line = verdict.place.line if verdict.outcome is Outcome.ERROR and verdict.place else None
    return tuple(
        because("from-outside", name=name, function=source.definition.name)
        for name, lines in source.mentioned.items()
        if line in lines and isinstance(source.scope.get(name), Tensor)
    )


def without_result(verdict: Verdict, source: Backward, raised: Raised) -> Verdict:
    """The verdict on a right gradient that no caller gets, because another line raises."""
    place = Place(source.file, raised.line)
    code = quote(place, [AnswerCell(source.file, source.text)], {})
    why = (because("stopped", message=raised.message),)
    return replace(verdict, outcome=Outcome.ERROR, place=place, code=code, reasons=why)
