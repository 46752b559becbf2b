from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.run.out_folder import (
    RESULTS,
    RUN,
    UnfitFolder,
    begin,
    choose_settings,
    claimed,
    convention_of,
    refuse_foreign,
    refuse_misplaced,
)
from grader.classroom.run.settings import Settings
from grader.worker.terms import Limits
from tests.helpers.fake_grading import SETTINGS
from tests.helpers.lines import graded, journal, unreadable, with_seal

BOTH = ("seed", "timeout")
LONGER = Limits(2.0, 12.0, SETTINGS.limits.memory_bytes)
OTHER_TORCH = replace(SETTINGS.versions, torch="9.0")
PATCHED_PYTHON = replace(SETTINGS.versions, python=f"{SETTINGS.versions.python}9")


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """A folder with a result in it."""
    begin(tmp_path, SETTINGS, "plain")
    (tmp_path / RESULTS).write_text("a line\n")
    return tmp_path


def test_what_an_instructor_leaves_open_is_as_it_was(begun: Path) -> None:
    fresh = replace(SETTINGS, seed=99, limits=Limits())
    assert choose_settings(begun, fresh, ()) == SETTINGS


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (
            replace(SETTINGS, seed=8),
            r"begun with --seed 7, and now .* --seed 8: .* another --out\.$",
        ),
        (replace(SETTINGS, limits=LONGER), r"--timeout 1, .* 2: .* --out \(with --seed 7, on"),
        (replace(SETTINGS, sandbox="bwrap"), "begun with --sandbox none, .* bwrap:"),
        (
            replace(SETTINGS, versions=OTHER_TORCH),
            r"torch [^ ]*, and now it would be .* torch 9\.0",
        ),
    ],
)
def test_other_settings_are_refused(wanted: Settings, says: str, begun: Path) -> None:
    with pytest.raises(UnfitFolder, match=says):
        choose_settings(begun, wanted, BOTH)
    (begun / RESULTS).write_text("")  # before the first result, settings are free
    assert choose_settings(begun, wanted, BOTH) == wanted


def test_where_nothing_was_graded_settings_are_free_and_it_begins_anew(begun: Path) -> None:
    wanted = replace(SETTINGS, seed=8)
    journal(begun / RESULTS, [unreadable("a", "ada"), unreadable("b", "bob")])
    assert choose_settings(begun, wanted, BOTH) == wanted
    begin(begun, wanted, "plain")
    assert not (begun / RESULTS).exists()
    journal(begun / RESULTS, [unreadable("a", "ada"), graded("b", "bob", "pf")])
    with pytest.raises(UnfitFolder, match="begun with --seed 8"):
        choose_settings(begun, SETTINGS, BOTH)


def test_a_patched_python_is_the_same(begun: Path) -> None:
    wanted = replace(SETTINGS, versions=PATCHED_PYTHON)
    assert choose_settings(begun, wanted, BOTH) == SETTINGS


@pytest.mark.parametrize(
    "text", ["", "[]", '{"seed": 1}', "\xff", '{"seed": 1, "limits": 3}', "[" * 100_000]
)
def test_settings_that_cannot_be_read_are_refused(text: str, begun: Path) -> None:
    (begun / RUN).write_text(text)
    with pytest.raises(UnfitFolder, match=r"run\.json is not what a run has written"):
        choose_settings(begun, SETTINGS, ())


def test_settings_that_were_edited_are_refused(begun: Path) -> None:
    text = (begun / RUN).read_text()
    (begun / RUN).write_text(text.replace('"sandbox": "', '"sandbox": "x'))
    with pytest.raises(UnfitFolder, match=r"run\.json is not what a run has written"):
        choose_settings(begun, SETTINGS, ())


@pytest.mark.parametrize("other", [2, True, 1.0])
def test_another_format_is_refused(begun: Path, other: object) -> None:
    document: dict[str, Any] = json.loads((begun / RUN).read_text())
    del document["seal"]
    (begun / RUN).write_text(json.dumps(with_seal(document | {"format": other})))
    with pytest.raises(
        UnfitFolder, match=rf"another version of the grader \(format {other}, here 1"
    ):
        choose_settings(begun, SETTINGS, ())


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
    (tmp_path / f".{RUN}.123.tmp").touch()  # a run was killed at its very start
    refuse_foreign(tmp_path)
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UnfitFolder, match=r"holds something else than a gradebook \(thesis\.tex"):
        refuse_foreign(tmp_path)
    begin(tmp_path, SETTINGS, "plain")
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


def test_how_the_graded_folder_was_laid_out(begun: Path, tmp_path: Path) -> None:
    assert convention_of(begun) == "plain"
    with pytest.raises(UnfitFolder, match="is no gradebook"):
        convention_of(tmp_path / "elsewhere")
    (begun / RUN).write_text((begun / RUN).read_text().replace("plain", "other"))
    with pytest.raises(UnfitFolder, match="is not what a run has written"):
        convention_of(begun)
