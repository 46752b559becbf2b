"""The values that answers run on, and the values that siblings should have."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Set
from functools import lru_cache

from torch import Tensor

from grader.program.instances import Instance
from grader.program.references import References
from grader.worker.job import Group, Values

_KEYS = itertools.count()


@lru_cache(maxsize=64)  # a course has some exercises; `explain` makes new references each time
def values_for(references: References, gradients: tuple[str, ...]) -> Values:
    """Collect the values on which every answer to an exercise runs.

    These are the lecture's instance, the hidden ones, and random upstreams for each of the latter.
    They contain no result of autograd.
    """
    numbers = references.program.numbers()
    groups: dict[str, Group] = {"lecture": _group(references.lecture, numbers)}
    for number, reference in enumerate(references.hidden):
        groups[f"hidden{number}"] = _group(reference.instance, numbers)
        upstreams = {
            name: reference.cotangents[name[1:]]
            for name in gradients
            if name[1:] in reference.cotangents
        }
        groups[f"upstream{number}"] = upstreams
    return Values(new_key(), groups)


def right_beside(references: References, gradients: Set[str]) -> list[Group]:
    """Compute the right gradients on each hidden instance, for the upstreams that arrive there.

    A gradient that is not an upstream has to agree with those that are: the random ones, or those
    that arrive as values of the forward pass.
    """
    program, names = references.program, sorted(gradients)
    ends = {*program.arrivals().values()}
    readers = (frozenset(program.readers(name[1:])) for name in names)
    given = (steps if steps.isdisjoint(ends) else frozenset[str]() for steps in readers)
    right = [references.local_vjps(name[1:], one) for name, one in zip(names, given, strict=True)]
    return [dict(zip(names, values, strict=True)) for values in zip(*right, strict=True)]


def right_from_loss(references: References, gradients: Set[str]) -> list[Group]:
    """Compute the gradients on each hidden instance if a random number arrives at the loss.

    All of them agree with each other. Gradients that arrive as values of the forward pass are
    multiplied by the same number.
    """
    arriving = references.program.arrivals()
    return [
        {
            **{name: one.from_loss(name[1:]) for name in sorted(gradients)},
            **{name: one.at_loss * one.instance.values[name] for name in sorted(arriving)},
        }
        for one in references.hidden
    ]


def new_key() -> str:
    """Make a key that no other values in this process have."""
    return f"values-{next(_KEYS)}"


def _group(instance: Instance, numbers: Mapping[str, float]) -> Group:
    kinds = (Tensor, int, float)
    values = {name: v for name, v in instance.values.items() if isinstance(v, kinds)}
    return {**numbers, **instance.sizes, **values}
