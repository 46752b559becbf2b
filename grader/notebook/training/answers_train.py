"""What notebook 1's last cell calls: a network trained by the answers as they stand."""

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

MOST_NAMED = 4
"""More gradients than this that are still to do are counted, not named."""

STEPS = "BACKPROP_NINJA_STEPS"
"""The environment variable by which those who only test the notebooks train for fewer steps."""


@told(NotInTheLesson, Unfinished)
def train_with_my_answers(X: Tensor, Y: Tensor, seconds: float) -> Run | None:
    """Train a new network with your answer cells of notebook 1, once all of them pass.

    Args:
        X: windows, int64 (N, block_size).
        Y: the characters that follow, int64 (N,).
        seconds: for how long; the stop button ends it earlier.

    Returns:
        The run as far as it came, or None, with a sentence printed, while a gradient does not
        pass.
    """
    lesson = open_lesson("ex1")
    verdicts = lesson.verdicts().values()
    # A gradient that was handed a wrong one waits for that one itself.
    if waits := [v.name for v in verdicts if v.outcome not in (Outcome.PASS, Outcome.CARRIED)]:
        named = waits if len(waits) <= MOST_NAMED else [*waits[:2], f"{len(waits) - 2} more"]
        print(f"to do: the training waits for {listed(named)}")
        return None
    sizes = lesson.exercise.sizes
    run = begin_run(sizes["n_hidden"], sizes["block_size"])
    print(f"Training for {seconds:.0f} seconds ...", flush=True)
    backward = first_prints(write_backward(lesson.exercise, lesson.cells), "Your answer")
    _train(run, backward, X, Y, seconds)
    return run


@torch.no_grad()
def _train(run: Run, backward: Backward, X: Tensor, Y: Tensor, seconds: float) -> None:
    """Take as many steps as there is time for, one at least."""
    end, most = time.monotonic() + seconds, int(os.environ.get(STEPS, sys.maxsize))
    with one_thread(), stop_button() as pressed:
        while not run.losses or (run.step < most and time.monotonic() < end and not pressed()):
            train_steps(run, backward, X, Y, run.step + 1)
