"""The trials of the update, the learning rate and the training loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from grader.notebook.training.trial import (
    BLOCK_SIZE,
    MOST_CALLS,
    N_HIDDEN,
    Endless,
    Fact,
    Misused,
    Part,
    Trial,
    rule,
)
from grader.printable import listed
from makemore_data.model.parameters import Parameters
from makemore_data.training.train import (
    ALL_STEPS,
    BATCH,
    Run,
    begin_run,
    learning_rate,
    train_steps,
    update,
)

HALF = ALL_STEPS // 2
"""The step at which the learning rate falls."""
NOISE = 1e-5
"""How far off a move may be, because it is the difference of two rounded parameters."""
FEW = BATCH + 8
"""So few rows that twenty steps draw all of them."""

ARGUMENTS = (
    "`backward` wants the minibatch first, then the seven parameters of the run as they are now,"
    " one by one: `backward(Xb, Yb, *run.parameters)`."
)


def update_facts(piece: Part) -> Iterator[Fact]:
    """Take one step of length 0.5 with random gradients."""
    parameters, g = begin_run(N_HIDDEN).parameters, torch.Generator().manual_seed(1)
    before = [parameter.clone() for parameter in parameters]
    gradients = [torch.randn(parameter.shape, generator=g) for parameter in parameters]
    given = [gradient.clone() for gradient in gradients]
    piece(parameters, given, 0.5)
    moves = [now - then for now, then in zip(parameters, before, strict=True)]
    yield rule(
        all(map(torch.equal, given, gradients)),
        "It changes the gradients. Only the parameters should change.",
    )
    names = Parameters._fields
    moved = [name for name, move in zip(names, moves, strict=True) if move.any()]
    yield rule(
        moved != [],
        "No parameter has changed, so nothing would be learnt. The tensors themselves have to"
        " change, in place. `p = p - ...` makes new ones and leaves the old ones as they are.",
    )
    yield rule(
        len(moved) == len(names), f"Only {listed(moved)} changed, but all seven parameters have to."
    )
    yield Fact(
        {f"the step of {name}": move for name, move in zip(names, moves, strict=True)},
        noise=NOISE,
    )


def learning_rate_facts(piece: Part) -> Iterator[Fact]:
    """Ask for the learning rate at the beginning, at the end and around half time."""
    steps = (0, 1, HALF // 10, HALF // 2, HALF - 1, HALF, HALF + 1, HALF * 3 // 2, ALL_STEPS - 1)
    yield Fact({f"the learning rate of step {step:,}": piece(step) for step in steps})


@dataclass(slots=True, eq=False)
class Recorder:
    """A backward pass that records what it is given. At its k-th call every gradient is k."""

    run: Run
    minibatches: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    places: list[Tensor] = field(default_factory=list)
    """One number of each parameter, at each call."""

    def as_backward(self) -> Part:
        """Return the recorder as a function that exceptions call `backward`."""

        def backward(  # type: ignore[no-untyped-def]
            Xb, Yb, C, W1, b1, bngain, bnbias, W2, b2
        ) -> tuple[Tensor, list[Tensor]]:
            return self._note(Xb, Yb, [C, W1, b1, bngain, bnbias, W2, b2])

        backward.__qualname__ = "backward"
        return backward

    def _note(
        self, Xb: object, Yb: object, parameters: Sequence[object]
    ) -> tuple[Tensor, list[Tensor]]:
        are_own = all(
            isinstance(given, Tensor) and torch.equal(given, own)
            for given, own in zip(parameters, self.run.parameters, strict=True)
        )
        if not (isinstance(Xb, Tensor) and isinstance(Yb, Tensor) and are_own):
            raise Misused(ARGUMENTS)
        self.minibatches.append((Xb.clone(), Yb.clone()))
        self.places.append(self.place())
        number = len(self.minibatches)
        if number > MOST_CALLS:
            raise Endless
        # No two losses are the same when rounded.
        loss = torch.tensor(3.0 + number / 7)
        return loss, [torch.full_like(own, float(number)) for own in self.run.parameters]

    def place(self) -> Tensor:
        """Take one number of each parameter as it is now."""
        return torch.stack([parameter.flatten()[0] for parameter in self.run.parameters])


def loop_facts(piece: Part) -> Iterator[Fact]:
    """Take three steps before the learning rate falls and three after; then twenty, twice."""
    steps = range(HALF - 3, HALF + 3)
    run = begin_run(N_HIDDEN)
    for number, parameter in enumerate(run.parameters):
        parameter.fill_(number)
    run.losses[:] = [0.0] * steps.start
    rows = torch.arange(FEW)
    X, Y = rows[:, None].expand(FEW, BLOCK_SIZE).clone(), rows % 27
    recorder = Recorder(run)
    piece(run, recorder.as_backward(), X, Y, steps.stop)
    minibatches = recorder.minibatches
    kept: Any = run.losses
    losses = kept[steps.start :] if isinstance(kept, list) else []
    asked, noted = len(minibatches), len(losses)
    stops = " Is it a `while`, and does a `return` end it?" if asked == noted == 1 else ""
    yield rule(
        asked == noted == len(steps),
        f"It calls `backward` {asked} time{'s' * (asked != 1)} and notes {noted}"
        f" loss{'es' * (noted != 1)} in `run.losses`, but it should take {len(steps)} steps."
        f" Each step needs new gradients and notes one loss.{stops}",
    )
    for Xb, Yb in minibatches:
        shapes, due = (tuple(Xb.shape), tuple(Yb.shape)), ((BATCH, BLOCK_SIZE), (BATCH,))
        yield rule(
            shapes == due,
            f"A minibatch has the shapes {shapes[0]} and {shapes[1]}, but they should be {due[0]}"
            f" and {due[1]}.",
        )
        yield rule(
            torch.equal(Xb[:, 0] % 27, Yb),
            "`Xb` and `Yb` come from different rows. Draw one `ix` for both.",
        )
    yield rule(
        any(not torch.equal(Xb, minibatches[0][0]) for Xb, _ in minibatches),
        "Each step trains on the same minibatch. Draw a new one at every step.",
    )
    moves = torch.stack([*recorder.places, recorder.place()]).diff(dim=0)
    at_step = [f"at step {step:,}" for step in steps]
    yield Fact(
        {f"the move {place}": move for place, move in zip(at_step, moves, strict=True)},
        "A step must be minus the learning rate times that step's own gradients.",
        noise=NOISE,
    )
    yield rule(
        not any(isinstance(loss, Tensor) for loss in losses),
        "`run.losses` gets tensors. It is a list of plain numbers, and `.item()` turns a tensor"
        " into one.",
    )
    noted_losses = zip(at_step, losses, strict=True)
    yield Fact({f"the loss noted {place}": loss for place, loss in noted_losses})
    drawn, again, other = (_draw_rows(piece, X, Y, seed) for seed in (1, 1, 2))
    yield rule(
        torch.equal(drawn, again),
        "Its minibatches are not drawn with `run.generator`, so a run that was stopped would not"
        " go on with the same minibatches.",
    )
    yield rule(
        not torch.equal(drawn, other),
        "Its minibatches do not depend on where `run.generator` stands. `begin_run` has seeded"
        " it, once and for all, so do not seed it again.",
    )
    missing = sorted({*range(FEW)} - {*drawn.tolist()})
    yield rule(
        not missing,
        f"{len(missing)} of {FEW} rows never came up; the first of them is row {[*missing, 0][0]}."
        " Rows are counted from 0 to `len(X) - 1`, and `randint` leaves its upper limit out.",
    )


def _draw_rows(piece: Part, X: Tensor, Y: Tensor, seed: int) -> Tensor:
    """Return the rows of twenty minibatches, one after the other."""
    recorder = Recorder(begin_run(N_HIDDEN, seed=seed))
    piece(recorder.run, recorder.as_backward(), X, Y, 20)
    return torch.cat([Xb[:, 0] for Xb, _ in recorder.minibatches])


STEP_TRIALS = {
    "update": Trial(update, update_facts),
    "learning_rate": Trial(learning_rate, learning_rate_facts),
    "loop": Trial(train_steps, loop_facts),
}
