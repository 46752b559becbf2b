"""A race of training loops, side by side, in steps per second."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch import Tensor

from makemore_data.model.parameters import Parameters
from makemore_data.training.loops import autograd_loop, manual_loop
from makemore_data.training.solved.compiled import STEPS_A_CALL, NoCompiler, compile_loop
from makemore_data.training.solved.lecture import lecture_backward
from makemore_data.training.solved.tuned import tuned_loop
from makemore_data.training.train import BATCH, Backward, Loop, begin_run

LIMIT = "the six matrix products alone"
"""What no loop can be faster than; its name in the result of `race`."""


def contestants(
    name: str, backward: Backward, say: Callable[[str], None] = lambda _: None
) -> dict[str, Loop]:
    """Every loop that can take part here, by name: autograd's first, then those by hand.

    Compiling two of them may take a minute.

    Args:
        name: what to call the loop with `backward` in it.
        backward: from a minibatch and the parameters to the loss and the gradients, see `train`.
        say: is told what is compiled, before it is, and how long that took; or why it cannot be.
    """
    loops: dict[str, Loop] = {
        "autograd": autograd_loop,
        "by hand, as in the lecture": partial(manual_loop, backward=lecture_backward),
        name: partial(manual_loop, backward=backward),
        "tuned": tuned_loop,
    }
    try:
        for label, steps in (
            ("tuned and compiled", 1),
            (f"the same, {STEPS_A_CALL} steps a call", STEPS_A_CALL),
        ):
            say(f"compiling: {label}; this can take a minute or two ...")
            start = time.perf_counter()
            loops[label] = compile_loop(steps)
            say(f"  compiled in {time.perf_counter() - start:.0f} seconds")
    except NoCompiler as trouble:
        say(str(trouble))
    return loops


def race(
    loops: Mapping[str, Loop], X: Tensor, Y: Tensor, steps: int = 500, rounds: int = 7
) -> dict[str, float]:
    """Steps per second of each loop, and of the six matrix products of a step alone.

    The loops run on one thread and take turns, a few hundred steps each, so that whatever else the
    machine is doing slows them down alike. The median of a loop's rounds counts.

    Args:
        loops: by the names that the result has; each trains a run of its own.
        X: windows, int64 (N, block_size).
        Y: the characters that follow, int64 (N,).
        steps: of a loop in each round.
        rounds: that count; one more goes before them as a warm-up.
    """
    works = {name: partial(loop, begin_run(), X, Y, steps) for name, loop in loops.items()}
    works[LIMIT] = partial(matrix_products, begin_run().parameters, steps)
    seconds: dict[str, list[float]] = {name: [] for name in works}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for _ in range(rounds + 1):
            for name, work in works.items():
                start = time.perf_counter()
                work()
                seconds[name].append(time.perf_counter() - start)
    finally:
        torch.set_num_threads(threads)
    # The first round is a warm-up.
    return {name: steps / statistics.median(taken[1:]) for name, taken in seconds.items()}


def matrix_products(parameters: Parameters, steps: int) -> None:
    """Compute the six matrix products of a step alone: no training step can be faster."""
    W1, W2 = parameters.W1, parameters.W2
    x1, y1 = torch.ones(BATCH, W1.shape[0]), torch.ones(BATCH, W1.shape[1])
    x2, y2 = torch.ones(BATCH, W2.shape[0]), torch.ones(BATCH, W2.shape[1])
    first, second = x1 @ W1, x2 @ W2
    third, fourth = y2 @ W2.T, x2.T @ y2
    fifth, sixth = y1 @ W1.T, x1.T @ y1
    for _ in range(steps):
        torch.mm(x1, W1, out=first)
        torch.mm(x2, W2, out=second)
        torch.mm(y2, W2.T, out=third)
        torch.mm(x2.T, y2, out=fourth)
        torch.mm(y1, W1.T, out=fifth)
        torch.mm(x1.T, y1, out=sixth)
