"""What the loop is tried on: a backward pass that notes what it is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from grader.notebook.training.trial import (
    BLOCK_SIZE,
    HALF,
    MOST_CALLS,
    N_HIDDEN,
    WINDOWS,
    Endless,
    Part,
    is_close,
    name_mistake,
)
from makemore_data.training.train import BATCH, Run, begin_run, learning_rate

ARGUMENTS = (
    "`backward` wants the minibatch first, then the parameters: `backward(Xb, Yb, *run.parameters)`"
)


def loss_of(call: int) -> float:
    """What the recorder says of its call with this number: no loss is the same when rounded."""
    return 3.0 + call / 7000


@dataclass(slots=True, eq=False)
class Recorder:
    """A backward pass that notes what it is asked: its k-th gradients are 1 + k everywhere."""

    run: Run
    batches: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    places: list[float] = field(default_factory=list)
    """Where the parameters, which all begin at 1, were at each call."""
    done: list[int] = field(default_factory=list)
    """How many steps were done at each call."""
    handed: list[Tensor] = field(default_factory=list)
    """All gradients that it gave away."""
    has_parameters: bool = True
    """Whether it was handed all seven parameters each time, one by one."""
    is_turned: bool = False
    """Whether it was handed the minibatch and all seven, in another order."""

    def __call__(self, Xb: Any, Yb: Any, *given: Any) -> tuple[Tensor, list[Tensor]]:
        """Be the backward pass of a loop."""
        due = [parameter.shape for parameter in self.run.parameters]
        is_batch = isinstance(Xb, Tensor) and isinstance(Yb, Tensor)
        if not is_batch or len(given) > len(due):
            raise TypeError(ARGUMENTS)
        self.batches.append((Xb.clone(), Yb.clone()))
        self.places.append(self.place())
        self.done.append(self.run.step)
        shapes = [getattr(parameter, "shape", None) for parameter in given]
        if shapes != due:
            self.has_parameters = False
            missing = Counter[object](due) - Counter([Xb.shape, Yb.shape, *shapes])
            self.is_turned = len(given) == len(due) and not missing
        number = len(self.batches)
        if number > MOST_CALLS:
            raise Endless(self._why_endless())
        gradients = [torch.full_like(tensor, float(number)) for tensor in self.run.parameters]
        self.handed += gradients
        return torch.tensor(loss_of(number)), gradients

    __call__.__qualname__ = "backward"  # so that an exception says the student's name of it

    def _why_endless(self) -> str:
        """What is true of a loop, `while` or `for`, that has gone on for too long."""
        asked, noted = len(self.done) - 1, self.done[-1] - self.done[0]
        if noted <= 0:
            return (
                "`run.losses` does not grow. Its length is `run.step`, the number of steps done:"
                " append the loss of each step, or the run never gets to `until`."
            )
        if noted < asked:
            return (
                f"It notes {noted} loss{'es' * (noted != 1)} in {asked} steps: note that of each."
            )
        return (
            "It goes on past `until`, which counts all steps of the run, those that it has behind"
            " it as well: take steps while `run.step < until`."
        )

    def place(self) -> float:
        """Where the parameters are now."""
        return float(self.run.parameters.b1[0])


FEW = BATCH + 1
"""Rows that are all drawn in twenty steps, and enough for a minibatch without repeats."""


def try_loop(function: Part) -> str:
    """Take six steps, half of them on either side of half time, then twenty on few rows."""
    return next((sentence for is_so, sentence in _signs(function) if is_so), "")


def _signs(function: Part) -> Iterator[tuple[bool, str]]:
    """Whether a thing is wrong with a loop, and its sentence; each supposes that none before is."""
    steps = range(HALF - 3, HALF + 3)
    run = begin_run(N_HIDDEN)
    for parameter in run.parameters:
        parameter.fill_(1.0)
    run.losses[:] = [0.0] * steps.start
    rows = torch.arange(WINDOWS)
    X, Y = torch.stack([rows // 27, rows % 27, rows % 5], 1), rows % 27
    at_first = run.generator.get_state()
    backward = Recorder(run)
    function(run, backward, X, Y, steps.stop)
    batches, asked, done = [*backward.batches], len(backward.batches), run.step - steps.start
    times, losses = f"{asked} time{'s' * (asked != 1)}", f"{done} loss{'es' * (done != 1)}"
    yield not asked, "It asks `backward` for nothing."
    yield (
        done == 0,
        "No loss was noted in `run.losses`, whose length is the number of steps done.",
    )
    yield (
        asked < done,
        f"It asks for gradients {times} and notes {losses}: each step needs new gradients, and"
        " notes one loss.",
    )
    stops = " Is it a `while`, and does no `return` end it?" if asked == done == 1 else ""
    yield (
        (asked, done) != (len(steps), len(steps)),
        f"It asks for gradients {times} and notes {losses} where {len(steps)} steps were to be"
        f" done.{stops}",
    )
    yield backward.is_turned, f"{ARGUMENTS}."
    yield (
        not backward.has_parameters,
        "`backward` is not given all seven parameters, one by one: `*run.parameters` takes the"
        " tuple apart.",
    )
    for Xb, Yb in batches:
        yield (
            (Xb.shape, Yb.shape) != ((BATCH, BLOCK_SIZE), (BATCH,)),
            f"A minibatch has the shapes {tuple(Xb.shape)} and {tuple(Yb.shape)};"
            f" {(BATCH, BLOCK_SIZE)} and {(BATCH,)} are due.",
        )
        yield (
            not torch.equal(Xb[:, 1], Yb),
            "`Xb` and `Yb` come from different rows: draw one `ix` for both.",
        )
    yield (
        all(torch.equal(Xb, batches[0][0]) for Xb, _ in batches),
        "Each step trains on the same minibatch: draw a new one at every step.",
    )
    yield (
        max(int(Xb[:, 0].max()) for Xb, _ in batches) < 3,
        "Its minibatches come from the first rows alone; draw from all of X.",
    )
    yield (
        torch.equal(run.generator.get_state(), at_first),
        "Its minibatches are not drawn with `run.generator`: a run that was stopped would not go"
        " on as if it had not been.",
    )
    moves = [b - a for a, b in pairwise([*backward.places, backward.place()])]
    yield (
        not any(moves) and any(bool((g != g.round()).any()) for g in backward.handed),
        "The gradients move, and the parameters do not: `update` takes the parameters first.",
    )
    named = _name_moves(steps, moves)
    yield bool(named), named
    noted = run.losses[steps.start :]
    yield (
        any(isinstance(loss, Tensor) for loss in noted),
        "`run.losses` gets tensors; it is a list of numbers, which `.item()` makes of them.",
    )
    due = [loss_of(number) for number in range(1, len(noted) + 1)]
    is_noted = all(map(is_close, noted, due))
    yield (
        not is_noted and any([round(loss, places) for loss in due] == noted for places in range(4)),
        "The losses are rounded: note each as it is.",
    )
    yield not is_noted, "What it notes in `run.losses` is not the loss of each step."
    with suppress(Endless):  # `if run.step == until: break` finds them equal no more
        function(run, backward, X, Y, steps.stop)
    yield (
        len(backward.batches) > asked,
        "Where all steps are done already, it takes one more: the test comes too late. Ask before"
        " each step whether `run.step < until`.",
    )
    drawn, again = (_rows_drawn(function, seed) for seed in (1, 2))
    yield (
        torch.equal(drawn, again),
        "Its minibatches do not depend on where `run.generator` stands: `begin_run` has seeded it,"
        " once and for all; do not seed it again.",
    )
    came = {*drawn.tolist()}
    yield 0 not in came, "The first row is never drawn: rows are counted from 0 on."
    yield (
        came != {*range(FEW)},
        "The last row is never drawn: `randint` leaves its upper limit out, so that has to be"
        " `len(X)`.",
    )


def _rows_drawn(function: Part, seed: int) -> Tensor:
    """The rows of twenty minibatches, one after the other."""
    backward, rows = Recorder(begin_run(N_HIDDEN, seed=seed)), torch.arange(FEW)
    function(backward.run, backward, rows[:, None].expand(FEW, BLOCK_SIZE), rows % 27, 20)
    return torch.cat([Xb[:, 0] for Xb, _ in backward.batches])


def _name_moves(steps: range, moves: Sequence[float]) -> str:
    """Compare how far each step went with its rate times its gradients, which are 1, 2, 3, ..."""

    def is_it(names: Mapping[str, Any]) -> bool:
        pairs = zip(moves, names["moves"], strict=True)
        return all(abs(move - due) < 1e-4 for move, due in pairs)

    due = [-learning_rate(step) * number for number, step in enumerate(steps, start=1)]
    if is_it({"moves": due}):
        return ""
    names = {"steps": steps, "learning_rate": learning_rate, "BATCH": BATCH}
    return name_mistake("moves", names, is_it, most=1) or (
        "A step does not go by the learning rate of that step times its gradients, down."
    )
