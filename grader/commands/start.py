"""`grader start`: write the blank notebooks into a folder, and open them in JupyterLab."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import click

import makemore_data
from grader.commands.extras import require
from grader.commands.options import PathTo
from grader.commands.speech import say_sentences
from grader.printable import listed, printable
from grader.user_error import UserError

PACKAGE = Path(makemore_data.__file__).parent
PLACES = (PACKAGE / "notebooks", PACKAGE.parent / "notebooks")
"""The folders of the blank notebooks: in an installed package, and in a clone."""

FIRST = "01_atomic_backprop.ipynb"


@click.command()
@click.argument("folder", metavar="[FOLDER]", type=PathTo(), default=Path("backprop-ninja"))
@click.option("--encore", is_flag=True, help="Add notebooks 5 to 7, the encore on a transformer.")
@click.option("--no-open", is_flag=True, help="Only write the notebooks.")
def start(folder: Path, encore: bool, no_open: bool) -> None:
    """Write the blank notebooks into FOLDER, and open them in JupyterLab.

    Without FOLDER, they go to `backprop-ninja` in the current folder. A notebook that is there
    already stays as it is, so you can give the same command again to go on with your work. If you
    want to begin a notebook again, rename yours first.

    The exit code is 0, or 2 if the notebooks cannot be written or JupyterLab is missing.
    """
    written, kept = write_blanks(folder, find_blanks(encore))
    shown = printable(str(folder))
    if written:
        say_sentences(f"Wrote {listed(written)} into {shown}.\n")
    if kept:
        has = (
            "has been changed, and stays as it is"
            if len(kept) == 1
            else "have been changed, and stay"
        )
        say_sentences(f"{listed(kept)} in {shown} {has}.\n")
    if no_open:
        return
    if "JUPYTERHUB_USER" in os.environ or "JUPYTER_SERVER_URL" in os.environ:
        say_sentences(f"You are in Jupyter already: open {shown} in its file browser.\n")
        return
    require("lab", "grader start")
    open_lab(folder)


def find_blanks(encore: bool) -> dict[str, bytes]:
    """Read the course's blank notebooks, keyed by name.

    Raises:
        UserError: the package was installed without them.
    """
    patterns = ("*.ipynb", "encore/*.ipynb") if encore else ("*.ipynb",)
    for place in PLACES:
        if found := sorted(path for pattern in patterns for path in place.glob(pattern)):
            return {path.name: path.read_bytes() for path in found}
    raise UserError("This installation is without the notebooks. Install the package again.")


def write_blanks(folder: Path, blanks: Mapping[str, bytes]) -> tuple[list[str], list[str]]:
    """Write the notebooks that the folder lacks.

    Returns:
        The names of the notebooks that were written, and of those that existed and differ.

    Raises:
        UserError: the folder is a file.
        OSError: the folder or a file in it cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{printable(str(folder))} is a file. Name a folder for the notebooks.")
    folder.mkdir(parents=True, exist_ok=True)
    written, kept = [], []
    for name, blank in blanks.items():
        path = folder / name
        try:
            # Never overwrite a file, whatever happens in between.
            with path.open("xb") as file:
                file.write(blank)
            written.append(name)
        except FileExistsError:
            if not path.is_file() or path.read_bytes() != blank:
                kept.append(name)
    return written, kept


def open_lab(folder: Path) -> None:
    """Open notebook 1 in JupyterLab, and wait until JupyterLab ends."""
    command = [sys.executable, "-m", "jupyter", "lab", FIRST]
    # In a container one is root, and JupyterLab has to be told that this is meant.
    if getattr(os, "geteuid", lambda: 1)() == 0:
        command.append("--allow-root")
    with subprocess.Popen(command, cwd=folder) as lab:
        while lab.poll() is None:
            try:
                lab.wait()
            except KeyboardInterrupt:
                continue  # JupyterLab asks whether that is meant
