"""A forward function, drawn on instances of several sizes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import torch
from torch import Tensor

from grader.explanation.wide import widened
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


class Constant:
    """`mask: Constant["n, d"]` is an input that needs no gradient."""

    def __class_getitem__(cls, shape: str) -> Any:
        """What `Annotated[Tensor, shape, Constant]` is."""
        return Annotated[Tensor, shape, cls]


Number = Annotated[Tensor, ""]
"""`u: Number` is a single number, a tensor without axes."""

Numbers = Annotated[Tensor, "n"]
"""`x: Numbers` is a tensor of n numbers, with one axis."""

Inputs = Callable[..., Mapping[str, Tensor]]
"""Draws inputs: asks by name for `generator` and for sizes, gives tensors by input."""


UNTRIED = Instance({}, torch.float64, {})


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
    parameters: tuple[str, ...]
    """All its parameters: tensors and constants."""
    tried: Instance = UNTRIED
    """What it gave when it was tried out."""
    shown: Mapping[str, int] = field(default_factory=dict)
    """The sizes of the instance that is shown, where there is a notebook that has some."""
    needing: frozenset[str] = frozenset()
    """The inputs that need a gradient; for the others None is right, too."""

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
        parameters = inspect.signature(function, eval_str=True).parameters
        constants = {n: p.default for n, p in parameters.items() if n not in program.annotations}
        known = function, program, returned, sizes, inputs, constants, line, tuple(parameters)
        return cls(*known)

    @property
    def smooth(self) -> list[str]:
        """The inputs and steps that have gradients, from the end of the program to its inputs."""
        names = *(step.name for step in self.program.steps[::-1]), *self.program.inputs
        return [name for name in names if is_differentiable(self.tried.values[name])]

    def tried_out(self) -> Forward:
        """Run it once at all sizes; `BadInput` says which line raises, or cannot be a step."""
        if self.tried is not UNTRIED:
            return self
        tried, *_ = [self._tried_out(self._sizes(row)) for row in range(len(SIZES))]
        for result in self.returned:
            if not isinstance(tried.values[result], Tensor):
                raise BadInput(f"{self.at}, returns {result}, which is no tensor.")
        for name, value in tried.values.items():
            if isinstance(value, Tensor) and value.is_complex():
                raise BadInput(
                    f"{self.at}: {name} is complex, and complex tensors cannot be explained. Write"
                    " it with the real and the imaginary part as tensors of their own."
                )
        if not any(is_differentiable(tried.values[result]) for result in self.returned):
            raise BadInput(f"{self.at}, returns no floating-point tensor.")
        inputs = {name: tried.values[name] for name in self.program.inputs}
        leaves = {n: v.clone().requires_grad_() for n, v in inputs.items() if is_differentiable(v)}
        with torch.enable_grad():
            values = self.program.run({**inputs, **leaves})
        if not any(values[result].requires_grad for result in self.returned):
            raise BadInput(f"{self.at}, returns nothing that passes a gradient to its inputs.")
        program = replace(self.program, tried=tried)
        used = {name for passed in program.passes.values() for name in passed}
        needing = frozenset(leaves.keys() & used) - self._constant_tensors()
        return replace(self, program=program, tried=tried, needing=needing)

    def _constant_tensors(self) -> set[str]:
        """The inputs of which their author says that they need no gradient."""
        parameters = inspect.signature(self.function, eval_str=True).parameters
        kept = {
            name
            for name in self.program.inputs
            if Constant in getattr(parameters[name].annotation, "__metadata__", ())
        }
        drawn = self._draw(torch.Generator().manual_seed(0), self._sizes(0))
        if any(value.requires_grad for value in drawn.values()):
            kept |= {name for name, value in drawn.items() if not value.requires_grad}
        return kept

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
        return widened(references, seed, self._draw(torch.Generator(), hidden[-1].sizes))

    def check_numbers(self, references: References, asked: Iterable[str]) -> None:
        """`BadInput` if autograd's gradient of an input, or one of `asked`, is NaN: none is right.

        So if what is returned is NaN.
        """
        for reference in references.hidden:
            values, gradients = reference.instance.values, reference.gradients
            wanted = [*(gradients[n] for n in (*self.program.inputs, *asked) if n in gradients)]
            results = [values[name] for name in self.returned if name in gradients]
            if not any(one.isnan().any() for one in (*wanted, *results)):
                continue
            step = self.program.first_nan(values)
            if step is not None:
                masked = [values[n] for n in step.reads if is_differentiable(values[n])]
                is_masked = any((one == -torch.inf).all(-1).any() for one in masked if one.dim())
                why = ", because a row has nothing but -inf" if is_masked else ""
                raise BadInput(
                    f"{self._where(step)} gives NaN for some numbers{why}: draw others, by a"
                    " function for `inputs`."
                )
            broken = (s for s in self.program.steps[::-1] if self._breaks(s, gradients))
            step = next(broken, self.program.steps[-1])
            raise BadInput(
                f"{self._where(step)}: autograd itself makes NaN here, because the slope of this"
                " step is infinite for some numbers (as that of a root is at 0). So there is no"
                " right gradient to compare with: draw others, by a function for `inputs`, or keep"
                " the step away from them."
            )

    @staticmethod
    def _breaks(step: Step, gradients: Mapping[str, Tensor]) -> bool:
        """Whether finite gradients become others on the way back through a step."""
        behind = [gradients[name] for name in step.reads if name in gradients]
        is_finite = step.name in gradients and bool(gradients[step.name].isfinite().all())
        return is_finite and not all(one.isfinite().all() for one in behind)

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
        if self.shown and row == len(SIZES) - 1:
            return dict(self.shown)
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
