"""Which path of the forward pass a wrong gradient has counted wrongly, told from values alone.

The difference between a wrong gradient and the right one often is the flow through one edge of the
forward pass, a tensor that a step reads, times a number. So no line of the backward pass has to be
read: it may be a kernel in C++, CUDA or Triton.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.diagnosis.factors import Factor, name_factor
from grader.diagnosis.kinds import Kind, hint
from grader.printable import listed
from grader.program.forward_program import ForwardProgram
from grader.program.instances import Instance
from grader.verdict import Diagnosis

FITS = 1e-8
"""Part of the difference that may be left over by an edge that explains it."""

PLAIN = {
    0.0: (Kind.MISSING_BRANCH, "is missing", "are zero"),
    2.0: (Kind.CONSTANT_FACTOR, "is counted twice", "are twice what they should be"),
    -1.0: (Kind.SIGN, "has the wrong sign", "have the wrong sign"),
}
"""What is said of the likeliest numbers, of a path and of whole gradients."""

Edge = tuple[str, str]
"""A name, and a step that reads it."""


@dataclass(frozen=True, slots=True)
class _Path:
    """Edges one behind the other, which count `factor` times what they should."""

    edges: tuple[Edge, ...]
    factor: Factor
    is_all: bool

    @property
    def is_plain(self) -> bool:
        return not self.factor.sizes and self.factor.number in PLAIN

    def told(self, names: Sequence[str], program: ForwardProgram, instance: Instance) -> Diagnosis:
        """The path in words; `names` are the tensors whose gradients are wrong."""
        steps = [self.edges[0][0], *(step for _, step in self.edges if step != program.loss)]
        times = self.factor.at(instance.sizes)
        kind = Kind.BESSEL if self.factor.is_bessel else Kind.CONSTANT_FACTOR
        said = f"is {times} times what it should be"
        all_said = f"are {times} times what they should be"
        if self.is_plain:
            kind, said, all_said = PLAIN[self.factor.number]
        if self.is_all:
            said = f"All numbers in {listed([f'`d{name}`' for name in names])} {all_said}."
        elif len(steps) == 1:
            said = f"What arrives at `{steps[0]}` {said}."
        else:
            said = f"What comes back along `{' -> '.join(steps)}` {said}."
        return Diagnosis(kind, said, hint(kind, f"d{names[0]}"))


def find_path(
    program: ForwardProgram,
    instances: Sequence[Instance],
    returned: Sequence[Mapping[str, Tensor]],
    names: Sequence[str],
) -> Diagnosis | None:
    """The one path that explains what is wrong with the gradients of all `names`.

    Args:
        program: the forward pass.
        instances: of several sizes.
        returned: the gradients by tensor, on each of these.
        names: the tensors whose gradients count.
    """
    fits: dict[Edge, list[float]] = {
        (name, step): [] for step, passed in program.passes.items() for name in passed
    }
    wrong, is_all = set[str](), dict[Edge, bool]()
    for instance, found in zip(instances, returned, strict=True):
        right = gradients(program, instance, names)
        if any(found[name].shape != right[name].shape for name in names):
            return None
        off = {name: found[name] - right[name] for name in names}
        wrong |= {name for name in names if off[name].norm() > FITS * right[name].norm()}
        difference, whole = _flat(off), _flat(right)
        for edge in [*fits]:
            flow = whole - _flat(gradients(program, instance, names, edge))
            times = float(difference @ flow / (flow @ flow))
            if not (difference - times * flow).norm() < FITS * difference.norm():
                del fits[edge]  # of no flow, too: `times` is NaN
                continue
            fits[edge].append(round(1 + times, 9))
            is_all[edge] = bool((whole - flow).norm() < FITS * whole.norm())
    paths = [*_paths(fits, is_all, instances)]
    plain = [path for path in paths if path.is_plain]
    likely = plain or paths
    if len(likely) != 1 or not wrong:
        return None
    return likely[0].told([name for name in names if name in wrong], program, instances[-1])


def _paths(
    fits: Mapping[Edge, list[float]], is_all: Mapping[Edge, bool], instances: Sequence[Instance]
) -> Iterator[_Path]:
    """The edges that explain the difference, those one behind the other together."""
    left = [*fits]
    while left:
        path = [left.pop(0)]
        for edge in [*left]:
            if edge[0] == path[-1][1] and fits[edge] == fits[path[0]]:
                path.append(edge)
                left.remove(edge)
        factor = name_factor(fits[path[0]], [instance.sizes for instance in instances])
        if factor is not None:
            yield _Path(tuple(path), factor, is_all[path[0]])


@torch.enable_grad()
def gradients(
    program: ForwardProgram, instance: Instance, names: Sequence[str], shut: Edge | None = None
) -> dict[str, Tensor]:
    """Autograd's gradients, without what flows through an edge that is shut."""
    leaves = {name: instance.values[name].clone().requires_grad_() for name in names}
    values = {**{name: instance.values[name] for name in program.inputs}, **leaves}
    for step in program.steps:
        read = values
        if shut is not None and shut[1] == step.name:
            read = {**values, shut[0]: values[shut[0]].detach()}
        values[step.name] = program.evaluate(step, read)
    loss = values[program.loss]
    if not loss.requires_grad:
        return {name: torch.zeros_like(leaf) for name, leaf in leaves.items()}
    found = torch.autograd.grad(loss, [*leaves.values()], allow_unused=True, materialize_grads=True)
    return dict(zip(leaves, found, strict=True))


def _flat(several: Mapping[str, Tensor]) -> Tensor:
    return torch.cat([one.reshape(-1) for one in several.values()])
