"""Calls a backward function in the ways in which PyTorch calls it now and then."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.explanation.backward import Key
from grader.explanation.forward import Forward, describe
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
        arriving = references.program.arriving
        weights = {step: instance.values[name] for name, step in arriving.items()}
        true = {name: references.lecture_gradients[name] for name in right}
        return next(_of_autograd(subject, forward, instance, weights, true), None)
    return None


def _of_autograd(
    subject: CustomFunction,
    forward: Forward,
    instance: Instance,
    weights: Mapping[str, Tensor],
    right: Mapping[str, Tensor],
) -> Iterator[tuple[str, Raised]]:
    """What is wrong where one output alone gets a gradient, or one input alone needs one."""
    needing = [name for name in right if name in forward.needing]
    if len(weights) > 1:
        total = {name: torch.zeros_like(right[name]) for name in needing}
        for output in weights:
            found = _gradients(subject, forward, instance, needing, {output: weights[output]})
            if isinstance(found, Raised):
                alone = f"If `{output}` is the only output that gets a gradient,"
                yield needing[0], found.but(alone, MATERIALIZED)
                return
            total = {n: total[n] if found[n] is None else total[n] + found[n] for n in needing}
        for name in needing:
            if not agrees(total[name], right[name]):
                said = f"If one of the outputs alone gets a gradient, `d{name}` is wrong."
                yield name, subject.at_its_end(f"{said} {MATERIALIZED}")
    for name in needing if len(needing) > 1 else ():
        found = _gradients(subject, forward, instance, [name], weights)
        alone = f"If `{name}` is the only input that needs a gradient,"
        if isinstance(found, Raised):
            yield name, found.but(alone, NEEDED)
        elif found[name] is None or not agrees(found[name], right[name]):
            yield name, subject.at_its_end(f"{alone} `d{name}` is wrong. {NEEDED}")


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
        gradients = torch.autograd.grad(
            [*reached.values()],
            [inputs[name] for name in needing],
            [weights[name] for name in reached],
            allow_unused=True,
        )
    except Exception as error:
        frames = traceback.walk_tb(error.__traceback__)
        code = subject.source.function.__code__
        own = [number for frame, number in frames if frame.f_code is code]
        line = own[-1] if own else subject.source.definition.lineno
        return Raised(line, f"This line raised {describe(error)}.")
    return dict(zip(needing, gradients, strict=True))


def _strided(value: Any) -> Any:
    """The same numbers, the columns of a matrix one behind the other in memory."""
    if isinstance(value, tuple):
        return tuple(map(_strided, value))
    is_matrix = isinstance(value, Tensor) and value.dim() > 1
    return value.mT.contiguous().mT if is_matrix else value
