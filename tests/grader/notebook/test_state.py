"""What is remembered of a student between two sessions."""

from dataclasses import replace
from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE
from grader.notebook.state import (
    State,
    read_state,
    remember_passed,
    remember_report,
    update_state,
)
from grader.verdict import Check, Comparison, Outcome, Report, Verdict


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BACKPROP_NINJA_STATE", str(tmp_path / "state"))
    return tmp_path / "state" / "state.json"


def passed() -> dict[str, int]:
    return dict(read_state()[0].passed)


def test_nothing_is_known_at_first(file: Path) -> None:
    assert read_state() == (State(), "")
    assert not file.parent.exists()


def test_what_was_checked_last_is_remembered(file: Path) -> None:
    remember_passed({"ex1": 12})
    remember_passed({"ex2": 1})
    remember_passed({"ex1": 11})
    assert passed() == {"ex1": 11, "ex2": 1}
    assert list(file.parent.iterdir()) == [file]


def test_of_a_whole_notebook_every_exercise_is_remembered() -> None:
    remember_passed({"ex1": 12, "ex2s": 1})
    nothing = Comparison("", None, None, None, None, None)
    verdicts = (
        Verdict(name, outcome, nothing, Check.NOT_RUN, Check.NOT_RUN)
        for name, outcome in (("dlogits", Outcome.PASS), ("dz", Outcome.CARRIED))
    )
    remember_report(Report("02_fused_cross_entropy", tuple(verdicts)), COURSE)
    assert passed() == {"ex1": 12, "ex2": 1, "ex2s": 0}


def test_hints_and_progress_leave_each_other_alone() -> None:
    update_state(lambda old: replace(old, asked={"ex1": {"dh": 2}}))
    remember_passed({"ex1": 12})
    update_state(lambda old: replace(old, asked={}))
    assert passed() == {"ex1": 12}
    update_state(lambda old: replace(old, asked={"ex2": {"dlogits": 1}}))
    remember_passed({"ex1": 13})
    assert read_state()[0] == State({"ex2": {"dlogits": 1}}, {"ex1": 13})


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
        '{"format": 2, "asked": {}, "passed": {"ex1": 3}}',
        '{"format": true, "asked": {}, "passed": {"ex1": 3}}',
        '{"format": 1, "asked": {}, "passed": 3}',
        '{"format": 1, "asked": {}, "passed": {"ex1": "3"}}',
        '{"format": 1, "asked": {}, "passed": {"ex1": true}}',
        '{"format": 1, "asked": {}, "passed": {"ex1": -1}}',
        "[" * 100_000,
    ],
)
def test_a_file_that_makes_no_sense_is_as_good_as_none(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert passed() == {}
    (aside,) = file.parent.iterdir()
    assert aside.read_text() == text
    remember_passed({"ex1": 2})
    assert passed() == {"ex1": 2}


def test_where_nothing_can_be_written_nothing_happens(file: Path) -> None:
    file.parent.write_text("a file where the folder should be")
    remember_passed({"ex1": 12})
    assert passed() == {}
