from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import grader.execution.runner
import grader.grading.grade
from corpus.readers.lecture_course import NOTEBOOKS
from grader import cli
from grader.answer.parse import AnswerCell
from grader.commands import exit_codes
from grader.notebook.state import read_state, remember_passed
from grader.program.exercises import Exercise
from grader.reports.result import Result, Ungraded
from grader.reports.terminal import next_step, render_status
from grader.verdict import Check, Comparison, Outcome, Place, Report, Verdict
from tests.helpers.course_notebooks import FIRST, FOLDER, dump, right_cells, with_answers

BLANKS = {
    "01_one": {
        "ex1-a": "# answer: ex1-a\nda = ...  # your turn",
        "ex1-b": "# answer: ex1-b\ndb = ...  # your turn\ndc = ...  # your turn",
    },
    "02_two": {"ex2-a": "# answer: ex2-a\ndd = ...  # your turn"},
}


def verdict(name: str, outcome: str, place: Place | None = None) -> Verdict:
    nothing = Comparison(name, None, None, None, None, ())
    return Verdict(name, Outcome(outcome), nothing, Check.NOT_RUN, Check.NOT_RUN, place=place)


def report(notebook: str, *outcomes: str) -> Report:
    names = [name for name in ("da", "db", "dc") if notebook == "01_one"] or ["dd"]
    return Report(notebook, tuple(map(verdict, names, outcomes)))


@pytest.mark.parametrize(
    ("reports", "sentence"),
    [
        ([], ""),
        ([report("01_one", "todo", "todo", "todo")], "next: da in 01, cell ex1-a (to do)"),
        ([report("01_one", "pass", "carried", "fail")], "next: dc in 01, cell ex1-b (fail)"),
        (
            [report("01_one", "pass", "pass", "pass"), report("02_two", "refused")],
            "next: dd in 02, cell ex2-a (refused)",
        ),
        (
            [report("01_one", "pass", "carried", "pass")],
            "All that is there is done; the other notebooks are to come.",
        ),
        (
            [report("01_one", "pass", "pass", "pass"), report("02_two", "pass")],
            "Everything is done: you can backpropagate by hand.",
        ),
        (
            [Report("02_two", (verdict("dd", "error", Place("ex2-x#2", 7)),))],
            "next: dd in 02, cell ex2-x (cell 2), line 7 (error)",
        ),
    ],
)
def test_what_is_next(reports: Sequence[Report], sentence: str) -> None:
    assert next_step(reports, BLANKS, 2) == sentence


RESULTS: dict[str, Result | None] = {
    "01_one": report("01_one", "pass", "carried", "fail"),
    "02_two": None,
    "03_three": Ungraded(Path("y"), "No."),
}


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (
            80,
            "01_one    ████████████████░░░░░░░░  2 of 3  ✓ 1  ↓ 1  ✗ 1\n"
            "02_two    ░░░░░░░░░░░░░░░░░░░░░░░░          no file found\n"
            "03_three  ░░░░░░░░░░░░░░░░░░░░░░░░          cannot be graded\n",
        ),
        (
            46,
            "01_one    ███████░░░  2 of 3  ✓ 1  ↓ 1  ✗ 1\n"
            "02_two    ░░░░░░░░░░          no file found\n"
            "03_three  ░░░░░░░░░░          cannot be graded\n",
        ),
        (
            38,
            "01_one    2 of 3  ✓ 1  ↓ 1  ✗ 1\n"
            "02_two            no file found\n"
            "03_three          cannot be graded\n",
        ),
        (
            30,
            "01  2 of 3  ✓ 1  ↓ 1  ✗ 1\n02          no file found\n03          cannot be graded\n",
        ),
    ],
)
def test_a_line_for_each_notebook(width: int, expected: str) -> None:
    table, _, last = render_status(RESULTS, BLANKS, width=width, colour=False).partition("\n\n")
    assert table + "\n" == expected
    assert " ".join(last.split()) == "next: dc in 01, cell ex1-b (fail)"


@pytest.mark.parametrize(
    ("outcomes", "bar"),
    [
        (("todo", "todo", "todo"), "░" * 24),
        (("pass", "pass", "pass"), "█" * 24),
        (("pass", "todo", "todo"), "█" * 8 + "░" * 16),
    ],
)
def test_the_bar(outcomes: tuple[str, ...], bar: str) -> None:
    shown = render_status({"01_one": report("01_one", *outcomes)}, BLANKS, width=80, colour=False)
    assert f"  {bar}  " in shown


def test_a_bar_is_full_only_when_all_is_done() -> None:
    many = [verdict(f"d{number}", "pass") for number in range(99)]
    for last, full in (("todo", False), ("pass", True)):
        graded = Report("01_one", (*many, verdict("dz", last)))
        assert ("░" not in render_status({"01": graded}, BLANKS, width=80, colour=False)) is full


def test_colours_only_where_they_are_wanted() -> None:
    assert "\x1b[32m" in render_status(RESULTS, BLANKS, width=80, colour=True)


# The command, with a grader that passes everything and no worker.


class FakeRunner:
    def __init__(self, limits: object, sandbox: object) -> None: ...

    def __enter__(self) -> FakeRunner:
        return self

    def __exit__(self, *_: object) -> None: ...


def fake_grade(
    exercises: Sequence[Exercise], cells: Sequence[AnswerCell], runner: object
) -> Report:
    if "crash" in "".join(cell.source for cell in cells):
        raise RuntimeError("tripped")
    return Report(exercises[0].notebook, (verdict("dlogits", "pass"),))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(grader.execution.runner, "Runner", FakeRunner)
    monkeypatch.setattr(grader.grading.grade, "grade", fake_grade)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "GRADER_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


Capture = pytest.CaptureFixture[str]


def run(*arguments: object) -> int:
    return cli.main(["status", *map(str, arguments)])


class TestCommand:
    def test_the_current_folder(self, folder: Path, capsys: Capture) -> None:
        (folder / "notebooks").mkdir()
        (folder / "notebooks" / "mine.ipynb").write_bytes(FIRST.read_bytes())
        assert run() == exit_codes.PASSED
        out, err = capsys.readouterr()
        first, second, *_ = out.splitlines()
        assert first.startswith("01_atomic_backprop ")
        assert first.endswith("1 of 1  ✓ 1")
        assert second.endswith("no file found")
        assert "All that is there is done" in out
        assert err == ""

    def test_the_board_of_a_notebook_knows_it_too(self, folder: Path) -> None:
        remember_passed({"ex2": 0, "ex2s": 1})
        name = "02_fused_cross_entropy.ipynb"
        (folder / name).write_bytes((FOLDER / name).read_bytes())
        run()
        found = read_state()[0].passed
        assert {prefix: found[prefix] for prefix in ("ex2", "ex2s")} == {"ex2": 1, "ex2s": 0}

    def test_no_notebooks_at_all(self, folder: Path, capsys: Capture) -> None:
        assert run() == exit_codes.PASSED
        assert run(folder) == exit_codes.PASSED
        out, err = capsys.readouterr()
        assert out == ""
        assert err.splitlines() == [
            "There is no notebook of the course in this folder or its subfolder notebooks.",
            f"There is no notebook of the course in {folder} or its subfolder notebooks.",
        ]

    def test_broken_files_do_not_hide_the_others(self, folder: Path, capsys: Capture) -> None:
        (folder / "good.ipynb").write_bytes(FIRST.read_bytes())
        (folder / "broken.ipynb").write_text('{"cells": [')
        second = FOLDER / "02_fused_cross_entropy.ipynb"
        crashing = second.read_text(encoding="utf-8").replace("dlogits = ...", "crash = ...")
        (folder / "crashing.ipynb").write_text(crashing, encoding="utf-8")
        assert run() == exit_codes.UNREADABLE
        out, err = capsys.readouterr()
        assert "1 of 1  ✓ 1" in out
        assert "cannot be graded" in out
        broken, crashed = err.splitlines()
        assert "broken.ipynb breaks off at its end" in broken
        assert "failed, and not through your answers: RuntimeError: tripped" in crashed

    def test_only_unreadable_files(self, folder: Path, capsys: Capture) -> None:
        assert run("gone.ipynb") == exit_codes.UNREADABLE
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)

    def test_a_second_copy_is_named(self, folder: Path, capsys: Capture) -> None:
        for name in (FIRST.name, "copy.ipynb"):
            (folder / name).write_bytes(FIRST.read_bytes())
        assert run() == exit_codes.PASSED
        assert capsys.readouterr().err == (
            "Not counted, since the course has each notebook once: copy.ipynb.\n"
        )

    def test_help(self, capsys: Capture) -> None:
        assert run("--help") == 0
        assert "Say how far you are in every notebook" in capsys.readouterr().out


def test_the_program_itself(tmp_path: Path, project: Path) -> None:
    answers = {name: text for name, text in right_cells().items() if name != "ex1-softmax"}
    first = with_answers(FIRST, answers)
    (tmp_path / "one.ipynb").write_text(dump(first), encoding="utf-8")
    second = FOLDER / "solutions" / "02_fused_cross_entropy.ipynb"
    (tmp_path / "two.ipynb").write_bytes(second.read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "grader", "status"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(project), "COLUMNS": "100"},
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=True,
    )
    first_line, second_line, *others, _, next_ = done.stdout.splitlines()
    assert first_line.startswith("01_atomic_backprop      ████████")
    assert second_line.endswith("2 of 2  ✓ 2")
    assert [line.split()[-3:] for line in others] == [["no", "file", "found"]] * (
        len(NOTEBOOKS) - 2
    )
    assert next_ == "next: dprobs in 01, cell ex1-softmax, line 2 (to do)"
