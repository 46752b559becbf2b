"""Train notebook 7's network with the lines of a notebook; print its losses and twenty names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
import nbformat

SOLUTION = Path(__file__).parent / "solutions" / "07_training.ipynb"
STEPS = "BACKPROP_NINJA_STEPS"
"""The variable by which the notebook is told how many steps there are."""


def cells_that_train(notebook: Path) -> list[str]:
    """The code of the cells with the tag `train`: all that the training needs, and no picture."""
    cells = nbformat.read(notebook, as_version=4).cells
    return [cell.source for cell in cells if "train" in cell.metadata.get("tags", [])]


def definitions(notebook: Path) -> dict[str, Any]:
    """Run these cells; what they define, by name."""
    space: dict[str, Any] = {"__name__": "__main__"}
    for number, source in enumerate(cells_that_train(notebook), start=1):
        exec(compile(source, f"{notebook.name}, training cell {number}", "exec"), space)
    return space


def train_and_report(notebook: Path) -> list[str]:
    """Train until all steps are done, or until an interrupt; lines that say what came of it."""
    space = definitions(notebook)
    run = space["begin_run"]()
    space["train"](run, space["ALL_STEPS"])
    parameters = space["views"](run.flat)
    losses = {what: space["nats"](parameters, space[what]) for what in ("training", "validation")}
    return [
        f"{run.step:,} steps by hand, on one thread, without loss.backward()",
        *(f"{what + ' loss':<16} {loss:.4f} nats" for what, loss in losses.items()),
        *space["make_up"](parameters),
    ]


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("notebook", type=click.Path(path_type=Path, exists=True), default=SOLUTION)
@click.option("--steps", type=int, help="How many steps to train; all of them take a minute.")
def main(notebook: Path, steps: int | None) -> None:
    """Print the losses, then twenty names."""
    if steps is not None:
        os.environ[STEPS] = str(steps)
    click.echo("\n".join(train_and_report(notebook)))


if __name__ == "__main__":
    main()
