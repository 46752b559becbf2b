from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE
from grader.classroom.gradebook.rubric import (
    Rubric,
    UnusableRubric,
    example_rubric,
    parse_rubric,
    read_rubric,
)
from grader.verdict import EARNS_POINTS, Outcome


def test_no_rubric_is_the_contract() -> None:
    rubric = Rubric()
    for facts in COURSE.exercises:
        for gradient in facts.gradients:
            for outcome in Outcome:
                expected = int(outcome in EARNS_POINTS)
                assert rubric.earned(facts.prefix, gradient, outcome) == expected
    assert rubric.total(Fraction(7), rubric.kept(None, None)) == 7


def test_the_example_says_what_holds_without_one() -> None:
    text = example_rubric(COURSE)
    assert parse_rubric(text, COURSE) == Rubric()
    for facts in COURSE.exercises:
        assert f"[{facts.prefix}]" in text
        for gradient in facts.gradients:
            assert f"# {gradient} = 1\n" in text


def test_everything_in_the_example_can_be_said() -> None:
    text = example_rubric(COURSE).replace("# notebooks", "notebooks")
    lines = [line.removeprefix("# ") if " = 1" in line else line for line in text.split("\n")]
    rubric = parse_rubric("\n".join(lines), COURSE)
    assert len(rubric.points) == sum(len(facts.gradients) for facts in COURSE.exercises)
    assert len(rubric.notebooks) == 4


def test_a_name_beats_its_exercise_beats_the_rest() -> None:
    rubric = parse_rubric("default = 0.5\ncarried = 0.25\n[ex1]\ndefault = 2\ndC = 8\n", COURSE)
    worth = [rubric.worth(*gradient) for gradient in (("ex1", "dC"), ("ex1", "dh"), ("ex4", "dC"))]
    assert worth == [8, 2, Fraction(1, 2)]
    assert rubric.earned("ex1", "dC", Outcome.CARRIED) == 2
    assert rubric.earned("ex1", "dC", Outcome.FAIL) == 0


@pytest.mark.parametrize(
    ("step", "earned", "late", "points"),
    [
        ("0.5", "2.25", False, "2.5"),  # halves go up
        ("0.5", "2.24", False, "2"),
        ("1", "10", True, "8"),
        ("0.1", "0.3", False, "0.3"),  # no binary fractions on the way
        ("0.01", "3", True, "2.4"),
    ],
)
def test_rounds(step: str, earned: str, late: bool, points: str) -> None:
    rubric = parse_rubric(f"late = 0.8\nround = {step}", COURSE)
    kept = rubric.kept(None, None) if late else Fraction(1)
    assert rubric.total(Fraction(earned), kept) == Fraction(points)


DUE = datetime(2026, 11, 20, 18, tzinfo=UTC)


@pytest.mark.parametrize(
    ("hours", "kept"), [(0.1, "0.9"), (24, "0.9"), (24.1, "0.8"), (1000, "0.5"), (None, "0.9")]
)
def test_late_by_days(hours: float | None, kept: str) -> None:
    rubric = parse_rubric("late = { per_day = 0.1, most = 5 }", COURSE)
    moment = None if hours is None else DUE + timedelta(hours=hours)
    assert rubric.kept(moment, DUE) == Fraction(kept)
    assert parse_rubric("late = { per_day = 0.3, most = 5 }", COURSE).kept(DUE, None) == Fraction(
        "0.7"
    )


def test_notebooks_by_their_numbers() -> None:
    found = parse_rubric('notebooks = ["3", "01"]', COURSE).notebooks
    assert found == ("01_atomic_backprop", "03_fused_batchnorm")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("defualt = 1", "there is no setting named defualt; did you mean default?"),
        ("[ex9]", "there is no exercise named ex9; did you mean ex"),
        ("[ex1]\ndlogit = 2", "no gradient of [ex1] named dlogit; did you mean dlogits"),
        ("[ex2]\ndC = 2", "no gradient of [ex2] named dC; there are dlogits."),
        ("ex1 = 2", "ex1 is an exercise: write it as a table, [ex1]."),
        ("late = 1.5", "late is 1.5, but has to be a number from 0 to 1."),
        ("carried = -0.5", "carried is -0.5, but has to be a number from 0 to 1."),
        ("default = true", "default is True, but"),
        ("default = nan", "default is NaN, but"),
        ("default = inf", "default is Infinity, but"),
        ("[ex1]\ndC = '2'", "dC of [ex1] is 2, but"),
        ("[ex1]\ndC = [2]", "dC of [ex1] is [2], but"),
        ("default = 1e999999999", "default is 1E+999999999, but"),
        ("round = 1e-999999999", "round is 1E-999999999, but"),
        ("round = 0", "round is 0, but has to be a number from 0.000001 to 10000"),
        ("notebooks = ['01_atomic']", "no notebook '01_atomic' in the course; did you mean 01_at"),
        ("late = { per_day = 0.1 }", "late has no most: write late = { per_day = 0.1, most = 5 }"),
        ("late = { per_day = 2, most = 5 }", "per_day of late is 2, but has to be a number"),
        ("late = { pro_day = 1, most = 5 }", "no part of late named pro_day; did you mean per_day"),
        ("notebooks = '01_atomic_backprop'", "notebooks has to be a list"),
        ("default = ", "it is not TOML (Invalid value"),
        (f"default = {'9' * 5000}", "it is not TOML"),
        ("default = 1\ndefault = 2", "it is not TOML (Cannot overwrite"),
    ],
)
def test_says_what_cannot_be_meant(text: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "rubric.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UnusableRubric) as raised:
        read_rubric(path, COURSE)
    said = str(raised.value)
    assert said.startswith(f"The rubric {path} cannot be used: ")
    assert sentence in said


def test_reads_what_windows_writes(tmp_path: Path) -> None:
    path = tmp_path / "rubric.toml"
    path.write_bytes("\ufeffdefault = 2\r\n".encode())
    assert read_rubric(path, COURSE).default == 2


def test_says_when_there_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UnusableRubric, match=r"cannot be read: no such file"):
        read_rubric(tmp_path / "rubric.toml", COURSE)
    (tmp_path / "latin").write_bytes(b"# \xe9")
    with pytest.raises(UnusableRubric, match=r"is not UTF-8 text"):
        read_rubric(tmp_path / "latin", COURSE)


@pytest.mark.skipif(sys.platform == "win32", reason="has no pipes among its files")
def test_waits_for_no_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnusableRubric, match=r"pipe cannot be used: it is not a file\."):
        read_rubric(tmp_path / "pipe", COURSE)
