"""The command behind `make train`: train for 200,000 steps with a notebook's backward pass."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import torch

from grader.commands.options import PathTo
from grader.notebook.training.manual_step import Unfinished, training, write_backward
from grader.program.course import built_in_course
from grader.submission.notebook_file import UnreadableNotebook
from grader.submission.read import read_submission
from makemore_data import (
    ALL_STEPS,
    begin_run,
    build_splits,
    build_vocabulary,
    calibrate,
    load_names,
    mean_loss,
    sample_names,
    train,
)

SOLUTION = Path("notebooks/solutions/04_manual_training.ipynb")


def train_and_report(notebook: Path, steps: int) -> list[str]:
    """Train with the answer in a notebook, and return lines about the result.

    An interrupt ends the training after the current step, and the lines are then about what was
    reached.
    """
    backward = write_backward(training(), read_submission(notebook, built_in_course()).cells)
    _, itos = build_vocabulary()
    (Xtr, Ytr), (Xdev, Ydev), _ = build_splits(load_names())
    run = begin_run()
    train(run, backward, Xtr, Ytr, until=steps)
    mean, variance = calibrate(run.parameters, Xtr)
    losses = {
        "training": mean_loss(run.parameters, mean, variance, Xtr, Ytr),
        "validation": mean_loss(run.parameters, mean, variance, Xdev, Ydev),
    }
    samples = sample_names(run.parameters, mean, variance, itos, Xtr.shape[1])
    return [
        f"{run.step:,} steps by hand, on one thread, without loss.backward()",
        *(f"{name + ' loss':<16} {loss:.4f} nats" for name, loss in losses.items()),
        *samples,
    ]


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("notebook", type=PathTo(), default=SOLUTION)
@click.option("--steps", default=ALL_STEPS, show_default=True, help="How many steps to train.")
def main(notebook: Path, steps: int) -> None:
    """Print the losses, then twenty names; exit status 2 if the notebook cannot be used."""
    torch.set_num_threads(1)  # matrices this small: more threads wait for each other
    try:
        lines = train_and_report(notebook, steps)
    except (UnreadableNotebook, Unfinished) as trouble:
        click.echo(f"{notebook}: {trouble}", err=True)
        sys.exit(2)
    click.echo("\n".join(lines))


if __name__ == "__main__":
    main()
