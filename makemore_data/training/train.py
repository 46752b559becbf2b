"""The training loop of notebook 4, which can be stopped after any step."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from tqdm import tqdm

from makemore_data.interruption import stop_button
from makemore_data.model.parameters import LECTURE_SEED, Parameters, init_parameters

ALL_STEPS = 200_000
"""Steps of the lecture's training."""
BATCH = 32
"""Examples in a minibatch."""

Backward = Callable[..., tuple[Tensor, Sequence[Tensor]]]
"""From `Xb, Yb, C, W1, b1, bngain, bnbias, W2, b2` to the loss with the parameters' gradients."""

Loop = Callable[..., None]
"""`loop(run, X, Y, steps)` takes `run` so many steps further."""


@dataclass(slots=True, eq=False)
class Run:
    """A training run as far as it has come: everything that its next step depends on.

    `losses` are those of the minibatches so far, in nats; `generator` draws the next one.
    """

    parameters: Parameters
    generator: torch.Generator
    losses: list[float] = field(default_factory=list)

    @property
    def step(self) -> int:
        """How many steps are done."""
        return len(self.losses)


def begin_run(n_hidden: int = 200, block_size: int = 3, seed: int = LECTURE_SEED) -> Run:
    """A run before its first step: the lecture's parameters and, from then on, its minibatches.

    Args:
        n_hidden: hidden units; the lecture trains with 200.
        block_size: characters that the network sees.
        seed: of the parameters and the minibatches.
    """
    g = torch.Generator().manual_seed(seed)
    return Run(init_parameters(g, n_hidden=n_hidden, block_size=block_size), g)


def learning_rate(step: int) -> float:
    """The length of a step: 0.1 in the first half of the lecture's training, then 0.01.

    Args:
        step: how many steps are done.
    """
    return 0.1 if step < ALL_STEPS // 2 else 0.01


def update(parameters: Iterable[Tensor], gradients: Iterable[Tensor], learning_rate: float) -> None:
    """Take a step downhill: change every parameter in place.

    Args:
        parameters: tensors that nobody asks for a gradient.
        gradients: one of each parameter, of its shape.
        learning_rate: the length of the step.

    Raises:
        ValueError: there are more or fewer gradients than parameters.
        RuntimeError: a gradient does not fit its parameter.
    """
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter -= learning_rate * gradient


def train_steps(run: Run, backward: Backward, X: Tensor, Y: Tensor, until: int) -> None:
    """Train until that many steps are done.

    Args:
        run: is taken further in place.
        backward: as `train` takes it.
        X: windows, int64 (N, block_size).
        Y: the characters that follow, int64 (N,).
        until: how many steps there are in the end, those of before included.
    """
    while run.step < until:
        ix = torch.randint(0, X.shape[0], (BATCH,), generator=run.generator)
        loss, gradients = backward(X[ix], Y[ix], *run.parameters)
        update(run.parameters, gradients, learning_rate(run.step))
        run.losses.append(loss.item())


@torch.no_grad()
def train(
    run: Run,
    backward: Backward,
    X: Tensor,
    Y: Tensor,
    until: int,
    watch: Callable[[Run], None] = lambda run: None,
    loop: Callable[[Run, Backward, Tensor, Tensor, int], None] = train_steps,
) -> None:
    """Train with a progress bar until that many steps are done, or the stop button is pressed.

    Args:
        run: is taken further in place.
        backward: from a minibatch and the parameters to the loss, a scalar in nats, and seven
            gradients, each of the shape of its parameter and in the order of `Parameters`.
        X: windows, int64 (N, block_size).
        Y: the characters that follow, int64 (N,).
        until: how many steps there are in the end, those of before included.
        watch: is called with the run every 500 steps.
        loop: takes the steps, one a call.

    Raises:
        ValueError: `backward` gives more or fewer gradients than there are parameters.
        RuntimeError: a gradient does not fit its parameter.
    """
    bar = tqdm(total=until, initial=run.step, file=sys.stdout, leave=False, mininterval=0.5)
    with stop_button() as pressed, bar:
        while run.step < until and not pressed():
            loop(run, backward, X, Y, run.step + 1)
            bar.update()
            if run.step % 500 == 0:
                watch(run)
