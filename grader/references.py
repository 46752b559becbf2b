"""References: what autograd says about a forward program on one hidden instance."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field

import torch
from torch import Tensor

from grader.instances import Instance, make_hidden_instances
from grader.program import ForwardProgram, is_differentiable

NEGLIGIBLE = 1e-10
"""A float64 gradient this small beside what it is made of is rounding noise around zero."""


@dataclass(slots=True, eq=False)
class Reference:
    """Reference gradients of one instance, with the random upstreams of its local checks.

    `gradients` and `cotangents` are keyed by tensor ("logits"), with the tensor's shape. The
    cotangents are standard normal: they stand under the names `d<step>` while a gradient's own
    statements run.
    """

    program: ForwardProgram
    instance: Instance
    gradients: dict[str, Tensor]
    cotangents: dict[str, Tensor]
    _magnitudes: dict[str, float] = field(default_factory=dict)
    _vjps: dict[tuple[str, frozenset[str], frozenset[str]], Tensor] = field(default_factory=dict)

    def local_vjp(self, name: str, given: Set[str], zeroed: Set[str] = frozenset()) -> Tensor:
        """The gradient of `name` from the random upstreams of the steps in `given`.

        Those in `zeroed` count as given, with a gradient of zero.
        """
        key = (name, frozenset(given), frozenset(zeroed))
        if key not in self._vjps:
            upstream = {
                step: torch.zeros_like(cotangent) if step in zeroed else cotangent
                for step, cotangent in self.cotangents.items()
                if step in given or step in zeroed
            }
            self._vjps[key] = self.program.vjp(self.instance.values, name, upstream)
        return self._vjps[key]

    def magnitude(self, name: str) -> float:
        """The size that the gradient of `name` would have if nothing in it cancelled."""
        if name not in self._magnitudes:
            local = self.local_vjp(name, frozenset(self.program.readers(name)))
            others = (g for step, g in self.gradients.items() if step != self.program.loss)
            largest = max(float(values.abs().max()) for values in (local, *others))
            self._magnitudes[name] = largest
        return self._magnitudes[name]


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """The references of an exercise: a few hidden instances, one program.

    `zero_by_structure` are the tensors whose gradient is zero for every input although their
    readers' gradients are not, such as a bias before a normalisation.
    """

    hidden: tuple[Reference, ...]
    zero_by_structure: frozenset[str]

    @property
    def program(self) -> ForwardProgram:
        return self.hidden[0].program


def make_reference(program: ForwardProgram, instance: Instance, seed: int) -> Reference:
    """Ask autograd for the gradients of one instance; draw its random upstreams."""
    inputs = {name: instance.values[name] for name in program.inputs}
    generator = torch.Generator().manual_seed(seed)
    cotangents = {
        name: torch.randn(value.shape, generator=generator, dtype=value.dtype)
        for name, value in instance.values.items()
        if is_differentiable(value) and name != program.loss
    }
    return Reference(program, instance, program.gradients(inputs), cotangents)


def make_references(program: ForwardProgram, seed: int) -> References:
    """The references of a program on its hidden instances."""
    hidden = tuple(
        make_reference(program, instance, seed + 1000 + number)
        for number, instance in enumerate(make_hidden_instances(program, seed))
    )
    return References(hidden, _find_zero_by_structure(hidden))


def _find_zero_by_structure(hidden: Sequence[Reference]) -> frozenset[str]:
    def is_zero(reference: Reference, name: str) -> bool:
        largest = float(reference.gradients[name].abs().max())
        return largest <= NEGLIGIBLE * reference.magnitude(name)

    return frozenset(
        name
        for name in hidden[0].cotangents
        if all(is_zero(reference, name) for reference in hidden)
    )
