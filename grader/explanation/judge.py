"""Judges the gradients of a backward pass that has been read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from grader.answer.parse import AnswerCell
from grader.execution.own_process import OwnProcess
from grader.explanation.explanation import Explanation
from grader.explanation.forward import Forward
from grader.explanation.judged import (
    as_returned,
    by_tensor,
    of_other_shape,
    returned_gradients,
    summed_by_pytorch,
    without_helpers,
    without_result,
)
from grader.explanation.subject import CustomFunction, Subject, call
from grader.explanation.trials import find_trouble
from grader.grading.grade import grade_answer
from grader.program.exercises import Exercise
from grader.program.references import SEED
from grader.user_error import BadInput
from grader.verdict import Outcome, Report
from grader.worker.engine import double_precision, one_thread
from grader.worker.terms import DYNAMIC_NAMES

SAYS_FLOAT = re.compile(r"\bfloat(32)?\b|\bFloatTensor\b|\bdouble\b")
"""Code that asks for a precision by name."""


def explain_subject(forward: Forward, subject: Subject, seed: int = SEED) -> Explanation:
    """Say of each gradient in a backward pass what there is to say."""
    with _in_double(forward, subject), one_thread():
        return _explain(forward, subject, seed)


@contextmanager
def _in_double(read: Forward, subject: Subject) -> Iterator[None]:
    """Have both functions make float64, even where they ask for another precision by name."""
    texts = subject.source.text, *(step.line for step in read.program.steps)
    says_float = any(map(SAYS_FLOAT.search, texts))
    with double_precision() if says_float else _double_by_default():
        yield


@contextmanager
def _double_by_default() -> Iterator[None]:
    """Make new tensors float64 unless they are asked for otherwise."""
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(default)


def _explain(forward: Forward, subject: Subject, seed: int) -> Explanation:
    source, forward = subject.source, forward.tried_out()
    arriving = subject.arriving(forward)
    if taken := {*forward.program.names} & {*arriving.values()}:
        raise BadInput(f"{forward.at}: {min(taken)} is the name of the gradient that arrives.")
    is_loss = subject.is_loss(forward)
    references = forward.references(arriving, is_loss, seed)
    instances = {f"hidden{n}": one.instance for n, one in enumerate(references.hidden)}
    instances["lecture"] = references.lecture
    beside = {group: subject.arguments(forward, one) for group, one in instances.items()}
    calls = [call(subject, arguments) for arguments in beside.values()]
    raised = next((error for _, error in calls if error), None)
    result = None if raised else calls[-1][0]
    returned = returned_gradients(subject, forward, result)
    written = {*returned.values(), *source.assigned} - {*arriving.values()}
    written -= {f"d{name}" for name in forward.returned}
    inputs, owed = ({f"d{n}" for n in names} for names in (forward.program.inputs, forward.needing))
    is_whole = inputs.issuperset(returned.values()) and not inputs.isdisjoint(written)
    is_whole &= not source.is_cell
    # Who returns the gradients of steps, too, has picked some.
    written |= owed if is_whole else set()
    answer, wanted = source.answer(returned), {*returned.values()} or inputs
    if not wanted.isdisjoint(written):
        # A name such as `ddice` is its author's to choose: of another shape, it is a helper.
        given = {**source.scope, **beside["lecture"]}
        written -= of_other_shape(answer, given, references.lecture.values) - wanted
    # In the order in which they are written; those that are only returned come last.
    asked = (f"d{name}" for name in forward.smooth if f"d{name}" in written)
    gradients = tuple(sorted(asked, key=source.place))
    if not gradients:
        raise BadInput(
            f"{source.at(source.definition.lineno)}, neither returns nor assigns a gradient of"
            f" {forward.program.name}."
        )
    forward.check_numbers(references, (gradient[1:] for gradient in gradients))
    # These it has to ask for, or to bind itself. Other names an edit may try.
    looks_up = not DYNAMIC_NAMES.isdisjoint(source.mentioned)
    known = {*forward.program.names, *references.lecture.sizes} - source.parameters.keys()
    own = {name for name in known if looks_up or name in source.mentioned}
    exercise = Exercise(
        prefix="",
        notebook=subject.name,
        forward=forward.function,
        gradients=gradients,
        sizes=references.lecture.sizes,
    )
    verdicts, flags = grade_answer(
        exercise,
        [answer],
        [AnswerCell(source.file, source.text)],
        references,
        OwnProcess(source.scope, beside, own),
        may_differentiate=True,
    )
    if not wanted.isdisjoint(gradients):
        verdicts = without_helpers(verdicts, source, wanted)
    if returned and not raised:
        found = [by_tensor(returned, one) for one, _ in calls]
        if isinstance(subject, CustomFunction):
            right = *(one.gradients for one in references.hidden), references.lecture_gradients
            verdicts = [summed_by_pytorch(verdict, found, right) for verdict in verdicts]
    about = source, inputs, owed if is_whole else set(), returned.values()
    verdicts = [as_returned(verdict, *about) for verdict in verdicts]
    if all(verdict.outcome is Outcome.PASS for verdict in verdicts):
        # Its caller may get none of them all the same.
        names = {verdict.name[1:] for verdict in verdicts}
        if not raised and returned:
            trouble = find_trouble(subject, forward, references, returned, result)
            names, raised = ({trouble[0]}, trouble[1]) if trouble else (names, None)
        if raised:
            verdicts = [
                without_result(one, source, raised) if one.name[1:] in names else one
                for one in verdicts
            ]
    report = Report(
        subject.name, tuple(verdicts), tuple(flags), Path(source.file), "right by themselves"
    )
    return Explanation(forward.program if is_loss else references.program, report)
