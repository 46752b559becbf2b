"""A notebook alone in an empty folder, on a machine that looks like Colab, from a built wheel."""

import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.helpers.built import build
from tests.helpers.colab_machine import (
    packages_of,
    pretend_to_be_colab,
    run_alone,
    said_by_checks,
)
from tests.helpers.course_notebooks import FOLDER, NAMES


@pytest.fixture(scope="module")
def wheel() -> Path:
    _, wheel = build()
    return wheel


@pytest.fixture(scope="module")
def colab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment that has what Colab has, and not the course.

    The packages are links to those of the environment that runs the tests: pip takes them for
    installed, so that nothing is downloaded.
    """
    folder = tmp_path_factory.mktemp("colab")
    venv.create(folder, with_pip=True, symlinks=True)
    here, there = Path(sysconfig.get_path("purelib")), packages_of(folder)
    for entry in here.iterdir():
        ours = "backprop_ninja" in entry.name or entry.name in {"grader", "makemore_data"}
        if not (ours or entry.name.startswith("pip") or (there / entry.name).exists()):
            (there / entry.name).symlink_to(entry)
    pretend_to_be_colab(folder)
    return folder


@pytest.mark.slow
def test_the_wheel_has_everything_the_course_needs(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "grader/py.typed",
        "grader/__init__.pyi",
        "grader/reports/report.html.jinja",
        "makemore_data/__init__.pyi",
        "makemore_data/course/course.toml",
        "makemore_data/course/hints.toml",
        "makemore_data/names/bundled_names.txt",
        "makemore_data/py.typed",
    } <= names
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"grader", "makemore_data"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [*NAMES, "encore/05_attention", "encore/06_block", "encore/07_training"]
)
def test_a_blank_notebook_opens_alone(name: str, wheel: Path, colab: Path, tmp_path: Path) -> None:
    blank = FOLDER / f"{name}.ipynb"
    notebook = run_alone(blank, colab, wheel, tmp_path, MAKEMORE_NAMES="bundled", PIP_NO_INDEX="1")
    for package in ("torch", "numpy"):
        assert (packages_of(colab) / package).is_symlink(), f"the notebook has replaced {package}"
    for points, said in said_by_checks(notebook):
        assert said.count("to do") >= points, said
