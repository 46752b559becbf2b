"""What is published: the wheel, the sdist, what they say of themselves, and the wheel alone."""

import email
import os
import re
import shutil
import subprocess
import tarfile
import venv
import zipfile
from email.message import Message
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.helpers.built import build
from tests.helpers.workflow_steps import run_step

PACKAGES = ("grader", "makemore_data")
NOBODYS = {"__pycache__", "build", "dist", ".venv", ".ipynb_checkpoints", "names.txt"}
"""What lies about in a checkout that was worked in; `names.txt` belongs to the lecture."""


@cache
def wheel_files() -> frozenset[str]:
    return frozenset(zipfile.ZipFile(build()[1]).namelist())


@cache
def sdist_files() -> frozenset[str]:
    with tarfile.open(build()[0]) as archive:
        files = (member.name for member in archive.getmembers() if member.isfile())
        return frozenset(name.partition("/")[2] for name in files)


@cache
def metadata() -> Message:
    (name,) = (name for name in wheel_files() if name.endswith(".dist-info/METADATA"))
    return email.message_from_bytes(zipfile.ZipFile(build()[1]).read(name))


def requirements(extra: str | None = None) -> set[str]:
    """The packages that the wheel, or one of its extras, asks for."""
    asked = map(Requirement, metadata().get_all("Requires-Dist") or ())
    wanted = f'extra == "{extra}"' if extra else ""
    return {
        canonicalize_name(one.name)
        for one in asked
        if (wanted in str(one.marker) if extra else not one.marker)
    }


def test_the_wheel_is_the_two_packages_with_the_blank_notebooks(project: Path) -> None:
    on_disk = {
        path.relative_to(project).as_posix()
        for package in PACKAGES
        for path in (project / package).rglob("*")
        if path.is_file() and NOBODYS.isdisjoint(path.parts)
    }
    # `grader start` copies the blank notebooks.
    blanks = [*project.glob("notebooks/*.ipynb"), *project.glob("notebooks/encore/*.ipynb")]
    on_disk |= {f"makemore_data/{path.relative_to(project).as_posix()}" for path in blanks}
    assert {name for name in wheel_files() if ".dist-info/" not in name} == on_disk


def test_the_sdist_is_the_whole_project(project: Path) -> None:
    """With its notebooks and tests, so that whoever repackages it can run them."""
    assert {"PKG-INFO", "Makefile", "constraints.txt", ".ci/run"} <= sdist_files()
    for folder in ("notebooks/solutions", "notebooks/source", "corpus/answers", "docs"):
        assert any(name.startswith(f"{folder}/") for name in sdist_files()), folder
    if (project / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=project, capture_output=True, text=True, check=True
        )
        kept = {name for name in listed.stdout.split("\0") if (project / name).is_file()}
        assert kept - sdist_files() == set()


@pytest.mark.slow
def test_nothing_that_lies_about_is_published() -> None:
    for name in wheel_files() | sdist_files():
        assert NOBODYS.isdisjoint(Path(name).parts), name
        assert not name.endswith((".pyc", ".so", ".pt", ".safetensors")), name


def test_the_lectures_names_are_not_published_under_another_name() -> None:
    with tarfile.open(build()[0]) as archive:
        for member in archive.getmembers():
            if (file := archive.extractfile(member)) and member.name.endswith((".txt", ".csv")):
                assert file.read().count(b"\n") < 20_000, member.name


def test_the_description_needs_no_repository_around_it(project: Path) -> None:
    assert metadata()["Description-Content-Type"] == "text/markdown"
    text = metadata().get_payload()
    assert isinstance(text, str)
    targets = re.findall(r"\]\(([^)]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text)
    assert targets
    assert [target for target in targets if not target.startswith(("https://", "#"))] == []
    _, _, repository = str(metadata()["Project-URL"]).partition(", ")
    raw = repository.replace("github.com", "raw.githubusercontent.com")
    ours = [
        target.removeprefix(address)
        for target in targets
        for address in (f"{repository}/blob/main/", f"{raw}/main/")
        if target.startswith(address)
    ]
    assert {"docs/board.svg", "CONTRIBUTING.md"} <= set(ours)
    assert [path for path in ours if not (project / path.partition("#")[0]).exists()] == []


def test_a_student_needs_none_of_the_extras() -> None:
    extras = metadata().get_all("Provides-Extra") or []
    assert {"dev", "grade", "lab"} <= set(extras)
    for extra in extras:
        assert requirements(extra)
        assert requirements().isdisjoint(requirements(extra)), extra


@pytest.mark.tools
def test_it_builds_in_isolation_and_twine_finds_nothing_wrong(
    project: Path, tmp_path: Path
) -> None:
    """The step of the workflow that publishes, in an environment of its own."""
    with tarfile.open(build()[0]) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.glob("backprop_ninja-*")
    venv.create(tmp_path / "builder", with_pip=True)
    done = run_step("publish", "Build", folder, {}, str(tmp_path / "builder/bin/python"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2, done.stdout
    assert {path.suffix for path in (folder / "dist").iterdir()} == {".whl", ".gz"}


OFFLINE = ("bwrap", "--dev-bind", "/", "/", "--unshare-net", "--proc", "/proc")
"""A command after these reaches no other machine."""


@pytest.mark.tools
@pytest.mark.skipif(not shutil.which("bwrap"), reason="takes the network away with bubblewrap")
def test_the_wheel_alone(project: Path, tmp_path: Path) -> None:
    """The step of the workflow that publishes; then what a student does, without a network."""
    checkout, runner = tmp_path / "checkout", tmp_path / "runner"
    for folder in (checkout / "dist", runner):
        folder.mkdir(parents=True)
    shutil.copy(build()[1], checkout / "dist")
    shutil.copy(project / "constraints.txt", checkout)
    shutil.copytree(project / "notebooks", checkout / "notebooks")
    done = run_step("publish", "Try the wheel alone", checkout, {"RUNNER_TEMP": str(runner)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "26 of 26 points" in done.stdout

    alone = runner / "alone" / "bin"
    kept = {"PATH", "LANG", "TMPDIR"}
    environment = {k: v for k, v in os.environ.items() if k in kept} | {"HOME": str(tmp_path)}

    def run(*words: str | Path) -> str:
        finished = subprocess.run(
            [*OFFLINE, *map(str, words)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert finished.returncode in (0, 1), finished.stdout + finished.stderr
        return finished.stdout

    blank = tmp_path / "01_atomic_backprop.ipynb"
    shutil.copy(project / "notebooks" / blank.name, blank)
    solution = project / "notebooks" / "solutions" / blank.name
    grader = alone / "grader"
    page = tmp_path / "report.html"
    assert "26 of 26 points" in run(grader, "check", solution, "--html", page)
    assert page.exists()
    assert "0 of 26 points" in run(grader, "check", blank)
    said = run(
        alone / "python", "-c", "import makemore_data; print(len(makemore_data.load_names()))"
    )
    assert "bundled" in said
    assert int(said.splitlines()[-1]) >= 5_000

    listed = run(alone / "python", "-m", "pip", "list", "--format=freeze")
    installed = {canonicalize_name(line.partition("==")[0]) for line in listed.splitlines()}
    assert requirements() <= installed
    others = {
        name for extra in metadata().get_all("Provides-Extra") or () for name in requirements(extra)
    }
    # The first is brought by torch, the second by matplotlib.
    assert installed & others <= {"filelock", "packaging"}
    shutil.rmtree(runner)  # a gigabyte, which pytest would keep
