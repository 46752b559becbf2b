"""A notebook alone in an empty folder, on a machine that looks like Colab, from a built wheel."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = sorted(Path(__file__).parents[1].joinpath("notebooks").glob("*.ipynb"))

RUN = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[1])
import grader
print(grader.__file__)
"""


def run(*command: str | Path, folder: Path, **variables: str) -> str:
    """Run a command with nothing of this checkout in its environment; return what it printed."""
    kept = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "MPLBACKEND"}}
    finished = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course as it would be installed from its repository."""
    project = Path(__file__).resolve().parents[1]
    out = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
    run(*build, str(project), folder=project)
    (path,) = out.glob("*.whl")
    return path


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
    # On Colab the kernel has imported google.colab before the first cell runs.
    stub = there / "google" / "colab"
    stub.mkdir(parents=True)
    (stub / "__init__.py").touch()
    (there / "colab.pth").write_text("import google.colab\n", encoding="utf-8")
    return folder


def packages_of(environment: Path) -> Path:
    (folder,) = environment.glob("lib/python*/site-packages")
    return folder


def test_the_wheel_has_everything_the_course_needs(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "grader/py.typed",
        "grader/__init__.pyi",
        "grader/hints/ex1.toml",
        "grader/reports/report.html.jinja",
        "makemore_data/__init__.pyi",
        "makemore_data/bundled_names.txt",
        "makemore_data/py.typed",
    } <= names
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"grader", "makemore_data"}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_blank_notebook_opens_alone(
    notebook: Path, wheel: Path, colab: Path, tmp_path: Path
) -> None:
    alone = tmp_path / notebook.name
    alone.write_bytes(notebook.read_bytes())
    used = run(
        *(colab / "bin" / "python", "-c", RUN, alone),
        folder=tmp_path,
        BACKPROP_NINJA_PACKAGE=str(wheel),
        MAKEMORE_NAMES="bundled",
        PIP_NO_INDEX="1",
    )
    assert Path(used.splitlines()[-1]).is_relative_to(colab), "not the wheel's package"
    for package in ("torch", "numpy"):
        assert (packages_of(colab) / package).is_symlink(), f"the notebook has replaced {package}"

    cells = [cell for cell in nbformat.read(alone, as_version=4).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    checks = [cell for cell in cells if cell.metadata.get("nbgrader", {}).get("grade")]
    assert checks
    for check in checks:
        said = "".join(output.get("text", "") for output in check.outputs)
        assert said.count("to do") >= check.metadata.nbgrader.points, said
