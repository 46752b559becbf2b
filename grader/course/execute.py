"""A solution run, with nothing of this machine in its outputs."""

from __future__ import annotations

import copy
import os
import re
import sys
import tempfile
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from grader.source import SourceError
from grader.state_folder import VARIABLE as STATE_VARIABLE

CELL_TIMEOUT = 600
"""Seconds that one cell of a solution may take."""

_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")

_WHERE_NAMES_ARE = re.compile(r"(?<=\s)/\S*/(?=names\.txt\b)")


def execute(notebook: NotebookNode) -> NotebookNode:
    """Run a notebook in an empty folder; its outputs then name nothing of this machine."""
    executed = copy.deepcopy(notebook)
    # Notebooks draw inline, whatever backend this process was told to use.
    environment = {key: value for key, value in os.environ.items() if key != "MPLBACKEND"}
    if environment.get("MAKEMORE_NAMES", "bundled") != "bundled":
        environment["MAKEMORE_NAMES"] = str(Path(environment["MAKEMORE_NAMES"]).absolute())
    with tempfile.TemporaryDirectory() as folder:
        # Nor do they show how far the builder has come with the course.
        environment[STATE_VARIABLE] = str(Path(folder, "state"))
        client = NotebookClient(
            executed,
            timeout=CELL_TIMEOUT,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute(env=environment)
        except CellExecutionError as error:
            raise SourceError(f"A cell of the solution raises:\n{error}") from error
    executed.metadata = notebook.metadata  # the kernel has added its own version
    for cell in executed.cells:
        for output in cell.get("outputs", []):
            _clean(output, cell["id"])
    return executed


def _clean(output: NotebookNode, place: str) -> None:
    if output.get("name") == "stderr":
        raise SourceError(
            f"The cell {place} writes to stderr, which nbgrader scores as zero: {output.text}"
        )
    texts = output.get("data", output)
    for key, value in texts.items():
        if key.startswith("text") and isinstance(value, str):
            # Where the maintainer keeps the names is nobody's business.
            text = _ADDRESS.sub("0x...", _WHERE_NAMES_ARE.sub("", value))
            for folder in (Path.cwd(), Path.home(), Path(sys.prefix)):
                if f"{folder}{os.sep}" in text:
                    raise SourceError(f"The cell {place} shows a folder of this machine: {text}")
            texts[key] = text
