"""The forward program: straight-line Python in which every line `name = expression` is a step."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import CodeType
from typing import Any

import torch
from torch import Tensor

from grader.program.instances import (
    HIDDEN_SIZES,
    LARGE_AND_FEW,
    SPARING,
    Instance,
    draw,
    read_shape,
)
from grader.user_error import BadInput

Draw = Callable[[torch.Generator, Mapping[str, int]], Mapping[str, Tensor]]
"""Draws the inputs that an annotation cannot describe, from a generator and the sizes."""

ONE_EACH = "Give each tensor a line of its own, such as `a = x.chunk(2, 1)[0]` or `a = x[:, :2]`."


class NotAForwardProgram(BadInput):
    """A function is not straight-line code on tensors."""


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a forward program.

    `reads` are the inputs and earlier steps that `expression` names, in order of first mention.
    `number` is the step's line number in the file.
    """

    name: str
    expression: str
    reads: tuple[str, ...]
    line: str
    code: CodeType = field(repr=False, compare=False)
    number: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class ForwardProgram:
    """A forward pass as a list of steps, with everything that autograd can say about it.

    `annotations` maps each input to the text from which its instances are drawn (see
    `grader.program.instances`). `loss` is the last step, a scalar in nats. If the function returns
    something else, the last step is the sum of what it returns times its upstream gradients;
    `arriving` maps the names of these gradients to the steps that they are the gradients of. To
    find out to which names each step passes a gradient, autograd is asked on the instance `tried`,
    or on the first hidden instance if there is none.
    """

    name: str
    inputs: tuple[str, ...]
    annotations: Mapping[str, str]
    steps: tuple[Step, ...]
    scope: Mapping[str, Any] = field(repr=False)
    arriving: Mapping[str, str] = field(default_factory=dict)
    tried: Instance | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all inputs and steps, in order."""
        return (*self.inputs, *(step.name for step in self.steps))

    @property
    def gradient_names(self) -> frozenset[str]:
        """The names of the gradients of all inputs and steps, asked for or not."""
        return frozenset(f"d{name}" for name in self.names)

    @property
    def loss(self) -> str:
        """The name of the last step."""
        return self.steps[-1].name

    @property
    def size_names(self) -> tuple[str, ...]:
        """The names of the inputs' sizes ("n", "block_size", ...) in order of first mention."""
        shapes = (read_shape(annotation) for annotation in self.annotations.values())
        texts = (text for dimensions, below in shapes for text in (*dimensions, below))
        return tuple(dict.fromkeys(n for text in texts for n in re.findall(r"[^\W\d]\w*", text)))

    @property
    def passes(self) -> Mapping[str, tuple[str, ...]]:
        """The names to which each step passes a gradient back; reading a shape passes none."""
        return _ask_autograd(self)

    def readers(self, name: str) -> tuple[str, ...]:
        """The steps that pass a gradient to `name`, each by a branch of its own."""
        return tuple(step for step, passed in self.passes.items() if name in passed)

    def numbers(self) -> dict[str, float]:
        """The plain numbers that steps name but none assigns, such as an epsilon of the file."""
        trees = (ast.parse(step.expression) for step in self.steps)
        named = {part.id for tree in trees for part in ast.walk(tree) if isinstance(part, ast.Name)}
        outside = {name: self.scope.get(name) for name in sorted(named - {*self.names})}
        return {name: v for name, v in outside.items() if isinstance(v, int | float)}

    def arrivals(self) -> dict[str, str]:
        """The inputs that are upstream gradients, by convention or by name, each with its step."""
        steps = {step.name for step in self.steps}
        named = {name: name[1:] for name in self.inputs if name[:1] == "d" and name[1:] in steps}
        return {**named, **self.arriving}

    def reached(self, name: str, ends: Collection[str] = ()) -> list[str]:
        """`name` and the steps through which its gradient comes back, in order, up to `ends`."""
        live = {name: None}
        for step in self.steps:
            if step.name not in ends and not live.keys().isdisjoint(self.passes[step.name]):
                live[step.name] = None
        return [*live]

    def descendants(self, name: str) -> frozenset[str]:
        """The steps through which the gradient of `name` comes back."""
        return frozenset(self.reached(name)) - {name}

    def between(self, name: str, ends: Collection[str]) -> list[str]:
        """The steps from `name` up to `ends` in order, each behind the inputs that it reads."""
        live, found = {*self.reached(name, ends)}, dict[str, None]()
        for step in self.steps:
            if not live.isdisjoint(self.passes[step.name]):
                found |= dict.fromkeys((step.name, *step.reads))
        return [*found]

    def instance(
        self,
        sizes: Mapping[str, int],
        seed: int,
        dtype: torch.dtype,
        spared: int = 0,
        draw_some: Draw = lambda generator, sizes: {},
    ) -> Instance:
        """Draw the inputs from a seeded generator, then run the program.

        The `spared` largest indices are never drawn. Inputs that `draw_some` returns are taken from
        it.
        """
        generator = torch.Generator().manual_seed(seed)
        values: dict[str, Any] = {
            name: draw(annotation, sizes, generator, dtype, spared)
            for name, annotation in self.annotations.items()
        }
        values |= draw_some(generator, sizes)
        for step in self.steps:
            for name, of in self.arriving.items() if step is self.steps[-1] else ():
                if name not in values:
                    shape = values[of].shape
                    values[name] = torch.randn(shape, generator=generator, dtype=torch.float64)
            values[step.name] = self.evaluate(step, values)
        values = {
            name: values[name].detach() if isinstance(values[name], Tensor) else values[name]
            for name in self.names
        }
        return Instance(dict(sizes), dtype, values)

    def hidden_instances(self, seed: int) -> tuple[Instance, ...]:
        """The float64 instances on which verdicts are based, one for each row of `HIDDEN_SIZES`."""
        names, (small, large) = self.size_names, HIDDEN_SIZES
        rows = (small, large if len(names) > len(LARGE_AND_FEW) else LARGE_AND_FEW)
        return tuple(
            self.instance(
                dict(zip(names, sizes, strict=False)),
                seed + number,
                torch.float64,
                spared=int(number == SPARING),
            )
            for number, sizes in enumerate(rows)
        )

    def run(self, inputs: Mapping[str, Tensor]) -> dict[str, Any]:
        """Run the program: the value of every input and every step, by name."""
        values: dict[str, Any] = {name: inputs[name] for name in self.inputs}
        for step in self.steps:
            values[step.name] = self.evaluate(step, values)
        return values

    def rerun(self, values: Mapping[str, Any], name: str, value: Tensor) -> dict[str, Any]:
        """What `run` returned, with another `value` of `name` and all that follows from it."""
        again, later = {**values, name: value}, self.descendants(name)
        for step in self.steps:
            if step.name in later:
                again[step.name] = self.evaluate(step, again)
        return again

    def first_nan(self, values: Mapping[str, Any]) -> Step | None:
        """The first step whose value is NaN, among the values that `run` returned."""
        steps = (step for step in self.steps if is_differentiable(values[step.name]))
        return next((step for step in steps if values[step.name].isnan().any()), None)

    @torch.enable_grad()  # a notebook may call this under `torch.no_grad()`
    def gradients(self, inputs: Mapping[str, Tensor], at_loss: float = 1.0) -> dict[str, Tensor]:
        """The gradient of the loss with respect to every floating-point tensor, from autograd.

        A tensor on which the loss does not depend gets zeros. Each gradient has its tensor's shape,
        and `at_loss` is the gradient of the loss itself.
        """
        leaves = {
            name: value.detach().clone().requires_grad_() if is_differentiable(value) else value
            for name, value in inputs.items()
        }
        values: dict[str, Any] = leaves
        for step in self.steps:
            value = self.evaluate(step, values)
            # A constant, such as a mask of ones and zeros, gets a gradient too.
            values[step.name] = value.requires_grad_() if is_differentiable(value) else value
        tensors = {name: value for name, value in values.items() if is_differentiable(value)}
        gradients = torch.autograd.grad(
            tensors[self.loss] * at_loss,
            list(tensors.values()),
            allow_unused=True,
            materialize_grads=True,
        )
        return dict(zip(tensors, gradients, strict=True))

    @torch.enable_grad()
    def vjp(
        self,
        values: Mapping[str, Any],
        name: str,
        upstream: Mapping[str, Tensor],
        through: str | None = None,
    ) -> Tensor:
        """The gradient of `name`, given the gradients of some later steps.

        Every path from `name` towards the loss ends at the first step in `upstream` that it
        meets, or else at the loss, whose gradient is 1. If `upstream` holds the readers of `name`,
        this is the local VJP. If it is empty, this is the gradient itself.

        Args:
            values: what `run` returned; the program is differentiated at these values.
            name: an input or a step.
            upstream: gradients by step name, each with the shape of its step.
            through: count only the branch that enters this reader of `name`.
        """
        leaf = values[name].detach().clone().requires_grad_()
        live: dict[str, Tensor] = {}
        reached: list[tuple[Tensor, Tensor]] = []
        for step in self.steps:
            enters = name in step.reads and through in (None, step.name)
            if not enters and live.keys().isdisjoint(step.reads):
                continue
            value = self.evaluate(step, {**values, **live, **({name: leaf} if enters else {})})
            if not isinstance(value, Tensor) or not value.requires_grad:
                continue
            if step.name in upstream:
                reached.append((value, upstream[step.name]))
            elif step.name == self.loss:
                reached.append((value, torch.ones_like(value)))
            else:
                live[step.name] = value
        if not reached:
            return torch.zeros_like(leaf)
        # A weighted sum, because the checks of `grad_outputs` import a computer algebra system.
        weighted = torch.stack([(value * cotangent).sum() for value, cotangent in reached])
        gradients: tuple[Tensor, ...] = torch.autograd.grad(weighted.sum(), leaf)
        return gradients[0]

    def evaluate(self, step: Step, values: Mapping[str, Any]) -> Any:
        """Compute one step's value from the values that it reads.

        Raises:
            NotAForwardProgram: the value is several tensors, which cannot have one gradient.
        """
        value = eval(step.code, {**self.scope, **values})
        parts = value.values() if isinstance(value, dict) else value
        if isinstance(value, dict | list | tuple) and any(isinstance(p, Tensor) for p in parts):
            where, shown = f"{self.name}, line {step.number},", step.line.partition("\n")[0]
            raise NotAForwardProgram(
                f"{where} is not a step: `{shown}` makes several tensors. {ONE_EACH}"
            )
        return value


@lru_cache(maxsize=64)  # a course has some programs; `explain` makes new ones each time
@torch.enable_grad()
def _ask_autograd(program: ForwardProgram) -> Mapping[str, tuple[str, ...]]:
    values = (program.tried or program.hidden_instances(seed=0)[0]).values
    passed = dict[str, tuple[str, ...]]()
    for step in program.steps:
        read = (name for name in step.reads if isinstance(values[name], Tensor))
        leaves = {
            name: values[name].clone().requires_grad_()
            for name in read
            if values[name].is_floating_point() or values[name].is_complex()
        }
        value = program.evaluate(step, {**values, **leaves})
        gradients: tuple[Tensor | None, ...] = (None,) * len(leaves)
        if isinstance(value, Tensor) and value.requires_grad:
            # A complex tensor has no gradient here, but its absolute value has one.
            size = value.sum().abs()
            gradients = torch.autograd.grad(size, [*leaves.values()], allow_unused=True)
        pairs = zip(leaves, gradients, strict=True)
        passed[step.name] = tuple(name for name, gradient in pairs if gradient is not None)
    return passed


def is_differentiable(value: object) -> bool:
    """True for floating-point tensors, which are those that have a gradient."""
    return isinstance(value, Tensor) and value.is_floating_point()


def weighed(program: ForwardProgram, returned: Mapping[str, str]) -> ForwardProgram:
    """Let a program end in a scalar: the sum of its outputs times their upstream gradients.

    Args:
        program: what `read_function` has read.
        returned: the tensors that the function returns, each with the name of its upstream
            gradient.
    """
    loss = next(name for name in ("loss", "total", "weighed") if name not in program.names)
    terms = " + ".join(f"({weight} * {name}).sum()" for name, weight in returned.items())
    reads = tuple(name for pair in returned.items() for name in pair)
    code = compile(terms, f"<forward program {program.name}>", "eval")
    steps = (*program.steps, Step(loss, terms, reads, f"{loss} = {terms}", code))
    arriving = {weight: name for name, weight in returned.items()}
    return replace(program, inputs=(*program.inputs, *arriving), steps=steps, arriving=arriving)
