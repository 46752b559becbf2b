"""A forward function, drawn on instances of several sizes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from grader.program.compare import COARSE
from grader.program.forward_program import ForwardProgram, Step, is_differentiable, weighed
from grader.program.instances import Instance
from grader.program.parse import read_function, source_of
from grader.program.references import References, references_on
from grader.user_error import BadInput

SIZES = (
    (7, 5, 8, 6, 11, 13, 17, 19),
    (23, 4, 9, 14, 18, 12, 3, 16),
    (6, 3, 7, 5, 11, 9, 13, 10),
)
"""Sizes of the instances, dealt out in order of first mention; the last is the one shown.

No two of an instance are equal, so that a mixed-up axis shows, and the first two have none in
common, so that a number that should be a size does. No two factors that are told, such as `d - 2`
and `v`, are alike in both; and there are examples enough for some to be near a bound.
"""

Inputs = Callable[..., Mapping[str, Tensor]]
"""Draws inputs: asks by name for `generator` and for sizes, gives tensors by input."""


@dataclass(frozen=True, slots=True, eq=False)
class Forward:
    """A forward function with the sizes that are fixed and what draws its inputs.

    `returned` are the names that it returns, `constants` its parameters that are no tensors.
    """

    function: Callable[..., Any]
    program: ForwardProgram
    returned: tuple[str, ...]
    sizes: Mapping[str, int]
    inputs: Inputs | None
    constants: Mapping[str, Any]
    line: int
    """Where it begins in its file."""

    @classmethod
    def of(
        cls, function: Callable[..., Any], sizes: Mapping[str, Any], inputs: Inputs | None
    ) -> Forward:
        """Read a function; `BadInput` says which line cannot be."""
        program, returned = read_function(function)
        line = source_of(function)[0].lineno
        if inputs is not None and not hasattr(inputs, "__code__"):
            raise BadInput(f"What draws inputs is a function, not {type(inputs).__name__}.")
        names = program.size_names
        for name, length in sizes.items():
            if name not in names:
                raise BadInput(
                    f"{program.name}, line {line}: no input has a size {name}; the sizes are"
                    f" {', '.join(names) or 'all numbers'}."
                )
            if not isinstance(length, int) or length < 1:
                raise BadInput(
                    f"The size {name} has to be a whole number from 1 on, not {length!r}."
                )
        if len(names) > len(SIZES[0]):
            raise BadInput(f"{program.name} has more than {len(SIZES[0])} sizes.")
        parameters = inspect.signature(function).parameters
        constants = {n: p.default for n, p in parameters.items() if n not in program.annotations}
        return cls(function, program, returned, sizes, inputs, constants, line)

    def smooth(self, tried: Instance) -> list[str]:
        """The inputs and steps that have gradients, from the end of the program to its inputs."""
        steps = [step.name for step in self.program.steps]
        return [
            n for n in (*steps[::-1], *self.program.inputs) if is_differentiable(tried.values[n])
        ]

    def try_out(self) -> Instance:
        """Run it at all sizes; `BadInput` says which line raises, or is no forward pass's step."""
        tried, *_ = [self._tried_out(self._sizes(row)) for row in range(len(SIZES))]
        for result in self.returned:
            if not isinstance(tried.values[result], Tensor):
                raise BadInput(f"{self.at}, returns {result}, which is no tensor.")
        if not any(is_differentiable(tried.values[result]) for result in self.returned):
            raise BadInput(f"{self.at}, returns no floating-point tensor.")
        inputs = {name: tried.values[name] for name in self.program.inputs}
        leaves = {n: v.clone().requires_grad_() for n, v in inputs.items() if is_differentiable(v)}
        with torch.enable_grad():
            values = self.program.run({**inputs, **leaves})
        if not any(values[result].requires_grad for result in self.returned):
            raise BadInput(f"{self.at}, returns nothing that passes a gradient to its inputs.")
        return tried

    @property
    def at(self) -> str:
        """What a sentence about it begins with."""
        return f"{self.program.name}, line {self.line}"

    def _tried_out(self, sizes: Mapping[str, int]) -> Instance:
        inputs = replace(self.program, steps=())
        try:
            drawn = inputs.instance(sizes, 0, torch.float64, draw_some=self._draw)
        except BadInput:
            raise
        except Exception as error:
            why = str(error) if isinstance(error, ValueError) else describe(error)
            raise BadInput(
                f"{self.at}: its inputs cannot be drawn from their annotations ({why})."
            ) from error
        values = dict(drawn.values)
        for step in self.program.steps:
            where = self._where(step)
            versions = {n: v._version for n, v in values.items() if isinstance(v, Tensor)}
            try:
                value = self.program.evaluate(step, values)
                # A copy: what a step changes in place may be what it returns.
                first = value.clone() if isinstance(value, Tensor) else value
                again = self.program.evaluate(step, values)
            except BadInput:
                raise
            except Exception as error:
                at = ", ".join(f"{size} = {length}" for size, length in sizes.items())
                raise BadInput(
                    f"{where} raised {describe(error)} (at {at}).{self._weights_in(step)}"
                ) from error
            for name, version in versions.items():
                if values[name]._version != version:
                    raise BadInput(f"{where} changes {name} in place; a step makes a new tensor.")
            if isinstance(first, Tensor) and not _is_same(first, again):
                raise BadInput(
                    f"{where} gives another value when it runs again; what is random has to be an"
                    " input."
                )
            if isinstance(first, Tensor) and first.dtype in COARSE:
                dtype = str(first.dtype).removeprefix("torch.")
                raise BadInput(
                    f"{where} makes {dtype}, whose rounding would look like mistakes: leave"
                    " the conversion out, since all steps are float64 here."
                )
            values[step.name] = value
        return Instance(sizes, torch.float64, values)

    def references(self, arriving: Mapping[str, str], is_loss: bool, seed: int) -> References:
        """Autograd's gradients on all instances.

        Args:
            arriving: the names of the gradients that arrive, by result.
            is_loss: whether these are 1.
            seed: of all that is random.
        """
        program = weighed(self.program, arriving)
        one = dict.fromkeys(arriving.values(), torch.ones((), dtype=torch.float64))

        def draw(generator: torch.Generator, sizes: Mapping[str, int]) -> dict[str, Tensor]:
            return {**self._draw(generator, sizes), **(one if is_loss else {})}

        *hidden, shown = (
            program.instance(self._sizes(row), seed + row, torch.float64, row == 0, draw)
            for row in range(len(SIZES))
        )
        try:
            references = references_on(shown, hidden, program, seed)
        except RuntimeError as error:
            raise BadInput(
                f"{self.at}: autograd cannot differentiate it ({describe(error)})."
            ) from error
        for name in self.program.inputs:
            self._check_that_it_is_a_number(name, references)
        return references

    def _check_that_it_is_a_number(self, name: str, references: References) -> None:
        """`BadInput` for an input whose gradient is NaN by autograd: none could be right."""
        of_name = (one for one in references.hidden if name in one.gradients)
        found = next((one for one in of_name if one.gradients[name].isnan().any()), None)
        if found is None:
            return
        step = self.program.first_nan(found.instance.values)
        where = f"{self._where(step)} gives NaN" if step else f"{self.at}: d{name} is NaN"
        raise BadInput(f"{where} for some numbers: draw others, by a function for `inputs`.")

    def _where(self, step: Step) -> str:
        return f"{self.program.name}, line {step.number}: `{step.line}`"

    def _weights_in(self, step: Step) -> str:
        """What is said of a module in a step, whose weights autograd would count as constants."""
        for name in re.findall(r"\w+", step.expression):
            module = self.program.scope.get(name)
            if isinstance(module, torch.nn.Module) and any(True for _ in module.parameters()):
                return f" {name} has weights of its own: let them be inputs."
        return ""

    def _sizes(self, row: int) -> dict[str, int]:
        """The sizes of one instance: those that are fixed, and others than these."""
        free = (length for length in SIZES[row] if length not in self.sizes.values())
        names = self.program.size_names
        return {name: self.sizes[name] if name in self.sizes else next(free) for name in names}

    def _draw(self, generator: torch.Generator, sizes: Mapping[str, int]) -> dict[str, Tensor]:
        """What the function for inputs draws, as float64 where it is not whole numbers."""
        if self.inputs is None:
            return {}
        line = f"{self.inputs.__name__}, line {self.inputs.__code__.co_firstlineno}"
        asked = inspect.signature(self.inputs).parameters
        known = {**sizes, "generator": generator}
        for name in asked:
            if name not in known:
                raise BadInput(f"{line}, asks for {name}; it can have {', '.join(known)}.")
        try:
            drawn: Any = self.inputs(**{name: known[name] for name in asked})
        except Exception as error:
            raise BadInput(f"{line}, raised {describe(error)}.") from error
        pairs = drawn.items() if isinstance(drawn, Mapping) else [(type(drawn).__name__, None)]
        for name, value in pairs:
            if name not in self.program.inputs or not isinstance(value, Tensor):
                raise BadInput(
                    f"{line}, draws {name}; it gives a dictionary of tensors for"
                    f" {', '.join(self.program.inputs)}, or some of them."
                )
        return {n: v.double() if v.is_floating_point() else v for n, v in drawn.items()}


def describe(error: Exception) -> str:
    """An exception's class and the first line of its message."""
    words = str(error).strip()
    return f"{type(error).__name__}: {words.splitlines()[0].rstrip('.') if words else 'no message'}"


def _is_same(one: Tensor, other: object) -> bool:
    return isinstance(other, Tensor) and torch.equal(one.nan_to_num(), other.nan_to_num())
