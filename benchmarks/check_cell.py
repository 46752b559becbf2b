"""What a check cell of notebook 1 costs in a kernel: median and 95th percentile, goal 300 ms."""

from __future__ import annotations

import ast
import statistics
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from corpus.readers.exercise_text import read_cells, right_answers
from corpus.readers.lecture_course import ATOMIC
from grader.program.parse import body_source

NOTEBOOK = Path(__file__).parent.parent / "notebooks" / "01_atomic_backprop.ipynb"
REPEATS = 8
GOAL_MS = 300
PATIENCE_SECONDS = 120

SETUP = """\
import torch
import torch.nn.functional as F
from grader import board, check, cmp, heat_map
from grader.program.course import built_in_course
from grader.program.exercises import exercise_called
from grader.program.references import prepare
grounds = prepare(exercise_called(built_in_course(), "ex1"))
inputs = grounds.program.inputs
globals().update({name: grounds.lecture.values[name] for name in inputs})
globals().update(grounds.lecture.sizes)
"""


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds that one check cell took, run after run."""

    cell: str
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.seconds, n=20, method="inclusive")[-1]

    def __str__(self) -> str:
        return f"{self.cell:22s} {self.median * 1e3:6.0f} ms {self.p95 * 1e3:6.0f} ms"


def check_cells() -> dict[str, str]:
    """The check cells of the student's notebook, by the id of the answer they check."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return {
        source.splitlines()[0].removeprefix("# check: "): source
        for source in sources
        if source.startswith("# check: ")
    }


def with_fault(source: str, gradients: tuple[str, ...]) -> str:
    """The answer with the first gradient it assigns doubled."""
    for node in ast.parse(source).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) if name in gradients:
                text = ast.get_source_segment(source, node.value)
                assert text is not None
                return source.replace(text, f"2 * ({text})", 1)
    raise ValueError("The answer assigns no gradient in a line of its own.")


def measure(client: BlockingKernelClient, repeats: int = REPEATS) -> Iterator[tuple[str, Times]]:
    """Time every check cell: with a right answer, with a faulty one, and again unchanged.

    Before each run of the first two the answer cell is changed and run, as a student would.
    """
    _run(client, SETUP)
    _run(client, body_source(ATOMIC.forward))
    answers = dict(read_cells(right_answers()["lecture"]))
    for answer in answers.values():
        _run(client, answer)
    for cell, check in check_cells().items():
        faulty = with_fault(answers[cell], ATOMIC.gradients)
        for kind, answer in (("right", answers[cell]), ("faulty", faulty)):
            fresh, again = [], []
            for number in range(repeats + 1):
                _run(client, f"{answer}\n# {kind} {number}")
                fresh.append(_run(client, check))
                again.append(_run(client, check))
            # The first run of each is warming up.
            yield kind, Times(cell, tuple(fresh[1:]))
            yield f"{kind}, again", Times(cell, tuple(again[1:]))
        _run(client, answers[cell])


def _run(client: BlockingKernelClient, source: str) -> float:
    """Seconds from sending a cell to the kernel's last word on it."""
    start = time.perf_counter()
    reply = client.execute_interactive(
        source, timeout=PATIENCE_SECONDS, output_hook=lambda message: None, allow_stdin=False
    )
    seconds = time.perf_counter() - start
    if reply["content"]["status"] != "ok":
        raise RuntimeError(f"The kernel could not run this cell: {source[:300]}")
    return seconds


def main() -> None:
    """Print a line for each check cell and answer, then all together."""
    found: dict[str, list[Times]] = {}
    manager, client = start_new_kernel(cwd=str(NOTEBOOK.parent.parent), stderr=subprocess.DEVNULL)
    try:
        for kind, times in measure(client):
            found.setdefault(kind, []).append(times)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    print(f"{'':50s} median  95 of 100")
    for kind, cells in found.items():
        for times in cells:
            print(f"check_cell: {kind:14s} {times}")
        together = Times("all", tuple(second for times in cells for second in times.seconds))
        print(f"check_cell: {kind:14s} {together} (goal: at most {GOAL_MS} ms)")


if __name__ == "__main__":
    main()
