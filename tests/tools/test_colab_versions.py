"""The four notebooks with the versions that Colab had in 2026, as far as Python 3.11 takes them.

Colab's Python was 3.13 and its torch 2.11; here they are those that run the other tests. With those
two as well, `make test-colab` runs the notebooks.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from benchmarks.peers.environments import Environment
from corpus.readers.places import PROJECT
from tests.helpers.built import build
from tests.helpers.colab_machine import (
    pretend_to_be_colab,
    run,
    run_alone,
    said_by_checks,
)
from tests.helpers.course_notebooks import FOLDER, NAMES

pytestmark = pytest.mark.tools

LISTED = (PROJECT / ".ci/colab-constraints.txt").read_text(encoding="utf-8")
VERSIONS = dict(re.findall(r"^(?!torch)(\w+)==(\S+)$", LISTED, re.MULTILINE))
COLAB = Environment(
    "colab",
    (
        *(f"{name}=={version}" for name, version in VERSIONS.items()),
        "nbclient",
        "nbformat",
        "torch",
    ),
)


@pytest.fixture(scope="module")
def colab() -> Path:
    """Colab's packages without the course: it comes with the first cell, from the registry too."""
    COLAB.make()
    uninstall = (COLAB.program("python"), "-m", "pip", "uninstall", "-qq", "-y", "backprop-ninja")
    subprocess.run(uninstall, check=True)
    pretend_to_be_colab(COLAB.folder)
    return COLAB.folder


@pytest.fixture(scope="module")
def wheel() -> Path:
    _, wheel = build()
    return wheel


@pytest.fixture(scope="module")
def names() -> str:
    """The lecture's where they are at hand; the solutions take any."""
    return os.environ.get("MAKEMORE_NAMES") or "bundled"


@pytest.mark.parametrize("name", NAMES)
def test_a_blank_notebook_is_to_do(
    name: str, colab: Path, wheel: Path, names: str, tmp_path: Path
) -> None:
    notebook = run_alone(FOLDER / f"{name}.ipynb", colab, wheel, tmp_path, MAKEMORE_NAMES=names)
    for points, said in said_by_checks(notebook):
        assert said.count("to do") >= points, said


@pytest.mark.parametrize("name", NAMES)
def test_a_solved_notebook_passes(
    name: str, colab: Path, wheel: Path, names: str, tmp_path: Path
) -> None:
    solution = FOLDER / "solutions" / f"{name}.ipynb"
    notebook = run_alone(solution, colab, wheel, tmp_path, MAKEMORE_NAMES=names)
    for points, said in said_by_checks(notebook):
        assert said.count("| pass") == points, said
    written = [o for cell in notebook.cells for o in cell.get("outputs", []) if o.get("name")]
    assert {output.name for output in written} == {"stdout"}


@pytest.mark.parametrize("package", VERSIONS)
def test_the_course_has_replaced_none_of_colabs_packages(
    package: str, colab: Path, tmp_path: Path
) -> None:
    ask = f"import importlib.metadata as m; print(m.version({package!r}), m.version('torch'))"
    version, torch = run(colab / "bin" / "python", "-c", ask, folder=tmp_path).split()
    assert version == VERSIONS[package]
    assert torch.partition("+")[0] == "2.13.0"
