"""Say of a hand-written backward pass whether it is right, and why not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from grader.answer.parse import AnswerCell
from grader.execution.own_process import OwnProcess
from grader.explanation.backward import BadInput
from grader.explanation.explanation import Explanation
from grader.explanation.forward import Forward, Inputs
from grader.explanation.judged import (
    check_names,
    remark,
    returned_gradients,
    without_helpers,
)
from grader.explanation.subject import Subject, call, subject_of
from grader.grading.grade import grade_answer
from grader.program.exercises import Exercise
from grader.program.references import SEED
from grader.verdict import Outcome, Report
from grader.worker.engine import double_precision

SAYS_FLOAT = re.compile(r"\bfloat(32)?\b|\bFloatTensor\b|\bdouble\b")
"""Code that asks for a precision by name."""


def explain(
    forward: Callable[..., Any],
    backward: Any,
    *,
    sizes: Mapping[str, int] | None = None,
    inputs: Inputs | None = None,
    seed: int = SEED,
) -> Explanation:
    """Say of each gradient in a backward pass whether it is right, and why not.

    Both run here, in this process, on float64 tensors of several sizes.

    Args:
        forward: straight-line code, a step `name = expression` in each line, its inputs annotated
            with their shapes: `x: Annotated[Tensor, "n, d"]`.
        backward: a function that asks by name for inputs, steps, sizes and `d<name>` of what the
            forward pass returns, and assigns or returns gradients; or a
            `torch.autograd.Function`.
        sizes: sizes to be fixed, such as `{"d": 7}`.
        inputs: draws inputs that the annotations cannot describe; it asks by name for `generator`
            and for sizes, and gives a dictionary of tensors.
        seed: of everything that is drawn.

    Raises:
        ValueError: one of them cannot be used; the message is a sentence with the line.
    """
    read = Forward.of(forward, sizes or {}, inputs)
    subject = subject_of(backward)
    says_float = SAYS_FLOAT.search(subject.source.text) is not None
    with double_precision() if says_float else _double_by_default():
        return _explain(read, subject, seed)


def assert_gradients(
    forward: Callable[..., Any],
    backward: Any,
    *,
    sizes: Mapping[str, int] | None = None,
    inputs: Inputs | None = None,
    seed: int = SEED,
) -> None:
    """Raise an `AssertionError` that says why, unless every gradient is right; see `explain`."""
    __tracebackhide__ = True  # pytest then shows the caller's line, not this one
    explanation = explain(forward, backward, sizes=sizes, inputs=inputs, seed=seed)
    if not explanation.ok:
        wrong = [each for each in explanation.verdicts if each.outcome is not Outcome.PASS]
        # pytest's summary shows the first line alone
        first = ", ".join(f"{verdict.name}: {verdict.outcome}" for verdict in wrong)
        raise AssertionError(f"{first}\n\n{explanation}")


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
    source, tried = subject.source, forward.try_out()
    arriving = subject.arriving(forward, tried)
    if taken := {*forward.program.names} & {*arriving.values()}:
        raise BadInput(f"{forward.at}: {min(taken)} is the name of the gradient that arrives.")
    is_loss = subject.is_loss(forward, tried)
    references = forward.references(arriving, is_loss, seed)
    instances = {f"hidden{n}": one.instance for n, one in enumerate(references.hidden)}
    beside = {
        group: subject.arguments(forward, instance)
        for group, instance in {"lecture": references.lecture, **instances}.items()
    }
    returned = returned_gradients(source, forward, tried, call(subject, beside["lecture"]))
    written = {*returned.values(), *source.assigned} - {*arriving.values()}
    written -= {f"d{name}" for name in forward.returned}
    # In the order in which they are written; those that are only returned come last.
    asked = (f"d{name}" for name in forward.smooth(tried) if f"d{name}" in written)
    gradients = tuple(sorted(asked, key=source.place))
    if not gradients:
        raise BadInput(
            f"{source.at(source.definition.lineno)}, neither returns nor assigns a gradient of"
            f" {forward.program.name}."
        )
    exercise = Exercise(
        prefix="",
        notebook=subject.name,
        forward=forward.function,
        gradients=gradients,
        sizes=references.lecture.sizes,
    )
    verdicts, flags = grade_answer(
        exercise,
        [source.answer(returned)],
        [AnswerCell(source.file, source.text)],
        references,
        OwnProcess(source.scope, beside),
        may_differentiate=True,
    )
    # What a wrong line reads without asking may be the wrong tensor: that is said first.
    wrong = [v.place for v in verdicts if v.outcome is not Outcome.PASS and v.place]
    check_names(source, {**tried.values, **tried.sizes}, {place.line for place in wrong})
    wanted = {*returned.values()} or {f"d{name}" for name in forward.program.inputs}
    if not wanted.isdisjoint(gradients):
        verdicts = without_helpers(verdicts, source, wanted)
    kept = {f"d{name}" for name in forward.program.inputs} - {*returned.values()}
    verdicts = [replace(v, note=f"{v.note} {remark(source, v, kept)}".strip()) for v in verdicts]
    report = Report(
        subject.name, tuple(verdicts), tuple(flags), Path(source.file), "right by themselves"
    )
    return Explanation(forward.program.name, report)
