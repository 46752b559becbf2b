"""The shell steps of GitHub Actions workflows, run as its runners run them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from corpus.readers.places import PROJECT

CLASSROOM = PROJECT / "grader" / "authoring" / "student" / "classroom.yml"
WORKFLOWS = {path.stem: path for path in (PROJECT / ".github" / "workflows").glob("*.yml")}
WORKFLOWS["classroom"] = CLASSROOM


def read(workflow: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(WORKFLOWS[workflow].read_text(encoding="utf-8"))
    return document


def steps(workflow: str) -> Iterator[dict[str, Any]]:
    for job in read(workflow)["jobs"].values():
        yield from job.get("steps", ())


def run_step(
    workflow: str, name: str, folder: Path, variables: Mapping[str, str], python: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the step of that name in a folder, with the commands of this environment first.

    The variables of the whole workflow are set, those of the step are not: they point to registries
    that need not be reached from here.
    """
    (step,) = (step for step in steps(workflow) if step.get("name") == name)
    bin_folder = Path(python or sys.executable).parent
    path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-c", step["run"]],
        cwd=folder,
        env={**os.environ, **read(workflow).get("env", {}), "PATH": path, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
