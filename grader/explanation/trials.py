"""Calls a backward function in the ways in which PyTorch calls it now and then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from grader.explanation.backward import Key
from grader.explanation.forward import Forward
from grader.explanation.judged import by_tensor
from grader.explanation.subject import CustomFunction, Raised, Subject, call
from grader.program.compare import agrees
from grader.program.instances import Instance
from grader.program.references import References

STRIDED = "If the incoming gradient is not contiguous in memory (after a transpose, for example),"
MATERIALIZED = "After `ctx.set_materialize_grads(False)` the gradients of the others are None."
NEEDED = "Look at `ctx.needs_input_grad`."
EITHER = "`reshape`, or `contiguous()` before it, works for both."


def find_trouble(
    subject: Subject,
    forward: Forward,
    references: References,
    returned: Mapping[Key, str],
    result: Any,
) -> tuple[str, Raised] | None:
    """The gradient that is wrong, or not there, when the right function is called otherwise.

    Args:
        subject: the backward function.
        forward: its forward pass.
        references: the instance that is shown is called on again.
        returned: the gradients by where they are in what it returns.
        result: what it has returned on this instance.
    """
    right, instance = by_tensor(returned, result), references.lecture
    arguments = subject.arguments(forward, instance)
    upstream = {*subject.arriving(forward).values()}
    strided = {
        name: _strided(value) if name in upstream or isinstance(value, tuple) else value
        for name, value in arguments.items()
    }
    found, raised = call(subject, strided)
    if raised:
        return next(iter(right)), raised.but(STRIDED, EITHER)
    other = by_tensor(returned, found)
    for name, value in right.items():
        if not agrees(other[name], value):
            return name, subject.at_its_end(f"{STRIDED} `d{name}` is another one.")
    if isinstance(subject, CustomFunction):
        needing = [name for name in right if name in forward.needing]
        return next(_of_autograd(subject, forward, references, needing), None)
    return None


def _of_autograd(
    subject: CustomFunction, forward: Forward, references: References, names: Sequence[str]
) -> Iterator[tuple[str, Raised]]:
    """What is wrong where one output alone gets a gradient, or one input alone needs one."""
    program, values = references.program, references.lecture.values
    weights = {step: values[name] for name, step in program.arriving.items()}
    settings = [
        (f"If `{step}` is the only output that gets a gradient,", MATERIALIZED, names, {step: one})
        for step, one in weights.items()
        if len(weights) > 1
    ] + [
        (f"If `{name}` is the only input that needs a gradient,", NEEDED, [name], weights)
        for name in names
        if len(names) > 1
    ]
    for condition, advice, needing, some in settings:
        found = _gradients(subject, forward, references.lecture, needing, some)
        if isinstance(found, Raised):
            yield needing[0], found.but(condition, advice)
            continue
        others = {d: 0 * values[d] for d, step in program.arriving.items() if step not in some}
        instance = replace(references.lecture, values={**values, **others})
        gradients = program.gradients({name: instance.values[name] for name in program.inputs})
        for name in needing:
            right = gradients[name]
            if not agrees(torch.zeros_like(right) if found[name] is None else found[name], right):
                yield name, subject.at_its_end(f"{condition} `d{name}` is wrong. {advice}")


def _gradients(
    subject: CustomFunction,
    forward: Forward,
    instance: Instance,
    needing: Sequence[str],
    weights: Mapping[str, Tensor],
) -> dict[str, Any] | Raised:
    """What PyTorch makes of it: the gradients of some inputs, where these arrive at outputs."""
    inputs, outputs = subject.run(forward, instance, {*needing})
    pairs = zip(forward.returned, outputs, strict=True)
    reached = {n: one for n, one in pairs if n in weights and one.requires_grad}
    try:
        found = torch.autograd.grad(
            [*reached.values()],
            [inputs[name] for name in needing],
            [weights[name] for name in reached],
            allow_unused=True,
        )
    except Exception as error:
        return subject.raised(error)
    return dict(zip(needing, found, strict=True))


def _strided(value: Any) -> Any:
    """The same numbers, the columns of a matrix one behind the other in memory."""
    if isinstance(value, tuple):
        return tuple(map(_strided, value))
    is_matrix = isinstance(value, Tensor) and value.dim() > 1
    return value.mT.contiguous().mT if is_matrix else value
