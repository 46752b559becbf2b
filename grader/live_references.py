"""Autograd's gradients at a notebook's own values, kept while those values stay the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from grader.program import ForwardProgram

Tensors = dict[str, Tensor]

_KEPT: dict[str, tuple[int, Tensors, Tensors]] = {}
"""For each program: the number of threads and the inputs seen last, with their gradients."""


def live_references(program: ForwardProgram, inputs: Mapping[str, Any]) -> Tensors:
    """The gradient of every tensor of the program, from autograd or from the last time.

    Nobody may change them. What a program makes of unfit inputs is raised as it is.

    Args:
        program: the exercise's forward program.
        inputs: the notebook's values, by name; whatever stands under those names.
    """
    # Another number of threads gives other last bits, and `exact` is about those.
    threads = torch.get_num_threads()
    kept_threads, before, gradients = _KEPT.get(program.name, (0, {}, {}))
    if threads == kept_threads and _are_same(inputs, before):
        return gradients
    gradients = program.gradients(inputs)
    if all(isinstance(value, Tensor) for value in inputs.values()):
        # Copies: training changes parameters in place.
        copies = {name: value.detach().clone() for name, value in inputs.items()}
        _KEPT[program.name] = threads, copies, gradients
    return gradients


def _are_same(inputs: Mapping[str, object], before: Mapping[str, Tensor]) -> bool:
    return inputs.keys() == before.keys() and all(
        isinstance(value, Tensor)
        and value.dtype == before[name].dtype
        and torch.equal(value, before[name])
        for name, value in inputs.items()
    )
