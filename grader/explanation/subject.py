"""What is explained: a backward function, or a `torch.autograd.Function`."""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
from torch import Tensor

from grader.close_names import SLIP, nearest
from grader.explanation.backward import Backward
from grader.explanation.forward import Forward, describe
from grader.program.compare import agrees
from grader.program.instances import Instance
from grader.user_error import BadInput

Run = tuple[dict[str, Any], tuple[Any, ...]]
"""The arguments that a Function was applied to, by name, and its outputs."""


def subject_of(backward: Any, forward: Forward) -> Subject:
    """What is to be explained; `BadInput` for what is neither a function nor a Function."""
    arriving = [f"d{name}" for name in forward.returned]
    if isinstance(backward, type) and issubclass(backward, torch.autograd.Function):
        source = Backward.of(backward.backward, frozenset(), ["ctx", *arriving])
        return CustomFunction(source, backward)
    if not callable(backward):
        raise BadInput(f"{backward!r} is neither a function nor a torch.autograd.Function.")
    known = {*forward.parameters, *forward.program.names, *forward.program.size_names, *arriving}
    return Subject(Backward.of(backward, known, [*arriving, *forward.parameters]))


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A backward function, which asks by name for what it needs."""

    source: Backward

    @property
    def name(self) -> str:
        """What a report calls it."""
        return self.source.definition.name

    def raised(self, error: Exception) -> Raised:
        """What it raised, at the line of its own that led there."""
        frames = traceback.walk_tb(error.__traceback__)
        own = [line for frame, line in frames if frame.f_code is self.source.function.__code__]
        where = own[-1] if own else self.source.definition.lineno
        return Raised(where, f"This line raised {describe(error)}.")

    def at_its_end(self, message: str) -> Raised:
        """What is wrong with what it returns."""
        return Raised(self.source.body[-1].lineno, message, is_value=True)

    def arriving(self, forward: Forward) -> dict[str, str]:
        """The names of the gradients that arrive, by what is returned."""
        return {name: f"d{name}" for name in forward.returned if name in forward.smooth}

    def is_loss(self, forward: Forward) -> bool:
        """Whether the result is a loss: a scalar whose gradient nobody asks for is 1."""
        asked = self.source.parameters.keys() & self.arriving(forward).values()
        return not asked and all(not forward.tried.values[name].dim() for name in forward.returned)

    def takes(self, forward: Forward) -> list[list[str]]:
        """The parameters of the forward pass that gradients may be returned for, in order.

        These are all of them, the tensors among them, or those that have a gradient.
        """
        tensors = [*forward.program.annotations]
        smooth = [name for name in tensors if name in forward.smooth]
        return [[*forward.parameters], smooth, tensors]

    def arguments(self, forward: Forward, instance: Instance) -> dict[str, Any]:
        """What its parameters are on an instance; `BadInput` for one that is nothing."""
        known = {**forward.constants, **instance.sizes, **instance.values}
        found: dict[str, Any] = {}
        for name, parameter in self.source.parameters.items():
            if name in known:
                found[name] = known[name]
            elif parameter.default is not parameter.empty:
                found[name] = parameter.default
            else:
                meant = nearest(name, known, SLIP)
                raise BadInput(
                    f"{self.source.at(self.source.definition.lineno)}, asks for {name};"
                    f" {forward.program.name} has no input, step or size of that name, and returns"
                    " nothing that it would be the gradient of."
                    f"{f' Is it {meant[0]}?' if meant else ''}"
                )
        return found


@dataclass(frozen=True, slots=True, eq=False)
class CustomFunction(Subject):
    """The backward of a `torch.autograd.Function`, which finds in `ctx` what it needs."""

    function: type[torch.autograd.Function]
    outputs: list[Any] = field(default_factory=list)
    """Kept, since some versions of PyTorch free what a `ctx` has saved once these are gone."""

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.function.__name__

    def arriving(self, forward: Forward) -> dict[str, str]:
        """The parameters after `ctx`, by what is returned."""
        _, *parameters = self.source.parameters.values()
        if parameters and parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL:
            return super(CustomFunction, self).arriving(forward)
        if len(parameters) != len(forward.returned):
            raise BadInput(
                f"{self.source.at(self.source.definition.lineno)}, takes {len(parameters)}"
                f" gradients; {forward.program.name} returns {', '.join(forward.returned)}."
            )
        pairs = zip(forward.returned, parameters, strict=True)
        return {name: one.name for name, one in pairs if name in forward.smooth}

    def takes(self, forward: Forward) -> list[list[str]]:
        """Those that `apply` is given: all that fit, or the tensors alone."""
        every, _, tensors = super(CustomFunction, self).takes(forward)
        is_apart = self.function.setup_context is not torch.autograd.Function.setup_context
        try:
            given = every if is_apart else ["ctx", *every]
            inspect.signature(self.function.forward).bind(*given)
        except TypeError:
            return [tensors]
        return [every]

    def is_loss(self, forward: Forward) -> bool:
        """Never: PyTorch hands it a gradient whatever it returns."""
        return False

    def arguments(self, forward: Forward, instance: Instance) -> dict[str, Any]:
        """`ctx` as the class's own forward leaves it, then the gradients that arrive."""
        ctx, *parameters = self.source.parameters.values()
        names = self.arriving(forward)
        gradients = [instance.values.get(names.get(name, "")) for name in forward.returned]
        found = {ctx.name: self._context(forward, instance)}
        if parameters and parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL:
            return {**found, parameters[-1].name: tuple(gradients)}
        return {**found, **{p.name: g for p, g in zip(parameters, gradients, strict=True)}}

    def run(self, forward: Forward, instance: Instance, needing: Set[str]) -> Run:
        """Apply it, where these inputs need a gradient."""
        known = {**forward.constants, **instance.values}
        inputs = {
            name: known[name].clone().requires_grad_() if name in needing else known[name]
            for name in self.takes(forward)[0]
        }
        try:
            with torch.enable_grad():
                outputs: Any = self.function.apply(*inputs.values())  # type: ignore[no-untyped-call]
        except Exception as error:
            raise BadInput(f"{self.name}.apply raised {describe(error)}.") from error
        return inputs, outputs if isinstance(outputs, tuple) else (outputs,)

    def _context(self, forward: Forward, instance: Instance) -> Any:
        name = self.function.__name__
        _, outputs = self.run(forward, instance, forward.needing)
        for result, output in zip(forward.returned, outputs, strict=False):
            right = instance.values[result]
            is_right = isinstance(output, Tensor) and (
                agrees(output.detach(), right)
                if right.is_floating_point()
                else torch.equal(output, right)
            )
            if not is_right:
                raise BadInput(
                    f"{name}.apply gives another {result} than {forward.program.name}: what they"
                    " compute has to be the same."
                )
        contexts = (o.grad_fn for o in outputs if isinstance(o, Tensor) and o.grad_fn is not None)
        context = next(contexts, None)
        if context is None or len(outputs) != len(forward.returned):
            raise BadInput(
                f"{name}.apply gives {len(outputs)} results;"
                f" {forward.program.name} returns {', '.join(forward.returned)}."
            )
        self.outputs.extend(outputs)
        return context


@dataclass(frozen=True, slots=True)
class Raised:
    """What a call of the subject raised: the line of the subject's own, and a sentence.

    Or what was wrong with the value that it gave: `is_value`.
    """

    line: int
    message: str
    is_value: bool = False

    def but(self, condition: str, advice: str) -> Raised:
        """The same, which happens on a condition only."""
        return Raised(self.line, f"{condition} t{self.message[1:]} {advice}")


def call(subject: Subject, arguments: Mapping[str, Any]) -> tuple[Any, Raised | None]:
    """What the subject returns of copies of these arguments, or else what it raised.

    Raises:
        BadInput: it changed an argument in place; the message names the line.
    """
    function = subject.source.function
    copies = {n: v.clone() if isinstance(v, Tensor) else v for n, v in arguments.items()}
    bound = inspect.signature(function).bind_partial()
    bound.arguments |= copies
    tensors = [*_tensors(copies.values())]
    versions = [tensor._version for tensor in tensors]
    line, changed, raised = subject.source.definition.lineno, False, None

    def look(frame: FrameType | None, *_: Any) -> Callable[..., Any] | None:
        """Before each line, and at the end: was a tensor written to?"""
        nonlocal line, changed
        if frame and frame.f_code is not function.__code__:
            return None
        changed = changed or versions != [tensor._version for tensor in tensors]
        if frame and not changed:
            line = frame.f_lineno
        return look

    before = sys.gettrace()
    # A debugger or a measurement of coverage that is under way goes first.
    if before is None:
        sys.settrace(look)
    try:
        with torch.no_grad():
            returned = function(*bound.args, **bound.kwargs)
    except Exception as error:
        returned, raised = None, subject.raised(error)
    finally:
        sys.settrace(before)
    look(None)
    if changed:
        what = "a saved tensor or " if isinstance(subject, CustomFunction) else ""
        raise BadInput(
            f"{subject.source.at(line)}, changes {what}an argument in place: its caller would go"
            " on with another value."
        )
    return returned, raised


def _tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors among arguments, with those that a `ctx` has saved."""
    for value in values:
        several = value if isinstance(value, tuple) else getattr(value, "saved_tensors", (value,))
        yield from (one for one in several if isinstance(one, Tensor))
