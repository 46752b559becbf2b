"""The program as a whole: its command line, and `python -m grader` in processes of its own."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from corpus.readers.lecture_course import NOTEBOOKS
from grader import cli
from grader.commands import exit_codes
from tests.helpers.course_notebooks import write_notebook

GRADIENTS = NOTEBOOKS["01_atomic_backprop"][0].gradients

Capture = pytest.CaptureFixture[str]


class TestCommandLine:
    def test_help_is_sentences(self, capsys: Capture) -> None:
        assert cli.main(["check", "--help"]) == 0
        out = capsys.readouterr().out
        assert "Say of each gradient in each NOTEBOOK whether it is right." in out
        assert "2 if a file cannot be read" in " ".join(out.split())

    def test_every_command_is_listed_with_a_sentence(self, capsys: Capture) -> None:
        assert cli.main(["--help"]) == 0
        _, *sections = capsys.readouterr().out.split("\n\nCommands for ")
        listed = [one for section in sections for one in re.split(r"\n  (?=\w)", section)[1:]]
        assert [one.split()[0] for one in listed] == list(cli.COMMANDS)
        assert all(re.search(r"[^.]\.$", one.rstrip()) for one in listed)
        assert [section.partition(":")[0] for section in sections] == [
            *("notebooks", "a class", "a course")
        ]

    def test_version(self, capsys: Capture) -> None:
        assert cli.main(["--version"]) == 0
        assert re.match(r"grader (\d+\.\d+|\(not installed)", capsys.readouterr().out)

    @pytest.mark.parametrize(
        ("error", "said"),
        [
            (
                OSError(errno.ENOSPC, "No space left on device"),
                "The command cannot go on: no space ",
            ),
            (
                PermissionError(errno.EACCES, "Permission denied", "a.csv"),
                "a.csv: permission denied.",
            ),
        ],
    )
    def test_what_the_system_refuses_is_a_sentence(
        self, error: OSError, said: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
    ) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(cli.command, "main", refuse)
        assert cli.main(["check"]) == exit_codes.UNREADABLE
        err = capsys.readouterr().err
        assert err.startswith(said)
        assert err.count("\n") == 1

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["check"], "Missing argument 'NOTEBOOK...'"),
            (["check", "--jsn", "a.ipynb"], "No such option"),
            (["chekc"], "No such command"),
        ],
    )
    def test_a_wrong_command_line(self, arguments: list[str], said: str, capsys: Capture) -> None:
        assert cli.main(arguments) == exit_codes.UNREADABLE
        assert said in capsys.readouterr().err


def command(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "grader", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
        **options,
    )


def read_all(terminal: int) -> bytes:
    """What is left to read of a pseudo-terminal whose other end is closed."""
    parts = []
    try:
        while part := os.read(terminal, 1000):
            parts.append(part)
    except OSError:  # how Linux says that there is no more
        pass
    finally:
        os.close(terminal)
    return b"".join(parts)


@pytest.fixture(scope="module")
def solved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A notebook with right answers, its metadata dropped."""
    text = (request.config.rootpath / "corpus/answers/ex1/right/lecture.py").read_text("utf-8")
    cells = [f"# answer: {part}" for part in re.split(r"(?m)^# answer: ", text)[1:]]
    path = tmp_path_factory.mktemp("solved") / "solved.ipynb"
    return write_notebook(path, *cells)


@pytest.fixture
def in_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m grader` is the one of this checkout, whether it is installed or not."""
    monkeypatch.setenv("PYTHONPATH", str(project))
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "GRADER_DEBUG"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("in_project")
class TestProgram:
    def test_right_blank_and_broken(self, solved: Path, tmp_path: Path) -> None:
        blank = write_notebook(
            tmp_path / "blank.ipynb", "\n".join(f"{name} = ...  # your turn" for name in GRADIENTS)
        )
        syntax = write_notebook(tmp_path / "syntax.ipynb", "dlogprobs = (1")
        done = command("check", solved, blank, syntax, tmp_path / "gone.ipynb", "--json")
        assert done.returncode == exit_codes.UNREADABLE
        assert done.stderr == (
            f"There is no file {tmp_path}/gone.ipynb: check its name, and the folder you are in.\n"
        )
        right, nothing, broken, gone = json.loads(done.stdout)
        assert (right["score"], right["max_score"]) == (26, 26)
        assert {gradient["verdict"] for gradient in nothing["gradients"]} == {"todo"}
        assert broken["gradients"][0]["verdict"] == "error"
        assert gone["error"] == done.stderr.strip()

    def test_the_table(self, solved: Path) -> None:
        done = command("check", solved)
        assert done.returncode == exit_codes.PASSED
        assert done.stderr == ""
        assert done.stdout.startswith(f"01_atomic_backprop  {solved}\n\ngradient")
        assert done.stdout.rstrip().endswith("26 of 26 points   ✓ 26 pass")
        assert "\x1b" not in done.stdout

    @pytest.mark.slow
    def test_a_terminal_without_unicode(self, solved: Path) -> None:
        done = command("check", solved, env={**os.environ, "PYTHONIOENCODING": "ascii"})
        assert done.returncode == exit_codes.PASSED
        assert "+ pass" in done.stdout
        assert done.stdout.isascii()

    @pytest.mark.slow
    @pytest.mark.skipif(os.name == "nt", reason="pipes are closed otherwise there")
    def test_whoever_has_seen_enough_may_go(self, solved: Path) -> None:
        with subprocess.Popen(
            [sys.executable, "-m", "grader", "check", str(solved), str(solved)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(600) == exit_codes.PASSED

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    def test_a_full_disk_gets_a_sentence(self) -> None:
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "grader", "--version"],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert done.returncode != 0
        assert done.stderr == "Error: The output cannot be written: No space left on device.\n"

    @pytest.mark.slow
    @pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs pseudo-terminals")
    def test_ctrl_c_ends_it_quietly(self, tmp_path: Path) -> None:
        endless = write_notebook(tmp_path / "endless.ipynb", "dlogprobs = 1\nwhile True: pass")
        ours, theirs = os.openpty()
        with subprocess.Popen(
            [sys.executable, "-m", "grader", "check", str(endless)],
            stdout=subprocess.PIPE,
            stderr=theirs,
        ) as process:
            os.close(theirs)
            assert os.read(ours, 1000).startswith(b"grading endless.ipynb ...")
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=600)
            rest = read_all(ours)
        assert process.returncode == exit_codes.INTERRUPTED
        assert out == b""
        assert rest.strip() == b""

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "module", ["grader.commands.check", "grader.execution.sandbox", "grader.reports.terminal"]
    )
    def test_ctrl_c_is_not_lost_where_an_import_cannot_raise_it(
        self, tmp_path: Path, module: str
    ) -> None:
        notebook = write_notebook(tmp_path / "notebook.ipynb", "dlogprobs = 1")
        code = """if True:
            import signal, sys
            from grader.cli import main

            class Swallowing:
                def find_spec(self, name, *_):
                    if name == sys.argv[-1]:
                        try:
                            signal.raise_signal(signal.SIGINT)
                        except KeyboardInterrupt:
                            pass

            sys.meta_path.insert(0, Swallowing())
            sys.exit(main(sys.argv[1:-1]))
        """
        command = [sys.executable, "-c", code, "check", str(notebook), module]
        done = subprocess.run(command, capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (exit_codes.INTERRUPTED, b"")
        assert done.stderr.strip() == b""

    def test_importing_the_command_imports_nothing_heavy(self) -> None:
        """The worker has to start before anything that takes its time."""
        heavy = ("torch", "numpy", "rich", "jinja2", "matplotlib", "nbformat", "typer")
        code = f"import sys, grader.cli; print([m for m in {heavy} if m in sys.modules])"
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
        assert done.stdout == b"[]\n"

    @pytest.mark.slow
    def test_pictures_are_imported_only_for_a_page(self, solved: Path) -> None:
        code = (
            "import sys, grader.cli; grader.cli.main(sys.argv[1:]);"
            "print([m for m in ('jinja2', 'matplotlib', 'nbformat') if m in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, "check", "--json", str(solved)],
            stdout=subprocess.PIPE,
            check=True,
        )
        assert done.stdout.endswith(b"\n[]\n")
