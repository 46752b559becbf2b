"""The assignment as otter has it: an autograder's zip, and notebooks handed in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.class_of_students import FLAT, Class, write_class
from benchmarks.peers.assignment import comparison_of, notebook
from benchmarks.peers.clock import Command, seconds_of
from benchmarks.peers.environments import OTTER
from benchmarks.students import Paper
from corpus.readers.exercise_text import GRADIENTS

LOOP = Path(__file__).parent / "otter_loop.py"

TEST = """\
from otter.test_files import test_case
import torch

OK_FORMAT = False
name = "{gradient}"
points = 1


@test_case(points=1, hidden=False)
def test_gradient({gradient}, {tensor}):
    {test}
"""


@dataclass(frozen=True, slots=True)
class Course:
    """A folder with the autograder's zip and the class's notebooks."""

    folder: Path

    @classmethod
    def with_class(cls, folder: Path, made: Class) -> Course:
        """Make both; the autograder with otter's own command."""
        OTTER.make()
        course = cls(folder)
        tests = folder / "tests"
        tests.mkdir(parents=True)
        for gradient in GRADIENTS:
            text = TEST.format(gradient=gradient, tensor=gradient[1:], test=comparison_of(gradient))
            (tests / f"{gradient}.py").write_text(text, encoding="utf-8")
        words = ("generate", "-t", "tests", "-o", "autograder.zip", "--no-requirements")
        seconds_of([course.command(*words, "--no-environment")])
        paper = Paper.of(notebook(with_tests=False))
        write_class(folder / "submissions", made, paper, FLAT)
        return course

    def command(self, *words: str) -> Command:
        """One of otter's commands in this folder."""
        return self._command(OTTER.program("otter"), *words)

    @property
    def notebooks(self) -> Sequence[Path]:
        """What was handed in."""
        return sorted((self.folder / "submissions").glob("*.ipynb"))

    def run(self, notebook: Path) -> Command:
        """`otter run`: a process for each notebook."""
        out = self.folder / "run" / notebook.stem
        out.mkdir(parents=True, exist_ok=True)
        return self.command("run", "-a", "autograder.zip", "-o", str(out), str(notebook))

    def loop(self, notebooks: Sequence[Path], name: str) -> Command:
        """Otter's API, in one process for all the notebooks; points go to a file of that name."""
        out = self.folder / f"{name}.json"
        words = (str(LOOP), "autograder.zip", str(out), *map(str, notebooks))
        return self._command(OTTER.program("python"), *words)

    def scores(self, name: str) -> dict[str, float]:
        """The points that a loop of that name found, by student."""
        text = (self.folder / f"{name}.json").read_text(encoding="utf-8")
        return {Path(path).stem: points for path, points in json.loads(text).items()}

    def _command(self, *words: str) -> Command:
        return Command(words, self.folder, OTTER.variables(self.folder / ".jupyter"))
