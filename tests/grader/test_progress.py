"""What is remembered of how far a student has come."""

from pathlib import Path

import pytest

from grader import progress
from grader.exercises import EXERCISES, NOTEBOOKS


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BACKPROP_NINJA_STATE", str(tmp_path / "state"))
    return tmp_path / "state" / "progress"


def test_nothing_is_known_at_first() -> None:
    assert progress.recall() == {}


def test_what_was_checked_last_is_remembered(folder: Path) -> None:
    progress.remember("ex1", 12)
    progress.remember("ex2", 1)
    progress.remember("ex1", 11)
    assert progress.recall() == {"ex1": 11, "ex2": 1}
    assert sorted(path.name for path in folder.iterdir()) == ["ex1.json", "ex2.json"]


def test_what_has_not_changed_is_not_written_again(folder: Path) -> None:
    progress.remember("ex1", 12)
    written = (folder / "ex1.json").stat()
    progress.remember("ex1", 12)
    assert (folder / "ex1.json").stat().st_ino == written.st_ino


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"passed": 3}',
        '{"format": 2, "passed": 3}',
        '{"format": 1, "passed": "3"}',
        '{"format": 1, "passed": true}',
        '{"format": 1, "passed": -1}',
        '{"format": 1, "passed": 27}',
        "[" * 100_000,
    ],
)
def test_a_file_that_makes_no_sense_is_as_good_as_none(folder: Path, text: str) -> None:
    folder.mkdir(parents=True)
    (folder / "ex1.json").write_text(text)
    (folder / "ex2.json").write_bytes(b"\xff\xfe")
    assert progress.recall() == {}
    progress.remember("ex1", 2)
    assert progress.recall() == {"ex1": 2}


def test_where_nothing_can_be_written_nothing_happens(folder: Path) -> None:
    folder.parent.mkdir()
    folder.write_text("a file where the folder should be")
    progress.remember("ex1", 12)
    assert progress.recall() == {}


def test_the_exercises_of_a_notebook_add_up() -> None:
    assert progress.by_notebook({}) == {}
    assert progress.by_notebook({"ex2s": 1, "ex1": 3}) == {
        "01_atomic_backprop": (3, 26),
        "02_fused_cross_entropy": (1, 2),
    }
    everything = {exercise.prefix: len(exercise.gradients) for exercise in EXERCISES}
    found = progress.by_notebook(everything)
    assert list(found) == list(NOTEBOOKS)
    assert all(passed == count for passed, count in found.values())
