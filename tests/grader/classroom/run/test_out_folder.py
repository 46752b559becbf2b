from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grader.classroom.run.out_folder import (
    UnfitFolder,
    claimed,
    convention_of,
    refuse_foreign,
    refuse_misplaced,
)
from grader.classroom.run.results import RESULTS
from tests.helpers.lines import journal


@pytest.mark.parametrize(
    ("out", "says"),
    [
        ("class", "is the folder that is graded"),
        ("class/", "is the folder that is graded"),
        ("class/out", "is in the folder that is graded"),
        ("class/../class/a/b", "is in the folder that is graded"),
        ("link/out", "is in the folder that is graded"),
        (".", "holds the folder that is graded"),
    ],
)
def test_a_gradebook_among_submissions_is_refused(out: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "link").symlink_to("class")
    with pytest.raises(UnfitFolder, match=says):
        refuse_misplaced(tmp_path / "class", tmp_path / out)
    refuse_misplaced(tmp_path / "class", tmp_path / "class2")


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    refuse_foreign(tmp_path / "not there")
    refuse_foreign(tmp_path)
    (tmp_path / ".results.jsonl.123.tmp").touch()  # a run was killed at its very start
    refuse_foreign(tmp_path)
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UnfitFolder, match=r"holds something else than a gradebook \(thesis\.tex"):
        refuse_foreign(tmp_path)
    journal(tmp_path / RESULTS, [])
    refuse_foreign(tmp_path)


def test_one_run_at_a_time(tmp_path: Path) -> None:
    with claimed(tmp_path / "out"):
        second = claimed(tmp_path / "out")
        with pytest.raises(UnfitFolder, match="Another `grader grade`"):
            second.__enter__()
    with claimed(tmp_path / "out"):
        pass


def test_the_lock_of_a_killed_run_holds_nobody_up(tmp_path: Path) -> None:
    program = (
        "import os, signal; from pathlib import Path\n"
        "from grader.classroom.run.out_folder import claimed\n"
        f"with claimed(Path({str(tmp_path)!r})): os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -9
    with claimed(tmp_path):
        pass


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for out, says in (("file", "is a file"), ("file/out", "cannot be written: not a directory")):
        with pytest.raises(UnfitFolder, match=says), claimed(tmp_path / out):
            pass


def test_how_the_graded_folder_was_laid_out(tmp_path: Path) -> None:
    with pytest.raises(UnfitFolder, match="is not a gradebook"):
        convention_of(tmp_path)
    journal(tmp_path / RESULTS, [], "moodle")
    assert convention_of(tmp_path) == "moodle"
