"""What a step and its learning rate are tried on."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import torch

from grader.notebook.training.trial import HALF, N_HIDDEN, Part, is_close, name_mistake
from grader.printable import listed
from makemore_data.model.parameters import Parameters
from makemore_data.training.train import ALL_STEPS, begin_run


def try_update(function: Part) -> str:
    """Take one step of length 0.5 with gradients that are known."""
    parameters, g = begin_run(N_HIDDEN).parameters, torch.Generator().manual_seed(1)
    before = [parameter.clone() for parameter in parameters]
    gradients = [torch.randn(parameter.shape, generator=g) for parameter in parameters]
    kept = [gradient.clone() for gradient in gradients]
    function(parameters, gradients, 0.5)
    moves = [now - then for now, then in zip(parameters, before, strict=True)]

    if not all(map(torch.equal, gradients, kept)):
        return "It changes the gradients. Only the parameters are to change."
    if not any(move.any() for move in moves):
        return (
            "No parameter has changed: nothing would be learnt. The tensors themselves have to"
            " change, in place; `p = p - ...` makes new ones and leaves them as they are."
        )

    def is_it(names: Mapping[str, Any]) -> bool:
        pairs = zip(moves, names["moves"], strict=True)
        # The parameters are rounded, and their differences with them.
        return all(bool(((move - due).abs() < 1e-5).all()) for move, due in pairs)

    if is_it({"moves": [-0.5 * d for d in kept]}):
        return ""
    given = {"parameters": before, "gradients": kept, "rate": 0.5}
    if said := name_mistake("update", given, is_it):
        return said
    still = [n for n, move in zip(Parameters._fields, moves, strict=True) if not move.any()]
    if still:
        return f"{listed(still)} did not change: all seven parameters have to."
    for name, move, gradient in zip(Parameters._fields, moves, kept, strict=True):
        off = (move + 0.5 * gradient).abs()
        worst = off.argmax()
        # NaN is not close to anything.
        if not bool((off < 1e-5).all()):
            d = float(gradient.flatten()[worst])
            return (
                f"A number of {name} with the gradient {d:.3f} moves by"
                f" {float(move.flatten()[worst]):.3f}. At the learning rate 0.5 it has to go"
                f" {0.5 * abs(d):.3f} {'down' if d > 0 else 'up'}."
            )
    return ""


def try_learning_rate(function: Part) -> str:
    """Ask for the learning rate at the beginning, at the end and around half time."""
    last = ALL_STEPS - 1
    falls_once = is_close(function(HALF // 2), 0.01) and is_close(function(last), 0.01)
    for step in (0, 1) if falls_once else (0, 1, HALF // 2):
        if not is_close(given := function(step), 0.1):
            lost = " Is there a `return`?" if given is None else ""
            found = f"{given:.4g}" if isinstance(given, float) else repr(given)
            if step and _falls_all_the_time(function):
                lost = f" It falls all the time: it has to fall once, at step {HALF:,}."
            return f"At step {step:,} it gives {found}; 0.1 is due.{lost}"
    if is_close(function(last), 0.1):
        if is_close(function(HALF), 0.01):
            return f"It falls to 0.01 at step {HALF:,}, but at step {last:,} it is 0.1 again."
        return f"It is still 0.1 at step {last:,}: it never falls."
    low, high = 0, last  # at `low` it is 0.1 still, at `high` no longer
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_close(function(middle), 0.1) else (low, middle)
    if high != HALF:
        first = " (The first step has the number 0.)" if abs(high - HALF) == 1 else ""
        return f"It falls at step {high:,}, and not at {HALF:,}.{first}"
    for step in (HALF, HALF + 1, last):
        if not is_close(function(step), 0.01):
            return f"At step {step:,} it gives {function(step)!r}; 0.01 is due."
    return ""


def _falls_all_the_time(function: Part) -> bool:
    """True if it is lower at each quarter of the first half of the training."""
    rates = [function(HALF * quarter // 4) for quarter in range(5)]
    return all(isinstance(rate, float) for rate in rates) and all(
        later < rate for rate, later in pairwise(rates)
    )
