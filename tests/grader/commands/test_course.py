"""Every command takes a course that the grader does not know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grader import cli
from grader.classroom.gradebook.rubric import parse_rubric
from grader.commands import exit_codes
from grader.execution.sandbox import best_sandbox
from grader.program.course import read_course
from tests.helpers.small_course import COURSE, FILES, FORWARD, RIGHT, write_course

Capture = pytest.CaptureFixture[str]

WRONG = RIGHT.replace("keepdim=True) * inv", "keepdim=True)")
CHEAT = FORWARD.replace("loss = (dout * out).sum()", "loss = (0 * dout * out).sum()")


def write_notebook(
    path: Path, answer: str, carried: dict[str, str] | None = None, **metadata: Any
) -> Path:
    sources = [f"# answer: n1-norm\n{answer}"]
    if carried is not None:
        sources.append(f"# The course.\nfrom grader import start_lesson\nstart_lesson({carried!r})")
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": source.splitlines(keepends=True),
        }
        for source in sources
    ]
    document = {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_course(tmp_path / "norms", course=f"{COURSE}points = 3\n")
    return folder


def run(*arguments: object) -> int:
    return cli.main([str(argument) for argument in arguments])


@pytest.mark.slow
def test_check(course: Path, tmp_path: Path, capsys: Capture) -> None:
    right = write_notebook(tmp_path / "right.ipynb", RIGHT)
    wrong = write_notebook(tmp_path / "wrong.ipynb", WRONG)
    page = tmp_path / "page.html"
    assert run("check", right, "--course", course, "--json") == exit_codes.PASSED
    found = json.loads(capsys.readouterr().out)
    assert (found["notebook"], found["score"], found["max_score"]) == ("01_rms_norm", 6, 6)
    assert found["gradients"][0]["expected_shape"] == [6, 10]
    assert run("check", wrong, "--course", course, "--html", page) == exit_codes.NOT_PASSED
    assert "dx" in capsys.readouterr().out
    assert ">dgain</text>" in page.read_text(encoding="utf-8")
    assert run("check", right) == exit_codes.UNREADABLE
    assert "this grader knows only ex1-" in capsys.readouterr().err


@pytest.mark.slow
def test_check_finds_the_course_by_itself(course: Path, tmp_path: Path, capsys: Capture) -> None:
    named = write_notebook(tmp_path / "x.ipynb", RIGHT, backprop_ninja={"course": "norms"})
    beside = write_notebook(course / "week 1" / "x.ipynb", RIGHT)
    assert run("check", named, beside) == exit_codes.PASSED, capsys.readouterr()


ADVICE = "It carries its own course: add `--course {}` if you trust who made it.\n"


@pytest.mark.slow
def test_a_carried_course_counts_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    mine = write_notebook(Path("mine.ipynb"), RIGHT, dict(FILES))
    assert run("check", mine, "--course", mine) == exit_codes.PASSED, capsys.readouterr()
    assert "2 of 2" in capsys.readouterr().out
    assert run("check", mine) == exit_codes.UNREADABLE
    monkeypatch.setenv("GRADER_COURSE", "mine.ipynb")
    assert run("check", mine) == exit_codes.PASSED


@pytest.mark.slow
def test_a_carried_course_that_was_not_asked_for_is_said_and_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    forged = {**FILES, "forward.py": FORWARD.replace('"""\n\n', '"""\n\nopen("ran", "w")\n', 1)}
    forged["forward.py"] = forged["forward.py"].replace("from __future__ import annotations\n", "")
    mine = write_notebook(Path("a class", "eve", "it is.ipynb"), RIGHT, forged)
    assert run("check", mine) == exit_codes.UNREADABLE
    assert capsys.readouterr().err.endswith(ADVICE.format(f"'{mine}'"))
    named = write_notebook(
        Path("named.ipynb"), RIGHT, forged, backprop_ninja={"course": "named.ipynb"}
    )
    assert run("check", named) == exit_codes.UNREADABLE, "a file does not ask for what it carries"

    assert grade(Path("a class"), Path("out")) == exit_codes.UNREADABLE
    assert "carries" not in lines(Path("out"))["eve"]["error"]
    assert grade(Path("a class"), Path("other"), "--course", mine) == exit_codes.UNREADABLE
    assert f"The course {mine} lies in the folder that is graded" in capsys.readouterr().err
    assert not Path("ran").exists()
    assert run("check", mine, "--course", mine) == exit_codes.PASSED
    assert Path("ran").exists(), "or the test could not fail"


@pytest.mark.slow
def test_a_class_is_graded_by_the_course_that_the_instructors_notebook_carries(
    tmp_path: Path, capsys: Capture
) -> None:
    own = write_notebook(tmp_path / "own.ipynb", RIGHT, dict(FILES))
    write_notebook(tmp_path / "class" / "ada" / "01.ipynb", RIGHT)
    write_notebook(
        tmp_path / "class" / "eve" / "01.ipynb", "dx = 0 * x", {**FILES, "forward.py": CHEAT}
    )
    assert grade(tmp_path / "class", tmp_path / "out", "--course", own) == exit_codes.PASSED
    found = lines(tmp_path / "out")
    assert [found[student]["score"] for student in ("ada", "eve")] == [2, 0]


@pytest.mark.parametrize(
    ("carried", "said"),
    [
        (None, "mine.ipynb carries no course: no cell says `start_lesson({...})`.\n"),
        ({}, "mine.ipynb carries no course: no cell says `start_lesson({...})`.\n"),
        ({"course.toml": COURSE}, "forward.py is missing, which a course has to have.\n"),
        ({**FILES, "course.toml": COURSE.replace("dx", "dy")}, "n1: dy is asked for, "),
    ],
)
def test_a_carried_course_that_cannot_be_used_is_one_sentence(
    carried: dict[str, str] | None, said: str, tmp_path: Path, capsys: Capture
) -> None:
    mine = write_notebook(tmp_path / "mine.ipynb", RIGHT, carried)
    assert run("check", mine, "--course", mine) == exit_codes.UNREADABLE
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert run("check", mine, "--course", tmp_path / "gone.ipynb") == exit_codes.UNREADABLE
    assert capsys.readouterr().err.startswith(f"There is no file {tmp_path / 'gone.ipynb'}: ")


def test_a_bad_course_is_one_sentence(course: Path, tmp_path: Path, capsys: Capture) -> None:
    right = write_notebook(tmp_path / "right.ipynb", RIGHT)
    (course / "forward.py").write_text(FORWARD.replace("    inv =", "    x = x\n    inv ="))
    assert run("check", right, "--course", course) == exit_codes.UNREADABLE
    err = capsys.readouterr().err
    assert err.startswith(f"{course / 'forward.py'}: rms_norm, line 14, is not a step: ")
    assert err.count("\n") == 1
    (course / "forward.py").write_text(FORWARD)
    (course / "course.toml").write_text(COURSE.replace("dgain", "dg"))
    assert run("check", right, "--course", course) == exit_codes.UNREADABLE
    err = capsys.readouterr().err
    assert err.startswith(f"{course / 'course.toml'}, n1: dg is asked for, ")
    assert err.count("\n") == 1


@pytest.mark.slow
def test_a_forward_pass_of_one_size_is_one_sentence(
    course: Path, tmp_path: Path, capsys: Capture
) -> None:
    handed_in = tmp_path / "class"
    right = write_notebook(handed_in / "ada" / "right.ipynb", RIGHT)
    (course / "forward.py").write_text(FORWARD.replace("x * inv", "x.view(6, 10) * inv"))
    said = f"{course / 'forward.py'}: rms_norm, line 15, does not run on every size, "
    assert run("check", right, "--course", course) == exit_codes.UNREADABLE
    assert capsys.readouterr().err.startswith(said)
    assert grade(handed_in, tmp_path / "out", "--course", course) == exit_codes.UNREADABLE
    assert said in capsys.readouterr().err


def grade(folder: Path, out: Path, *more: object) -> int:
    where = ("--sandbox", best_sandbox(), "--jobs", 1, "--seed", 5)
    return run("grade", folder, "--out", out, *where, *more)


def lines(out: Path) -> dict[str, Any]:
    found = map(json.loads, (out / "results.jsonl").read_bytes().splitlines())
    return {line["student"]: line for line in found}


@pytest.mark.slow
def test_a_class_is_graded_by_the_instructors_course(
    course: Path, tmp_path: Path, capsys: Capture
) -> None:
    """Whatever courses students hand in, and whatever their notebooks say: none of it is run."""
    handed_in, out, touched = tmp_path / "class", tmp_path / "out", tmp_path / "touched"
    forged = f"open({str(touched)!r}, 'w')\n" + CHEAT.partition('"""\n\n')[2].partition("\n")[2]
    cheat = "dx = 0 * x\ndgain = 0 * gain"
    named = {"backprop_ninja": {"course": "own"}}
    write_notebook(handed_in / "ada" / "01_rms_norm.ipynb", RIGHT)
    write_notebook(handed_in / "eve" / "01_rms_norm.ipynb", cheat, **named)
    for folder in (handed_in, handed_in / "eve", handed_in / "eve" / "own"):
        write_course(folder, forward=forged)
    assert grade(handed_in, out, "--course", course) == exit_codes.PASSED, capsys.readouterr()
    assert not touched.exists()
    found = lines(out)
    assert [found[student]["score"] for student in ("ada", "eve")] == [6, 0]
    assert "6 of 6 points" in (out / "report" / "students" / "ada.html").read_text("utf-8")

    # Without --course it is the built-in one, which has no such notebook.
    capsys.readouterr()
    assert grade(handed_in, tmp_path / "other") == exit_codes.UNREADABLE
    said = "No file could be graded. ada/01_rms_norm.ipynb answers n1, and this grader knows only "
    assert said in capsys.readouterr().err
    assert "this grader knows only ex1-" in lines(tmp_path / "other")["eve"]["error"]
    assert not touched.exists()
    run("check", handed_in / "eve" / "01_rms_norm.ipynb")
    assert touched.exists(), "or the test could not fail"


@pytest.mark.slow
def test_another_course_does_not_go_on_with_a_gradebook(
    course: Path, tmp_path: Path, capsys: Capture
) -> None:
    handed_in, out = tmp_path / "class", tmp_path / "out"
    write_notebook(handed_in / "ada" / "01_rms_norm.ipynb", RIGHT)
    assert grade(handed_in, out, "--course", course) == exit_codes.PASSED
    assert grade(handed_in, out, "--course", course) == exit_codes.PASSED, "the same goes on"
    (course / "forward.py").write_text(FORWARD.replace("1e-5", "1e-4"))
    assert grade(handed_in, out, "--course", course) == exit_codes.UNREADABLE
    assert "was begun with another course" in capsys.readouterr().err


@pytest.mark.slow
def test_a_gradebook_is_compared_by_its_own_course(
    course: Path, tmp_path: Path, capsys: Capture
) -> None:
    """By the built-in one, all of its points would be none, and no student would have moved."""
    for out, answer in (("old", WRONG), ("new", RIGHT)):
        write_notebook(tmp_path / f"{out}-class" / "ada" / "01_rms_norm.ipynb", answer)
        assert grade(tmp_path / f"{out}-class", tmp_path / out, "--course", course) == 0
    capsys.readouterr()
    both = tmp_path / "old", tmp_path / "new"
    assert run("compare", *both) == exit_codes.PASSED
    assert "ada  3 → 6" in capsys.readouterr().out


def test_a_course_among_the_submissions_is_refused(
    course: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert grade(tmp_path, tmp_path.parent / "out", "--course", course) == exit_codes.UNREADABLE
    assert "lies in the folder that is graded" in capsys.readouterr().err


def test_a_rubric_of_a_course(course: Path, capsys: Capture) -> None:
    assert run("grade", "--course", course, "--example-rubric") == exit_codes.PASSED
    out = capsys.readouterr().out
    assert "[n1]  # 01_rms_norm" in out
    assert "ex1" not in out
    assert parse_rubric(out, read_course(course)).worth("n1", "dx") == 3, "as course.toml says"
    assert "\n# dx = 3\n" in out
    assert run("grade", "--example-rubric", "--course", course) == exit_codes.PASSED
    assert capsys.readouterr().out == out
    assert run("grade", "--example-rubric", "--course", "nowhere") == exit_codes.UNREADABLE
    assert "There is no course nowhere" in capsys.readouterr().err
    assert run("grade", "--course", course, "somewhere") == exit_codes.UNREADABLE
    assert "Missing option '--out'" in capsys.readouterr().err
