"""From one file of forward functions to a graded class, offline and without any names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader import cli
from grader.authoring.blank import fill
from grader.commands import exit_codes
from grader.execution.sandbox import best_sandbox

Capture = pytest.CaptureFixture[str]

FORWARD = '''\
from typing import Annotated

from torch import Tensor

EPS = 1e-5


def rms_norm(x: Annotated[Tensor, "n, d"], gain: Annotated[Tensor, "d"]) -> Tensor:
    """Divide each row by the root of its mean square, then scale it."""
    ms = (x**2).mean(1, keepdim=True)
    inv = (ms + EPS) ** -0.5
    xhat = x * inv
    out = gain * xhat
    return out
'''

NOTEBOOK = "01_rms_norm.ipynb"

ALL_RIGHT = """\
# answer: rmsnorm1-ms
dgain = (xhat * dout).sum(0)
dxhat = gain * dout
dinv = (x * dxhat).sum(1, keepdim=True)
dms = -0.5 * (ms + EPS) ** -1.5 * dinv
dx = inv * dxhat + 2 * x * dms / d
"""
ONE_BRANCH = ALL_RIGHT.replace("inv * dxhat + ", "")


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the author's file in it, no names, and another course in the air."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAKEMORE_NAMES", "/nonexistent")
    monkeypatch.setenv("GRADER_COURSE", "built-in")
    Path("rms_norm.py").write_text(FORWARD, encoding="utf-8")
    return tmp_path


def run(*arguments: object) -> int:
    return cli.main([str(argument) for argument in arguments])


def test_new_says_what_to_do_next(capsys: Capture) -> None:
    assert run("new", "rms_norm.py") == exit_codes.PASSED
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "wrote rms_norm/course.toml"
    assert out[-1] == "Edit them as you like, then run: grader build rms_norm"
    assert run("new", "rms_norm.py") == exit_codes.UNREADABLE
    said = "rms_norm is there already: name another with --out. Nothing was written.\n"
    assert capsys.readouterr().err == said


def test_new_tells_a_bad_file_in_one_sentence(capsys: Capture) -> None:
    Path("rms_norm.py").write_text(FORWARD.replace("x * inv", "x * y"), encoding="utf-8")
    assert run("new", "rms_norm.py", "--out", "norms") == exit_codes.UNREADABLE
    err = capsys.readouterr().err
    assert err.startswith("rms_norm, line 12: `xhat = x * y` raised NameError: name 'y' is not ")
    assert err.count("\n") == 1
    assert not Path("norms").exists()


def test_build_needs_a_course(capsys: Capture) -> None:
    assert run("build", "nowhere") == exit_codes.UNREADABLE
    said = "nowhere/course.toml is missing, which a course has to have.\n"
    assert capsys.readouterr().err == said


def edit(name: str, old: str, new: str) -> None:
    path = Path("norms", name)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


SOURCE = "source/01_rms_norm.py"
MISSING = {
    "a gradient without hints": (
        ("hints.toml", "dinv = [", "dinv_ = ["),
        ["dinv has 0 hints in norms/hints.toml; it needs 3."],
    ),
    "a gradient without an answer cell": (
        (SOURCE, "dxhat = gain * dout", ""),
        ["01_rms_norm: a check names dxhat, which no solution assigns."],
    ),
    "points that do not add up": (
        (SOURCE, 'check("dx")', 'check("dx", "dms")'),
        [
            f"norms/{SOURCE}: the check cells of rmsnorm1 add up to 6 points, its gradients to 5:"
            " a gradient is checked once."
        ],
    ),
    "another forward pass in the notebook": (
        (SOURCE, "xhat = x * inv\n", "xhat = inv * x\n"),
        [f"norms/{SOURCE} has no cells that are the body of rms_norm, as it stands in its file,"],
    ),
}


@pytest.mark.parametrize("name", MISSING)
def test_build_says_what_is_missing(name: str, capsys: Capture) -> None:
    (changed, sentences) = MISSING[name]
    run("new", "rms_norm.py", "--out", "norms")
    edit(*changed)
    capsys.readouterr()
    assert run("build", "norms") == exit_codes.NOT_PASSED
    out = capsys.readouterr().out
    assert out.startswith("01_rms_norm: 5 gradients, 5 points: to mend\n")
    for sentence in sentences:
        assert f"  {sentence}" in out


@pytest.mark.slow
def test_build_runs_what_it_makes(capsys: Capture) -> None:
    run("new", "rms_norm.py", "--out", "norms")
    edit(SOURCE, "dms = -0.5", "dms = 0.5")
    edit(SOURCE, "# %%\nboard()\n", "# %%\nassert isinstance(dx, torch.Tensor)\n")
    capsys.readouterr()
    assert run("build", "norms") == exit_codes.NOT_PASSED
    out = capsys.readouterr().out
    assert f"norms/{NOTEBOOK}: The cell that begins `assert" in out
    edit(SOURCE, "assert isinstance(dx, torch.Tensor)\n", "board()\n")
    assert run("build", "norms") == exit_codes.NOT_PASSED
    out = capsys.readouterr().out
    assert f"norms/solutions/{NOTEBOOK}: dms is `fail`, not `pass`: " in out
    assert f"norms/solutions/{NOTEBOOK}: dx is `carried`, not `pass`: " in out


@pytest.mark.slow
def test_from_a_file_to_a_graded_class(alone: Path, capsys: Capture) -> None:
    assert run("new", "rms_norm.py", "--out", "norms") == exit_codes.PASSED
    edit("course.toml", "sizes =", "points = 2\nsizes =")
    assert run("build", "norms") == exit_codes.PASSED, capsys.readouterr()
    out = capsys.readouterr().out
    assert "01_rms_norm: 5 gradients, 10 points: in order\n" in out
    assert out.endswith(f"For your students: norms/{NOTEBOOK}. A notebook needs no other file.\n")

    blank = nbformat.read(Path("norms", NOTEBOOK), as_version=4)
    points = [cell.metadata.get("nbgrader", {}).get("points", 0) for cell in blank.cells]
    assert sum(points) == 10
    for student, answers in (("ada", ALL_RIGHT), ("bob", ONE_BRANCH), ("cleo", "")):
        folder = Path("class", student)
        folder.mkdir(parents=True)
        done = fill(blank, answers) if answers else blank
        nbformat.write(done, folder / NOTEBOOK)
    where = ("--sandbox", best_sandbox(), "--jobs", 1, "--course", "norms")
    assert run("grade", "class", "--out", "gradebook", *where) == exit_codes.PASSED
    lines = map(json.loads, Path("gradebook/results.jsonl").read_text("utf-8").splitlines())
    scores: dict[str, Any] = {line["student"]: line["score"] for line in lines}
    assert scores == {"ada": 10, "bob": 8, "cleo": 0}

    handed_in = shutil.copy(Path("class/bob", NOTEBOOK), alone / "mine.ipynb")
    assert run("reset", handed_in, "--course", "norms") == exit_codes.PASSED
    sources = [cell.source for cell in nbformat.read(handed_in, as_version=4).cells]
    assert "# answer: rmsnorm1-ms\ndx = ...  # your turn" in sources
