"""The exercises of the course: a forward program with the gradients asked for."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType

from torch import Tensor

from makemore_data.model import forward

LECTURE_SIZES = MappingProxyType(
    {"n": 32, "block_size": 3, "vocab_size": 27, "n_embd": 10, "n_hidden": 64}
)
"""Batch, context length, characters, embedding and hidden units of the lecture's network."""


@dataclass(frozen=True, slots=True, eq=False)
class Exercise:
    """A forward function with the gradients to be written, from the loss down.

    `prefix` is what the ids of its answer cells begin with, up to a hyphen; `notebook` is the name
    of the notebook it belongs to; `sizes` are those of the instance that is shown to the student.
    """

    prefix: str
    notebook: str
    forward: Callable[..., Tensor]
    gradients: tuple[str, ...]
    sizes: Mapping[str, int]


def _lecture_sizes(*names: str) -> Mapping[str, int]:
    return MappingProxyType({name: LECTURE_SIZES[name] for name in names})


ATOMIC = Exercise(
    prefix="ex1",
    notebook="01_atomic_backprop",
    forward=forward.atomic,
    gradients=(
        *("dlogprobs", "dprobs", "dcounts_sum_inv", "dcounts_sum", "dcounts"),
        *("dnorm_logits", "dlogit_maxes", "dlogits", "dh", "dW2", "db2", "dhpreact"),
        *("dbngain", "dbnbias", "dbnraw", "dbnvar_inv", "dbnvar", "dbndiff2", "dbndiff"),
        *("dbnmeani", "dhprebn", "dembcat", "dW1", "db1", "demb", "dC"),
    ),
    sizes=LECTURE_SIZES,
)

FUSED_CROSS_ENTROPY = Exercise(
    prefix="ex2",
    notebook="02_fused_cross_entropy",
    forward=forward.fused_cross_entropy,
    gradients=("dlogits",),
    sizes=_lecture_sizes("n", "vocab_size"),
)

SMOOTHED_CROSS_ENTROPY = Exercise(
    prefix="ex2s",
    notebook="02_fused_cross_entropy",
    forward=forward.smoothed_cross_entropy,
    gradients=("dz",),
    sizes=_lecture_sizes("n", "vocab_size"),
)

FUSED_BATCHNORM = Exercise(
    prefix="ex3",
    notebook="03_fused_batchnorm",
    forward=forward.batchnorm,
    gradients=("dbngain", "dbnbias", "dxhat", "dvar", "dmu", "dhprebn"),
    sizes=_lecture_sizes("n", "n_hidden"),
)

TRAINING = Exercise(
    prefix="ex4",
    notebook="04_manual_training",
    forward=forward.fused_forward,
    gradients=(
        *("dlogits", "dh", "dW2", "db2", "dhpreact", "dbngain", "dbnbias", "dhprebn"),
        *("dembcat", "dW1", "db1", "demb", "dC"),
    ),
    sizes={**LECTURE_SIZES, "n_hidden": 200},
)

EXERCISES = (
    ATOMIC,
    FUSED_CROSS_ENTROPY,
    SMOOTHED_CROSS_ENTROPY,
    FUSED_BATCHNORM,
    TRAINING,
)
"""Every exercise, in the order of the course."""

NOTEBOOKS: Mapping[str, tuple[Exercise, ...]] = MappingProxyType(
    {name: tuple(group) for name, group in itertools.groupby(EXERCISES, attrgetter("notebook"))}
)
"""The exercises of each notebook, by the notebook's name."""
