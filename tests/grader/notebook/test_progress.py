"""What is remembered of a student between two sessions."""

from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE
from grader.notebook.progress import read_passed, remember_passed, remember_report
from grader.verdict import Check, Comparison, Outcome, Report, Verdict


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BACKPROP_NINJA_STATE", str(tmp_path / "state"))
    return tmp_path / "state" / "state.json"


def test_nothing_is_known_at_first(file: Path) -> None:
    assert read_passed() == {}
    assert not file.parent.exists()


def test_what_was_checked_last_is_remembered(file: Path) -> None:
    remember_passed({"ex1": 12})
    remember_passed({"ex2": 1})
    remember_passed({"ex1": 11})
    assert read_passed() == {"ex1": 11, "ex2": 1}
    assert list(file.parent.iterdir()) == [file]


def test_of_a_whole_notebook_every_exercise_is_remembered() -> None:
    remember_passed({"ex1": 12, "ex2s": 1})
    nothing = Comparison("", None, None, None, None, None)
    verdicts = (
        Verdict(name, outcome, nothing, Check.NOT_RUN, Check.NOT_RUN)
        for name, outcome in (("dlogits", Outcome.PASS), ("dz", Outcome.CARRIED))
    )
    remember_report(Report("02_fused_cross_entropy", tuple(verdicts)), COURSE)
    assert read_passed() == {"ex1": 12, "ex2": 1, "ex2s": 0}


def test_what_has_not_changed_is_not_written_again(file: Path) -> None:
    remember_passed({"ex1": 12})
    written = file.stat()
    remember_passed({"ex1": 12})
    assert file.stat().st_ino == written.st_ino


def test_only_its_owner_may_read_it(file: Path) -> None:
    remember_passed({"ex1": 12})
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"passed": {"ex1": 3}}',
        '{"format": 2, "passed": {"ex1": 3}}',
        '{"format": true, "passed": {"ex1": 3}}',
        '{"format": 1, "passed": 3}',
        '{"format": 1, "passed": {"ex1": "3"}}',
        '{"format": 1, "passed": {"ex1": true}}',
        '{"format": 1, "passed": {"ex1": -1}}',
        "[" * 100_000,
    ],
)
def test_a_file_that_makes_no_sense_is_as_good_as_none(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert read_passed() == {}
    remember_passed({"ex1": 2})
    assert read_passed() == {"ex1": 2}


def test_where_nothing_can_be_written_nothing_happens(file: Path) -> None:
    file.parent.write_text("a file where the folder should be")
    remember_passed({"ex1": 12})
    assert read_passed() == {}
