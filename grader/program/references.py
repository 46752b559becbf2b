"""References: autograd's gradients of a forward program, on the instances of an exercise."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache

import torch
from torch import Tensor

from grader.program.compare import FLOAT64_NOISE, agrees
from grader.program.course import BadCourse
from grader.program.exercises import Exercise
from grader.program.forward_program import ForwardProgram, NotAForwardProgram, is_differentiable
from grader.program.instances import Instance
from grader.program.parse import parse_program, source_of

SEED = 2147483647
"""The seed of the instances, unless the caller has another. It is the lecture's own."""

NEGLIGIBLE = 1e-10
"""A float64 gradient this small, beside the terms it is made of, may be rounding noise."""

MOST_TRIES = 50
"""How many instances to draw of a small batch, until one of them contains the largest index."""

NUDGE, STEADY = 1e-9, 1e-3
"""If the inputs move by the first number, relative to their size, a gradient moves by less than the
second.

Rounding noise moves by more, and this tells it from a small gradient, such as that of
`y = x * 1.6e-19`.
"""


@dataclass(slots=True, eq=False)
class Reference:
    """The reference gradients of one instance, with the random upstream gradients of local checks.

    `gradients` and `cotangents` are keyed by tensor ("logits") and have the tensor's shape. The
    cotangents are standard normal. They are bound to the names `d<step>` while a gradient's own
    statements run. `at_loss` is a random upstream gradient of the loss itself, between 0.5 and 1.5.
    """

    program: ForwardProgram
    instance: Instance
    gradients: dict[str, Tensor]
    cotangents: dict[str, Tensor]
    at_loss: float
    _slopes: dict[str, dict[str, Tensor]] = field(default_factory=dict)
    _magnitudes: dict[str, float] = field(default_factory=dict)
    _vjps: dict[tuple[object, ...], Tensor] = field(default_factory=dict)

    def local_vjp(
        self,
        name: str,
        given: Set[str],
        zeroed: Set[str] = frozenset(),
        through: str | None = None,
    ) -> Tensor:
        """The gradient of `name` from the random upstream gradients of the steps in `given`.

        The steps in `zeroed` count as given, with a gradient of zero. If `through` names a reader
        of `name`, only the contribution of that reader is returned.
        """
        key = (name, frozenset(given), frozenset(zeroed), through)
        if key not in self._vjps:
            upstream = {
                step: torch.zeros_like(cotangent) if step in zeroed else cotangent
                for step, cotangent in self.cotangents.items()
                if step in given or step in zeroed
            }
            self._vjps[key] = self.program.vjp(self.instance.values, name, upstream, through)
        return self._vjps[key]

    def from_loss(self, name: str) -> Tensor:
        """The gradient of `name` if the gradient of the loss is `at_loss` instead of 1."""
        return self.at_loss * self.gradients[name]

    def arriving(self, name: str) -> dict[str, Tensor]:
        """The random upstream gradients of the steps that read `name`."""
        readers = self.program.readers(name)
        return {step: given for step, given in self.cotangents.items() if step in readers}

    def vjp_of_some(self, name: str, reader: str, axis: int, index: int, only: bool) -> Tensor:
        """The local VJP of `name` if only a part of one reader's upstream gradient is passed on.

        The part is the one at `index` of `axis` if `only` is true, and otherwise everything else.
        """
        key = (name, reader, axis, index, only)
        if key not in self._vjps:
            upstream = self.arriving(name)
            mask = torch.full_like(upstream[reader], 0.0 if only else 1.0)
            mask.select(axis, index).fill_(1.0 if only else 0.0)
            upstream[reader] = upstream[reader] * mask
            self._vjps[key] = self.program.vjp(self.instance.values, name, upstream)
        return self._vjps[key]

    def slopes(self, name: str) -> Mapping[str, Tensor]:
        """The slopes of those readers of `name` that work element by element, if they vary."""
        if name not in self._slopes:
            readers = (r for r in self.program.readers(name) if r in self.cotangents)
            found = ((reader, self._slope(name, reader)) for reader in readers)
            self._slopes[name] = {reader: slope for reader, slope in found if slope is not None}
        return self._slopes[name]

    def _slope(self, name: str, reader: str) -> Tensor | None:
        values, upstream = self.instance.values, self.cotangents[reader]
        copies = max(1, upstream.numel() // max(1, values[name].numel()))
        ones = {reader: torch.ones_like(upstream)}
        slope = self.program.vjp(values, name, ones, through=reader) / copies
        through = self.local_vjp(name, {reader}, through=reader)
        try:
            works_alone = agrees(slope * upstream.sum_to_size(slope.shape), through)
        except RuntimeError:  # the reader is not a copy of the tensor
            return None
        return slope if works_alone and bool((slope != slope.flatten()[0]).any()) else None

    def magnitude(self, name: str) -> float:
        """The size that the gradient of `name` would have if none of its terms cancelled."""
        if name not in self._magnitudes:
            local = self.local_vjp(name, frozenset(self.program.readers(name)))
            others = (g for step, g in self.gradients.items() if step != self.program.loss)
            largest = max(float(values.abs().max()) for values in (local, *others))
            self._magnitudes[name] = largest
        return self._magnitudes[name]


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """The references of an exercise: a few hidden float64 instances of one program.

    `lecture` is the float32 instance with the sizes that the student sees, and `lecture_gradients`
    are autograd's gradients on it, by tensor. `zero_by_structure` holds the tensors whose gradient
    is zero for every input although their readers' gradients are not, such as a bias before a
    normalisation. `beside_zero` holds the tensors that have one of them for a reader, so that this
    branch shows in no value. `lengths` maps, for each hidden instance, the length of each axis to
    its length in the lecture: where the lecture has (32, 27), the instance has (7, 11). All sizes
    of an instance differ, so that a length tells which size it is. `as_lecture` is the exercise's.
    """

    hidden: tuple[Reference, ...]
    zero_by_structure: frozenset[str]
    lecture: Instance
    lecture_gradients: Mapping[str, Tensor]
    lengths: tuple[Mapping[int, int], ...]
    beside_zero: frozenset[str]
    as_lecture: bool = False
    _idle: dict[tuple[str, frozenset[str]], str | None] = field(default_factory=dict)

    @property
    def program(self) -> ForwardProgram:
        """The forward program of all instances."""
        return self.hidden[0].program

    def gradients(self, name: str) -> list[Tensor]:
        """Autograd's gradient of `name` on each hidden instance."""
        return [reference.gradients[name] for reference in self.hidden]

    def local_vjps(
        self, name: str, given: Set[str], zeroed: Set[str] = frozenset()
    ) -> list[Tensor]:
        """`Reference.local_vjp` on each hidden instance."""
        return [reference.local_vjp(name, given, zeroed) for reference in self.hidden]

    def idle_branch(self, name: str, given: Set[str]) -> str | None:
        """Find a branch that passes nothing on to `name`, whatever the gradients of `given` are.

        The branch leaves a tensor that one of these steps reads as well. In a batch normalisation,
        for example, the gradients that come back through the squares to the differences add up to
        zero at the mean.
        """
        key = (name, frozenset(given))
        if key not in self._idle:
            self._idle[key] = self._find_idle_branch(name, given)
        return self._idle[key]

    def _find_idle_branch(self, name: str, given: Set[str]) -> str | None:
        program = self.program
        for readers in map(program.readers, program.reached(name, given)):
            beside = set[str]() if given.isdisjoint(readers) else {*readers} - {*given}
            for branch in sorted(beside - {program.loss}):
                whole, without = (self.local_vjps(name, given, out) for out in (set(), {branch}))
                if all(map(_are_alike, without, whole)):
                    return branch
        return None

    def floors(self, name: str) -> list[float]:
        """For each instance, the size to compare with if the reference is mere rounding noise."""
        is_zero = name in self.zero_by_structure
        return [reference.magnitude(name) if is_zero else 0.0 for reference in self.hidden]


def prepare(exercise: Exercise, seed: int = SEED) -> References:
    """Draw an exercise's instances and ask autograd for their gradients, once a process.

    Raises:
        BadCourse: the forward pass does not run on every size, or a line makes several tensors.
        MemoryError: the instances need more memory than there is.
    """
    return _prepare(exercise, seed)


@cache  # not on `prepare`, to which a default that is given is a call of its own
def _prepare(exercise: Exercise, seed: int) -> References:
    program = parse_program(exercise.forward)
    try:
        if exercise.as_lecture:
            return _of_lecture(program, exercise.sizes, seed)
        return make_references(program, exercise.sizes, seed)
    except MemoryError:
        raise
    except NotAForwardProgram as error:
        raise BadCourse(f"{inspect.getfile(exercise.forward)}: {error}") from error
    except Exception as error:  # the author sees whatever a line raises
        if exercise.as_lecture:
            raise BadCourse(
                f"{exercise.notebook} is not graded, because the notebook's own forward pass does "
                f"not run ({type(error).__name__}: {error})."
            ) from error
        here = program.steps[0].code.co_filename
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == here]
        line = lines[-1] if lines else source_of(exercise.forward)[0].lineno
        raise BadCourse(
            f"{inspect.getfile(exercise.forward)}: {program.name}, line {line}, does not run on "
            f"every size, {dict(exercise.sizes)} and the hidden ones "
            f"({type(error).__name__}: {error}). Is one written out as a number?"
        ) from error


def _of_lecture(program: ForwardProgram, sizes: Mapping[str, int], seed: int) -> References:
    """References on instances with the lecture's sizes, each with the largest index if possible."""

    def draw(seed: int, dtype: torch.dtype) -> Instance:
        for number in range(MOST_TRIES):
            tried = program.instance(sizes, seed + number, dtype)
            inputs = (tried.values[name] for name in program.inputs)
            indices = (value for value in inputs if not is_differentiable(value))
            if all(int(index.max()) + 1 in sizes.values() for index in indices):
                return tried
        return program.instance(sizes, seed, dtype)

    hidden = [draw(seed + MOST_TRIES * number, torch.float64) for number in (1, 2)]
    found = references_on(draw(seed, torch.float32), hidden, program, seed)
    return replace(found, as_lecture=True)


def make_reference(program: ForwardProgram, instance: Instance, seed: int) -> Reference:
    """Ask autograd for the gradients of one instance, and draw its random upstream gradients.

    If the program has an input that is an upstream gradient, it is used instead of a random one.
    """
    inputs = {name: instance.values[name] for name in program.inputs}
    generator = torch.Generator().manual_seed(seed)
    cotangents = {
        name: torch.randn(value.shape, generator=generator, dtype=value.dtype)
        for name, value in instance.values.items()
        if is_differentiable(value) and name != program.loss
    }
    at_loss = 0.5 + float(torch.rand((), generator=generator, dtype=torch.float64))
    cotangents |= {step: instance.values[name] for name, step in program.arriving.items()}
    return Reference(program, instance, program.gradients(inputs), cotangents, at_loss)


def make_references(program: ForwardProgram, sizes: Mapping[str, int], seed: int) -> References:
    """The references of a program, on the lecture's `sizes` and on its hidden instances."""
    lecture = program.instance(sizes, seed, torch.float32)
    return references_on(lecture, program.hidden_instances(seed + 1), program, seed)


def references_on(
    lecture: Instance, hidden: Sequence[Instance], program: ForwardProgram, seed: int
) -> References:
    """The references of a program on these instances; the seed gives the upstream gradients."""
    program = replace(program, tried=hidden[0])
    gradients = program.gradients({name: lecture.values[name] for name in program.inputs})
    references = tuple(
        make_reference(program, instance, seed + 1001 + number)
        for number, instance in enumerate(hidden)
    )
    lengths = tuple(_lengths(reference, gradients) for reference in references)
    zeros = _find_zero_by_structure(references)
    beside = (name for name in program.names if not zeros.isdisjoint(program.readers(name)))
    return References(references, zeros, lecture, gradients, lengths, frozenset(beside))


def _are_alike(one: Tensor, other: Tensor) -> bool:
    return agrees(one, other, tolerance=FLOAT64_NOISE)


def _lengths(reference: Reference, lecture: Mapping[str, Tensor]) -> dict[int, int]:
    return {
        hidden: at_lecture
        for name, gradient in reference.gradients.items()
        if name in lecture
        for hidden, at_lecture in zip(gradient.shape, lecture[name].shape, strict=True)
    }


def _find_zero_by_structure(hidden: Sequence[Reference]) -> frozenset[str]:
    def is_small(reference: Reference, name: str) -> bool:
        largest = float(reference.gradients[name].abs().max())
        return largest <= NEGLIGIBLE * reference.magnitude(name)

    small = [
        name
        for name in hidden[0].cotangents
        if all(is_small(reference, name) for reference in hidden)
    ]
    zero = {name for name in small if not any(one.gradients[name].any() for one in hidden)}
    if len(zero) < len(small):
        moved = [nudged(reference, number) for number, reference in enumerate(hidden)]
        pairs = list(zip(hidden, moved, strict=True))
        zero |= {
            name
            for name in small
            if not all(
                agrees(again[name], one.gradients[name], tolerance=STEADY) for one, again in pairs
            )
        }
    return frozenset(zero)


def nudged(reference: Reference, seed: int) -> dict[str, Tensor]:
    """The gradients if all inputs, and the gradient of the loss, are a little different."""
    generator = torch.Generator().manual_seed(seed)
    inputs = {name: reference.instance.values[name] for name in reference.program.inputs}
    for name, value in inputs.items():
        if is_differentiable(value):
            noise = torch.randn(value.shape, generator=generator, dtype=value.dtype)
            inputs[name] = value * (1 + NUDGE * noise)
    arriving = reference.at_loss
    return {
        name: gradient / arriving
        for name, gradient in reference.program.gradients(inputs, arriving).items()
    }
