"""The values that answers run on, and those that siblings should have."""

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
    """The values that every answer to an exercise is run on.

    The lecture's instance, the hidden ones, and for each of these the random upstreams: nothing
    that autograd has said.
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
    """What gradients should be on each hidden instance, given what arrives there.

    What is not an upstream of a gradient has to fit those that are: the random ones, or what
    arrives in the end as a value of the forward pass.
    """
    program, names = references.program, sorted(gradients)
    ends = {*program.arrivals().values()}
    readers = (frozenset(program.readers(name[1:])) for name in names)
    given = (steps if steps.isdisjoint(ends) else frozenset[str]() for steps in readers)
    right = [references.local_vjps(name[1:], one) for name, one in zip(names, given, strict=True)]
    return [dict(zip(names, values, strict=True)) for values in zip(*right, strict=True)]


def right_from_loss(references: References, gradients: Set[str]) -> list[Group]:
    """What gradients are on each hidden instance where a random number arrives at the loss.

    All of them fit each other. What arrives from outside, as a value of the forward pass, is so
    many times what it was.
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
    """A key that no other values of this process have."""
    return f"values-{next(_KEYS)}"


def _group(instance: Instance, numbers: Mapping[str, float]) -> Group:
    kinds = (Tensor, int, float)
    values = {name: v for name, v in instance.values.items() if isinstance(v, kinds)}
    return {**numbers, **instance.sizes, **values}
