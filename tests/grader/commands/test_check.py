from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import grader.execution.runner
import grader.grading.grade
from corpus.readers.lecture_course import NOTEBOOKS
from grader import cli
from grader.answer.parse import AnswerCell
from grader.commands import exit_codes
from grader.execution.sandbox import Sandbox
from grader.program.exercises import Exercise
from grader.verdict import Check, Comparison, Outcome, Report, Verdict
from grader.worker.terms import Limits
from tests.helpers.course_notebooks import write_notebook
from tests.helpers.lecture_notebook import BLANK, RIGHT, write_lecture
from tests.helpers.reasons import said

GRADIENTS = NOTEBOOKS["01_atomic_backprop"][0].gradients


@pytest.fixture
def notebook(tmp_path: Path) -> Callable[..., Path]:
    """Write a notebook with the given answer cells; "pass" or "crash" is what `fake_core` does."""

    def write(name: str, source: str = "pass") -> Path:
        mentioned = "\n".join(f"{name} = 1" for name in GRADIENTS)
        return write_notebook(tmp_path / name, f"# {source}\n{mentioned}")

    return write


class FakeRunner:
    """Stands in for the worker where a test is about the command line alone.

    It is started in another process, so that a file says with which limits.
    """

    log: Path

    def __init__(self, limits: Limits, sandbox: Sandbox) -> None:
        with self.log.open("a") as file:
            file.write(f"{limits.statement_seconds:g} of {limits.total_seconds:g}\n")

    @classmethod
    def started(cls) -> list[str]:
        return cls.log.read_text().splitlines() if cls.log.exists() else []


def fake_grade(
    exercises: Sequence[Exercise], cells: Sequence[AnswerCell], runner: object
) -> Report:
    word = cells[0].source.partition("\n")[0].removeprefix("# ")
    if word == "crash":
        raise RuntimeError("the judge \x1b[31mtripped")
    if word == "interrupt":
        raise KeyboardInterrupt
    if word == "memory":
        raise MemoryError
    if word == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    word, _, note = word.partition(" ")
    outcome = Outcome(word)
    comparison = Comparison("h", True, True, 0.0, (32, 64), (32, 64))
    return Report(
        exercises[0].notebook,
        (Verdict("dh", outcome, comparison, Check.RIGHT, Check.RIGHT, said(note or "So.")),),
    )


@pytest.fixture
def fake_core(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> type[FakeRunner]:
    FakeRunner.log = tmp_path / "started"
    monkeypatch.setattr(grader.execution.runner, "Runner", FakeRunner)
    monkeypatch.setattr(grader.grading.grade, "grade", fake_grade)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "GRADER_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return FakeRunner


def run(*arguments: object) -> int:
    return cli.main([str(argument) for argument in arguments])


Capture = pytest.CaptureFixture[str]


@pytest.mark.usefixtures("fake_core")
class TestCheck:
    @pytest.mark.parametrize("outcome", Outcome)
    def test_the_exit_code_is_zero_only_if_everything_passes(
        self, notebook: Callable[..., Path], outcome: Outcome, capsys: Capture
    ) -> None:
        code = run("check", notebook("a.ipynb", outcome))
        assert code == (exit_codes.PASSED if outcome is Outcome.PASS else exit_codes.NOT_PASSED)
        assert "dh" in capsys.readouterr().out

    def test_the_other_notebooks_are_graded_all_the_same(
        self, notebook: Callable[..., Path], tmp_path: Path, capsys: Capture
    ) -> None:
        good, crashing = notebook("good.ipynb"), notebook("crashing.ipynb", "crash")
        code = run("check", tmp_path / "gone.ipynb", crashing, tmp_path, good)
        out, err = capsys.readouterr()
        assert code == exit_codes.UNREADABLE
        assert "1 of 1 points   ✓ 1 pass" in out
        assert out.count("not graded") == 3
        gone, failed, folder = err.splitlines()
        assert gone.startswith("There is no file ")
        assert re.search(
            r"failed, and not through your answers: RuntimeError: the judge \\x1b", failed
        )
        assert "is a folder: name the notebooks in it" in folder

    def test_memory_that_is_too_small_is_no_mistake_of_the_graders(
        self, notebook: Callable[..., Path], capsys: Capture
    ) -> None:
        path = notebook("a.ipynb", "memory")
        assert run("check", path) == exit_codes.UNREADABLE
        assert capsys.readouterr().err == f"{path} needs more memory than this process may use.\n"

    def test_a_developer_sees_the_traceback(
        self, notebook: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capfd: Capture
    ) -> None:
        monkeypatch.setenv("GRADER_DEBUG", "1")
        assert run("check", notebook("a.ipynb", "crash")) == exit_codes.UNREADABLE
        assert "Traceback" in capfd.readouterr().err

    def test_a_file_that_ends_its_judge_costs_its_own_row(
        self, notebook: Callable[..., Path], fake_core: type[FakeRunner], capsys: Capture
    ) -> None:
        first, deadly, last = (notebook(f"{word}.ipynb", word) for word in ("fail", "die", "pass"))
        assert run("check", first, deadly, last) == exit_codes.UNREADABLE
        out, err = capsys.readouterr()
        assert re.search(r"die.ipynb could not be graded: the process that judged it ended", err)
        assert out.count("✓ 1 pass") == out.count("✗ 1 fail") == 1
        assert len(fake_core.started()) == 2

    def test_json_of_one_and_of_several(
        self, notebook: Callable[..., Path], tmp_path: Path, capsys: Capture
    ) -> None:
        good = notebook("good.ipynb")
        assert run("check", "--json", good) == exit_codes.PASSED
        out, err = capsys.readouterr()
        assert json.loads(out)["score"] == 1
        assert err == ""

        assert run("check", good, tmp_path / "gone.ipynb", "--json") == exit_codes.UNREADABLE
        out, err = capsys.readouterr()
        first, second = json.loads(out)
        assert first["score"] == 1
        assert second == {
            "format": 1,
            "path": str(tmp_path / "gone.ipynb"),
            "error": err.strip(),
        }

    def test_flags_of_the_submission_are_reported(self, tmp_path: Path, capsys: Capture) -> None:
        path = write_notebook(tmp_path / "a.ipynb", "# pass\ndlogprobs = 1")
        run("check", "--json", path)
        assert [flag["kind"] for flag in json.loads(capsys.readouterr().out)["flags"]] == [
            "missing-answer"
        ]

    def test_reports_are_written(
        self, notebook: Callable[..., Path], tmp_path: Path, capsys: Capture
    ) -> None:
        junit, html = tmp_path / "out.xml", tmp_path / "out.html"
        assert run("check", notebook("a.ipynb", "fail"), "--junitxml", junit, "--html", html) == 1
        assert ET.parse(junit).getroot().get("failures") == "1"
        assert html.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
        assert "✗ 1 fail" in capsys.readouterr().out

    @pytest.mark.parametrize("option", ["--junitxml", "--html"])
    def test_a_report_that_cannot_be_written_loses_nothing_else(
        self, notebook: Callable[..., Path], tmp_path: Path, option: str, capsys: Capture
    ) -> None:
        other = {"--junitxml": "--html", "--html": "--junitxml"}[option]
        code = run(
            *("check", notebook("a.ipynb"), option, tmp_path / "no folder" / "out"),
            *(other, tmp_path / "other"),
        )
        out, err = capsys.readouterr()
        assert code == exit_codes.UNREADABLE
        assert "✓ 1 pass" in out
        assert err == f"{tmp_path}/no folder/out cannot be written: no such file or directory.\n"
        assert (tmp_path / "other").exists()

    def test_a_run_of_github_actions_gets_summary_and_points(
        self,
        notebook: Callable[..., Path],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: Capture,
    ) -> None:
        summary = tmp_path / "summary.md"
        summary.write_text("Before.\n", encoding="utf-8")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
        assert run("check", "--github", notebook("a.ipynb"), notebook("b.ipynb", "fail")) == 1
        out = capsys.readouterr().out
        assert out.endswith(
            '::notice title=Autograding report::{"totalPoints": 1, "maxPoints": 2}\n'
        )
        text = summary.read_text(encoding="utf-8")
        assert text.startswith("Before.\n### 01_atomic_backprop: 1 of 1 points\n")
        assert "✗&nbsp;fail" in text

    @pytest.mark.parametrize("options", [["--github"], ["--json"], []])
    @pytest.mark.parametrize("before", ["", *("x" * length for length in range(60, 101, 8))])
    def test_what_a_student_wrote_is_no_command_to_a_workflow(
        self,
        notebook: Callable[..., Path],
        options: list[str],
        before: str,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: Capture,
    ) -> None:
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
        forged = "::notice title=Autograding report::{}"
        said = f"{before} {forged} {'y' * (98 - len(before))}{forged} ##[error]{forged} x[::2]"
        xml = tmp_path / "junit.xml"
        written = notebook("::notice::a.ipynb", f"error {said}")
        assert run("check", *options, written, notebook("b.ipynb"), "--junitxml", xml) == 1
        ours = []
        for text in (*capsys.readouterr(), xml.read_text(encoding="utf-8")):
            ours += [line for line in text.splitlines() if line.strip().startswith("::")]
            assert "##[" not in text
        points = '::notice title=Autograding report::{"totalPoints": 1, "maxPoints": 2}'
        complete = "::notice title=Autograding complete::Points 1/2"
        assert ours == ([complete, points] if "--github" in options else [])

    def test_a_summary_that_cannot_be_written_fails(
        self,
        notebook: Callable[..., Path],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: Capture,
    ) -> None:
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
        assert run("check", "--github", notebook("a.ipynb")) == exit_codes.UNREADABLE
        out, err = capsys.readouterr()
        assert "✓ 1 pass" in out
        assert err == "The run's summary cannot be written: is a directory.\n"

    def test_github_is_for_its_runs_and_for_people(
        self,
        notebook: Callable[..., Path],
        fake_core: type[FakeRunner],
        monkeypatch: pytest.MonkeyPatch,
        capsys: Capture,
    ) -> None:
        monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
        assert run("check", "--github", notebook("a.ipynb")) == exit_codes.UNREADABLE
        assert "this is not a run of GitHub Actions" in capsys.readouterr().err
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
        assert run("check", "--github", "--json", notebook("a.ipynb")) == exit_codes.UNREADABLE
        assert "take one" in capsys.readouterr().err
        assert fake_core.started() == []

    def test_a_report_never_overwrites_a_notebook(
        self, notebook: Callable[..., Path], fake_core: type[FakeRunner], capsys: Capture
    ) -> None:
        path = notebook("a.ipynb")
        before = path.read_bytes()
        assert run("check", "--html", path, path) == exit_codes.UNREADABLE
        assert "a report would overwrite it" in capsys.readouterr().err
        assert path.read_bytes() == before
        assert fake_core.started() == []

    def test_the_time_limit_reaches_the_runner(
        self, notebook: Callable[..., Path], fake_core: type[FakeRunner]
    ) -> None:
        run("check", notebook("a.ipynb"))
        run("check", "--timeout", "2.5", notebook("a.ipynb"))
        assert fake_core.started() == ["10 of 60", "2.5 of 15"]

    @pytest.mark.parametrize(
        ("seconds", "said"),
        [
            ("0", "0.0 is not in the range 0.1<=x<=3600"),
            ("-1", "-1.0 is not in the range"),
            ("nan", "nan is not a finite number"),
            ("inf", "inf is not in the range"),
            ("1e9", "is not in the range"),
            ("soon", "'soon' is not a valid float range"),
        ],
    )
    def test_a_time_limit_makes_sense(
        self, seconds: str, said: str, fake_core: type[FakeRunner], capsys: Capture
    ) -> None:
        assert run("check", f"--timeout={seconds}", "a.ipynb") == exit_codes.UNREADABLE
        assert said in capsys.readouterr().err
        assert fake_core.started() == []

    def test_ctrl_c_is_quiet(self, notebook: Callable[..., Path], capsys: Capture) -> None:
        code = run("check", notebook("a.ipynb"), notebook("b.ipynb", "interrupt"))
        assert code == exit_codes.INTERRUPTED
        out, err = capsys.readouterr()
        assert "✓ 1 pass" in out
        assert err.strip() == ""

    @pytest.mark.parametrize(
        ("environment", "coloured"),
        [
            ({}, False),  # pytest's capture is not a terminal
            ({"FORCE_COLOR": "1"}, True),
            ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
            ({"NO_COLOR": ""}, False),
        ],
    )
    def test_colour_is_as_the_environment_wants(
        self,
        environment: dict[str, str],
        coloured: bool,
        notebook: Callable[..., Path],
        monkeypatch: pytest.MonkeyPatch,
        capsys: Capture,
    ) -> None:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        run("check", notebook("a.ipynb"))
        assert ("\x1b[" in capsys.readouterr().out) is coloured

    def test_a_narrow_terminal_is_asked_for_its_width(
        self, notebook: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: Capture
    ) -> None:
        monkeypatch.setenv("COLUMNS", "50")
        run("check", notebook("a.ipynb"))
        out = capsys.readouterr().out
        assert "exact" not in out
        assert "approximate" in out


def test_without_the_sandbox_asked_for_nothing_is_graded(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr("grader.execution.sandbox.why_not", lambda _: "No bwrap.")
    assert run("check", "--sandbox", "bwrap", "a.ipynb") == exit_codes.UNREADABLE
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("No bwrap. To grade without it, say `--sandbox none`")


@pytest.mark.parametrize(
    ("cells", "code", "passed"),
    [(RIGHT, exit_codes.PASSED, [26, 1, 1, 11]), (BLANK, exit_codes.NOT_PASSED, [0, 0, 0, 0])],
    ids=["right", "blank"],
)
def test_the_lectures_notebook_has_a_table_for_each_exercise(
    cells: dict[str, str],
    code: int,
    passed: list[int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, page = write_lecture(tmp_path / "ninja.ipynb", cells), tmp_path / "page.html"
    assert cli.main(["check", str(path), "--json", "--html", str(page)]) == code
    reports = json.loads(capsys.readouterr().out)
    assert [report["notebook"] for report in reports] == [f"Exercise {n}" for n in (1, 2, 3, 4)]
    assert [report["score"] for report in reports] == passed
    html = page.read_text(encoding="utf-8")
    assert f"<h1>{path}, graded</h1>" in html
    assert [f'<a href="#n{n}">{path}, Exercise {n}</a>' in html for n in (1, 2, 3, 4)] == [True] * 4
    assert cli.main(["check", str(path)]) == code
    assert "ninja.ipynb, Exercise 4" in capsys.readouterr().out
