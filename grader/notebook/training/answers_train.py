"""Train a network with the answers of notebook 1, as its last cell does."""

from __future__ import annotations

import os
import sys
import time

import torch
from torch import Tensor

from grader.notebook.lesson import told
from grader.notebook.running_notebook import NotInTheLesson, open_lesson
from grader.notebook.training.first_prints import first_prints
from grader.notebook.training.manual_step import Unfinished, write_backward
from grader.printable import listed
from grader.verdict import Outcome
from grader.worker.engine import one_thread
from makemore_data.interruption import stop_button
from makemore_data.training.train import Backward, Run, begin_run, train_steps

MOST_NAMED = 3
"""If more gradients than this do not pass, the others are counted, not named."""

STEPS = "BACKPROP_NINJA_STEPS"
"""The environment variable that shortens the training when a notebook is only tested."""


@told(NotInTheLesson, Unfinished)
def train_with_my_answers(X: Tensor, Y: Tensor, seconds: float) -> Run | None:
    """Train a new network with your answer cells of notebook 1, once all of them pass.

    Args:
        X: windows, int64 (N, block_size).
        Y: the characters that follow, int64 (N,).
        seconds: for how long; the stop button ends it earlier.

    Returns:
        The run as far as it came. As long as a gradient does not pass it returns None, and
        prints which.
    """
    lesson = open_lesson("ex1")
    verdicts = lesson.verdicts().values()
    # A carried gradient is right by itself, and the wrong one before it is among the others.
    if waits := [v.name for v in verdicts if v.outcome not in (Outcome.PASS, Outcome.CARRIED)]:
        print(f"to do: the training waits for {listed(waits, most=MOST_NAMED)}")
        return None
    backward = first_prints(write_backward(lesson.exercise, lesson.cells), "Your answer")
    sizes = lesson.exercise.sizes
    run = begin_run(sizes["n_hidden"], sizes["block_size"])
    print(f"Training for {seconds:.0f} seconds ...", flush=True)
    _train(run, backward, X, Y, seconds)
    return run


@torch.no_grad()
def _train(run: Run, backward: Backward, X: Tensor, Y: Tensor, seconds: float) -> None:
    """Take as many steps as there is time for, and at least one."""
    end, most = time.monotonic() + seconds, int(os.environ.get(STEPS, sys.maxsize))
    with one_thread(), stop_button() as pressed:
        while not run.losses or (run.step < most and time.monotonic() < end and not pressed()):
            train_steps(run, backward, X, Y, run.step + 1)
