"""From one file of forward functions to a graded class, offline and without any names."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml

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


def test_new_calls_the_exercise_as_it_is_told(capsys: Capture) -> None:
    two = FORWARD + FORWARD[FORWARD.index("def ") :].replace("rms_norm", "other_norm")
    Path("two.py").write_text(two, encoding="utf-8")
    assert run("new", "two.py", "--id", "n1") == exit_codes.PASSED
    table = tomllib.loads(Path("two/course.toml").read_text(encoding="utf-8"))
    assert [each["id"] for each in table["exercise"]] == ["n1", "n2"]
    assert "\n# answer: n2-out\n" in Path("two/source/02_other_norm.py").read_text("utf-8")
    assert run("new", "two.py", "--out", "other", "--id", "norm") == exit_codes.UNREADABLE
    said = "No exercise can be called norm: take letters and a number, as n1.\n"
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


def test_export_for_otter_takes_the_course_along(alone: Path, capsys: Capture) -> None:
    run("new", "rms_norm.py", "--out", "norms")
    edit("course.toml", "sizes =", "points = 2\nsizes =")
    assert run("export", "otter", "--course", "norms", "--out", "out") == exit_codes.PASSED
    assert capsys.readouterr().out.endswith(f"wrote out/{NOTEBOOK}\n")
    first, *cells = nbformat.read(Path("out", NOTEBOOK), as_version=4).cells
    (plugin,) = yaml.safe_load(first.source)["plugins"]
    files = plugin["grader.platforms.otter.AnswersOnly"]["course"]
    paths = [Path("norms", name) for name in ("course.toml", "forward.py")]
    assert files == {path.name: path.read_text(encoding="utf-8") for path in paths}
    tests = [cell.source for cell in cells if "# BEGIN TEST CONFIG" in cell.source]
    assert len(tests) == 5
    assert all("\npoints: 2\n" in test for test in tests)


def test_export_for_otter_needs_sources(alone: Path, capsys: Capture) -> None:
    run("new", "rms_norm.py", "--out", "norms")
    Path("norms", SOURCE).unlink()
    for course, said in (
        (("--course", "norms"), "There is no norms/source/*.py.\n"),
        ((), "`grader export otter` looks at the course's own files: run it in a clone of"),
    ):
        capsys.readouterr()
        assert run("export", "otter", *course, "--out", "out") == exit_codes.UNREADABLE
        assert capsys.readouterr().err.startswith(said)
    assert not Path("out").exists()


def edit(name: str, old: str, new: str) -> None:
    path = Path("norms", name)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


SOURCE = "source/01_rms_norm.py"
MISSING = {
    "a gradient without hints": (
        ("hints.toml", "dinv = [", "dinv_ = ["),
        [
            "dinv has 0 hints in norms/hints.toml; it needs 3.",
            "norms/hints.toml has hints for dinv_, which nobody asks for.",
        ],
    ),
    "a gradient without an answer cell": (
        (SOURCE, "dxhat = gain * dout", ""),
        ["01_rms_norm: the check rmsnorm1-out names dxhat, which no solution assigns."],
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
        [
            f"norms/{SOURCE} has no cells that begin with the body of rms_norm, as it stands in its"
            " file, without its docstring and its return: it needs one. The first line that differs"
            " is `xhat = inv * x` in the notebook, `xhat = x * inv` in the file."
        ],
    ),
    "another name of the exercise": (
        ("course.toml", '"rmsnorm1"', '"n1"'),
        [
            f"norms/{SOURCE} calls it rmsnorm1, and norms/course.toml calls it n1: use one name in"
            " both, and in norms/hints.toml."
        ],
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
    assert out.count("\n  ") == len(sentences), "each is said once"


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
    told, twice = out.splitlines()[-2:]
    assert told == f"For your students: norms/{NOTEBOOK}. A notebook needs no other file."
    assert twice.endswith(f"name it twice: grader check {NOTEBOOK} --course {NOTEBOOK}")

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

    for student, code in (("ada", exit_codes.PASSED), ("bob", exit_codes.NOT_PASSED)):
        own = Path("class", student, NOTEBOOK)
        assert run("check", own, "--course", own) == code, "a notebook carries its course"
