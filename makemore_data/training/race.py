"""The race of notebook 4: training loops side by side, in steps per second."""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch import Tensor

from makemore_data.training.loops import autograd_loop, manual_loop, matrix_products
from makemore_data.training.train import Backward, Loop, begin_run

LIMIT = "the six matrix products alone"
"""What no loop can be faster than; its name in the result of `race`."""

SOLVED = "makemore_data.training.solved"
"""The loops that contain the answers of notebook 4; a student release is without them."""


def contestants(
    name: str, backward: Backward, say: Callable[[str], None] = lambda _: None
) -> tuple[dict[str, Loop], list[str]]:
    """Every loop that can take part here: autograd's first, `backward` under the given name.

    Compiling two of them may take a minute.

    Args:
        name: what to call the loop with `backward` in it.
        backward: from a minibatch and the parameters to the loss and the gradients, see `train`.
        say: is told what is compiled, before it is, and how long that took.

    Returns:
        The loops by name, and a sentence for each reason why one of them is missing.
    """
    by_hand = partial(manual_loop, backward=backward)
    if importlib.util.find_spec(SOLVED) is None:
        return {"autograd": autograd_loop, name: by_hand}, [
            "The lecture's loop, the tuned one and the compiled ones are not in this copy of the "
            "course, for they contain the answers: the race is autograd's loop against yours."
        ]
    from makemore_data.training.solved.compiled import STEPS_A_CALL, NoCompiler, compile_loop
    from makemore_data.training.solved.lecture import lecture_backward
    from makemore_data.training.solved.tuned import tuned_loop

    loops: dict[str, Loop] = {
        "autograd": autograd_loop,
        "by hand, as in the lecture": partial(manual_loop, backward=lecture_backward),
        name: by_hand,
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
        return loops, [str(trouble)]
    return loops, []


def race(
    loops: Mapping[str, Loop], X: Tensor, Y: Tensor, steps: int = 500, rounds: int = 7
) -> dict[str, float]:
    """Steps per second of each loop, and of the six matrix products of a step alone.

    Without loops nothing is run, and the result is empty.

    The loops run on one thread and take turns, a few hundred steps each, so that whatever else the
    machine is doing slows them down alike. The median of a loop's rounds counts.

    Args:
        loops: by the names that the result has; each trains a run of its own.
        X: windows, int64 (N, block_size).
        Y: the characters that follow, int64 (N,).
        steps: of a loop in each round.
        rounds: that count; one more goes before them as a warm-up.
    """
    if not loops:
        return {}
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
