"""What the parts of a training loop are tried on, and the mistakes that are known by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from grader.printable import listed
from makemore_data.model.parameters import Parameters
from makemore_data.training.train import (
    ALL_STEPS,
    BATCH,
    Run,
    begin_run,
    learning_rate,
)

Part = Callable[..., Any]
Trial = Callable[[Part], str]
"""Runs a function of a student's; what is wrong with it as a sentence, or ""."""

N_HIDDEN, BLOCK_SIZE, WINDOWS = 7, 3, 150
HALF = ALL_STEPS // 2
MOST_CALLS = 300
"""So often a part may ask for gradients or predictions; it needs a few."""
TOLERANCE = 1e-4
"""Of the largest number of a tensor: how far a float32 result may be off."""


class Endless(BaseException):
    """Raised in a part that does not end, which no `except Exception` stops; says why."""


def is_close(value: object, expected: Tensor | float) -> bool:
    """True for finite numbers of the same shape that are the same up to rounding."""
    try:
        found = torch.as_tensor(value, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):  # it is no number, nor a tensor of numbers
        return False
    wanted = torch.as_tensor(expected, dtype=torch.float64)
    allowed = TOLERANCE * float(wanted.abs().max())
    # NaN is not close to anything.
    return found.shape == wanted.shape and float((found - wanted).abs().max()) <= allowed


def try_update(function: Part) -> str:
    """Take one step of length 0.5 with gradients that are known."""
    parameters, g = begin_run(N_HIDDEN).parameters, torch.Generator().manual_seed(1)
    before = [parameter.clone() for parameter in parameters]
    gradients = [torch.randn(parameter.shape, generator=g) for parameter in parameters]
    kept = [gradient.clone() for gradient in gradients]
    function(parameters, gradients, 0.5)
    moves = [now - then for now, then in zip(parameters, before, strict=True)]

    def moved_by(factor: float) -> bool:
        pairs = zip(moves, kept, strict=True)
        # The parameters are rounded, and their differences with them.
        return all(bool(((move - factor * d).abs() < 1e-5).all()) for move, d in pairs)

    if not all(map(torch.equal, gradients, kept)):
        return "It changes the gradients. Only the parameters are to change."
    if not any(move.any() for move in moves):
        return (
            "No parameter has changed: nothing would be learnt. The tensors themselves have to"
            " change, in place; `p = p - ...` makes new ones and leaves them as they are."
        )
    if moved_by(0.5):
        return "It goes uphill: with this sign the loss grows."
    if moved_by(-1):
        return "The learning rate makes no difference: each parameter moves by its whole gradient."
    still = [n for n, move in zip(Parameters._fields, moves, strict=True) if not move.any()]
    if still:
        return f"{listed(still)} did not change: all seven parameters have to."
    return (
        "" if moved_by(-0.5) else "A parameter does not move by its gradient times the rate, down."
    )


def try_learning_rate(function: Part) -> str:
    """Ask for the learning rate at the beginning, at the end and around half time."""
    for step, rate in ((0, 0.1), (1, 0.1), (HALF // 2, 0.1)):
        if not is_close(function(step), rate):
            return f"At step {step:,} it gives {function(step)!r}; {rate} is due."
    last = ALL_STEPS - 1
    if is_close(function(last), 0.1):
        return f"It is still 0.1 at step {last:,}: it never falls."
    low, high = 0, last  # at `low` it is 0.1 still, at `high` no longer
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_close(function(middle), 0.1) else (low, middle)
    if high != HALF:
        return f"It falls at step {high:,}, and not at {HALF:,}. (The first step has the number 0.)"
    for step in (HALF, HALF + 1, last):
        if not is_close(function(step), 0.01):
            return f"At step {step:,} it gives {function(step)!r}; 0.01 is due."
    return ""


@dataclass(slots=True, eq=False)
class Recorder:
    """A backward pass that notes what it is asked: its k-th gradients are 1 + k everywhere."""

    run: Run
    batches: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    places: list[float] = field(default_factory=list)
    """Where the parameters, which all begin at 0, were at each call."""
    done: list[int] = field(default_factory=list)
    """How many steps were done at each call."""

    def __call__(self, Xb: Tensor, Yb: Tensor, *given: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Be the backward pass of a loop."""
        self.batches.append((Xb.clone(), Yb.clone()))
        self.places.append(self.place())
        self.done.append(self.run.step)
        number = len(self.batches)
        if number > MOST_CALLS:
            raise Endless(
                "It goes on for ever: the number of steps done is the length of `run.losses`, and"
                " that has to grow."
                if self.run.step == self.done[0]
                else "It goes on past `until`, which counts the steps that the run has behind it as"
                " well: the step at hand is `run.step`."
            )
        gradients = [torch.full_like(tensor, float(number)) for tensor in self.run.parameters]
        return torch.tensor(float(number)), gradients

    def place(self) -> float:
        """Where the parameters are now."""
        return float(self.run.parameters.b1[0])


def try_loop(function: Part) -> str:
    """Take six steps, half of them on either side of half time."""
    steps = range(HALF - 3, HALF + 3)
    run = begin_run(N_HIDDEN)
    for parameter in run.parameters:
        parameter.zero_()
    run.losses[:] = [0.0] * steps.start
    rows = torch.arange(WINDOWS)
    X, Y = torch.stack([rows // 27, rows % 27, rows % 5], 1), rows % 27
    at_first = run.generator.get_state()
    backward = Recorder(run)
    function(run, backward, X, Y, steps.stop)
    asked, done = len(backward.batches), run.step - steps.start
    if not asked:
        return "It asks `backward` for nothing."
    if done == 0:
        return "No loss was noted in `run.losses`, whose length is the number of steps done."
    if asked < done:
        return f"In {done} steps it asks for gradients {asked} times: each step needs new ones."
    if (asked, done) != (len(steps), len(steps)):
        return f"It takes {asked} steps and notes {done} losses where {len(steps)} were to be done."
    if trouble := _trouble_with_batches(backward.batches):
        return trouble
    if torch.equal(run.generator.get_state(), at_first):
        return "Its minibatches are not drawn with `run.generator`: no run could be repeated."
    places = [*backward.places, backward.place()]
    if trouble := _trouble_with_moves(steps, [b - a for a, b in pairwise(places)]):
        return trouble
    noted = run.losses[steps.start :]
    if any(isinstance(loss, Tensor) for loss in noted):
        return "`run.losses` gets tensors; it is a list of numbers, which `.item()` makes of them."
    if not all(is_close(loss, 1.0 + k) for k, loss in enumerate(noted)):
        return "What it notes in `run.losses` is not the loss of each step."
    calls = len(backward.batches)
    function(run, backward, X, Y, steps.stop)
    if len(backward.batches) > calls:
        return "Where all steps are done already, it takes one more."
    return ""


def _trouble_with_batches(batches: Sequence[tuple[Tensor, Tensor]]) -> str:
    for Xb, Yb in batches:
        if tuple(Xb.shape) != (BATCH, BLOCK_SIZE) or tuple(Yb.shape) != (BATCH,):
            return f"A minibatch has {len(Xb)} windows and {len(Yb)} characters, and not {BATCH}."
        if not torch.equal(Xb[:, 1], Yb):
            return "`Xb` and `Yb` come from different rows: draw one `ix` for both."
    if all(torch.equal(Xb, batches[0][0]) for Xb, _ in batches):
        return "Each step trains on the same minibatch: draw a new one at every step."
    if max(int(Xb[:, 0].max()) for Xb, _ in batches) < 3:
        return "Its minibatches come from the first rows alone; draw from all of X."
    return ""


def _trouble_with_moves(steps: range, moves: Sequence[float]) -> str:
    """Compare how far each step went with its rate times its gradients, which are 1, 2, 3, ..."""

    def went(rates: Iterable[float]) -> bool:
        due = [-rate * number for number, rate in enumerate(rates, start=1)]
        return all(abs(move - want) < 1e-4 for move, want in zip(moves, due, strict=True))

    rates = [learning_rate(step) for step in steps]
    if went(rates):
        return ""
    if not any(moves):
        return "The parameters do not move."
    if all(moves[:-1]) and not moves[-1]:
        return (
            "It updates before it asks for gradients: each step goes by those of the step before."
        )
    if went([rates[0]] * len(rates)):
        return "The learning rate never falls: it has to be asked for anew at every step."
    if went([learning_rate(step + 1) for step in steps]):
        return "It uses the learning rate of the next step: ask for it before the loss is noted."
    if went([learning_rate(step - 1) for step in steps]):
        return "It uses the learning rate of the step before: ask for it before the update."
    return "A step does not go by the learning rate of that step times its gradients, down."
