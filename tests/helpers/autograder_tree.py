"""A tree such as Gradescope's container has it at /autograder, for runs in it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus.readers.exercise_text import read_cells
from corpus.readers.lecture_course import COURSE
from grader.execution.sandbox import best_sandbox
from grader.platforms.gradescope.archive import autograder_zip
from grader.platforms.gradescope.settings import ExportSettings
from grader.program.course import Course
from tests.helpers.course_notebooks import dump, with_answers
from tests.helpers.gradescope_schema import validate

VENV = os.environ.get("BACKPROP_NINJA_VENV", sys.prefix)
"""The environment that `setup.sh` would have made: this one, unless that has been run."""

KEY = "the key of this zip"
SECONDS = 600

METADATA = {
    "id": 123456,
    "created_at": "2018-08-01T14:22:32.365935-07:00",
    "assignment": {"due_date": "2018-07-31T23:00:00.000000-07:00", "title": "Assignment 1"},
    "users": [{"email": "student@example.com", "id": 1234, "name": "Student User"}],
    "previous_submissions": [],
}


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run has left: the results, what it printed, where."""

    root: Path
    results: dict[str, Any]
    printed: str

    @property
    def scores(self) -> dict[str, float]:
        return {test["name"]: test["score"] for test in self.results["tests"]}

    def output(self, name: str) -> str:
        """What the student reads of one test."""
        (found,) = (test["output"] for test in self.results["tests"] if test["name"] == name)
        assert isinstance(found, str)
        return found


def settings_for(notebook: str, **changes: Any) -> ExportSettings:
    return ExportSettings(notebook, **{"sandbox": str(best_sandbox()), "key": KEY, **changes})


def unpack(
    root: Path, settings: ExportSettings, rubric: bytes | None = None, course: Course = COURSE
) -> None:
    """Put an autograder's zip where Gradescope unpacks it."""
    archive = zipfile.ZipFile(io.BytesIO(autograder_zip(settings, rubric, course)))
    archive.extractall(root / "source")
    (root / "run_autograder").write_bytes(archive.read("run_autograder"))
    (root / "results").mkdir(exist_ok=True)
    (root / "submission_metadata.json").write_text(json.dumps(METADATA))


def hand_in(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / "submission" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def run_autograder(root: Path, *before: str) -> Ran:
    """Run the script itself; `before` is a command that runs it, if any."""
    done = subprocess.run(
        [*before, "bash", str(root / "run_autograder")],
        env={"PATH": os.environ["PATH"], "AUTOGRADER_ROOT": str(root), "BACKPROP_NINJA_VENV": VENV},
        cwd=root,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    results = json.loads((root / "results" / "results.json").read_bytes())
    validate(results)
    return Ran(root, results, done.stdout)


def notebook_with(blank: Path, answers: str) -> str:
    """The text of a notebook file with the answer cells of a text filled in."""
    return dump(with_answers(blank, dict(read_cells(answers))))
