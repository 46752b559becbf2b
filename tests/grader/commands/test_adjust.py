from __future__ import annotations

from pathlib import Path

import pytest

from grader import cli
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.gradebook.write import write_gradebook
from grader.classroom.intake.class_folder import Student
from grader.commands import exit_codes
from tests.helpers.lines import BATCHNORM, FUSED, class_of, graded, journal

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def gradebook(tmp_path: Path) -> Path:
    lines = [graded("a", "+ada", "pp"), graded("b", "bob", "pppppp", BATCHNORM)]
    folder = class_of(lines, [Student("+ada", email="ada@x.org"), Student("zoe")])
    book = tmp_path / "book"
    book.mkdir()
    write_gradebook(folder, journal(book / "results.jsonl", lines), Rubric(), book)
    return book


def adjust(gradebook: Path, *words: str) -> int:
    return cli.main(["adjust", str(gradebook), *words])


def test_lines_are_written(gradebook: Path, capsys: Capture) -> None:
    assert adjust(gradebook, "Ada@x.org", "--notebook", "2", "--points", "1.5") == 0
    assert adjust(gradebook, "zoe", "--excused", "--comment", "=ill") == 0
    assert adjust(gradebook, "bob", "--gradient", "dvar", "--points", "0") == 0
    # Notebook 4 asks for it as well, and is not in this gradebook.
    assert adjust(gradebook, "bob", "--gradient", "dhprebn", "--points", "1") == 0
    assert adjust(gradebook, "bob", "--due", "2026-12-01", "--notebook", "03") == 0
    assert "bob: line 6 of " in capsys.readouterr().out
    assert (gradebook / "adjustments.csv").read_text("utf-8-sig").splitlines() == [
        "id,notebook,gradient,points,excused,due,attempt,comment",
        f"'+ada,{FUSED},,1.5,,,,",
        "zoe,,,,yes,,,'=ill",
        f"bob,{BATCHNORM},dvar,0,,,,",
        f"bob,{BATCHNORM},dhprebn,1,,,,",
        f"bob,{BATCHNORM},,,,2026-12-01,,",
    ]


def test_a_file_of_ones_own_keeps_its_form(gradebook: Path, tmp_path: Path) -> None:
    own = tmp_path / "mine.csv"
    own.write_bytes("id;comment\r\nzoe;schön\r\n".encode("cp1252"))
    assert adjust(gradebook, "bob", "--not-excused", "--file", str(own)) == 0
    assert own.read_bytes() == "id;comment;excused\r\nzoe;schön;\r\nbob;;no\r\n".encode("cp1252")
    assert not (gradebook / "adjustments.csv").exists()


def test_a_comment_is_kept_whatever_the_files_encoding(gradebook: Path, tmp_path: Path) -> None:
    own = tmp_path / "mine.csv"
    own.write_bytes("id;comment\r\nzoe;schön\r\n".encode("cp1252"))
    assert adjust(gradebook, "bob", "--comment", "做得好", "--file", str(own)) == 0
    assert own.read_bytes().decode("utf-8-sig") == "id;comment\r\nzoe;schön\r\nbob;做得好\r\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["eve", "--excused"], "nobody in the class has the id 'eve'"),
        (["bob", "--points", "1"], "of which notebook are the points?"),
        (["bob", "--points", "3", "--notebook", "02"], "3 are more points than the 2 of"),
        (["bob", "--points", "1", "--notebook", "01"], "01_atomic_backprop is not in this"),
        (["bob", "--gradient", "dq", "--points", "1"], "there is no gradient 'dq'"),
        (["bob", "--gradient", "dvar", "--points", "9"], "9 are more points than the 1 of dvar in"),
        (["bob", "--gradient", "dvar", "--points", "9"], "has a --rubric, name it here too"),
        (["bob", "--notebook", "3", "--points", "1", "--excused"], "contradict each other"),
        (["bob", "--notebook", "3", "--attempt", "2"], "bob has no attempt '2'; there is 1 (b)"),
        (
            ["bob", "--attempt", "1"],
            f"bob has no attempt '1' of {FUSED}, nor any other that can be graded.",
        ),
        (["zoe", "--notebook", "3", "--attempt", "1"], "zoe has no attempt '1', nor any other"),
        (["bob"], "it changes nothing"),
        (["bob", "--due", "soon"], "'soon' is no time"),
    ],
)
def test_what_is_not_known_is_refused(
    words: list[str], said: str, gradebook: Path, capsys: Capture
) -> None:
    assert adjust(gradebook, *words) == exit_codes.UNREADABLE
    assert said in capsys.readouterr().err
    assert not (gradebook / "adjustments.csv").exists()


def test_the_gradebooks_rubric_says_what_a_gradient_is_worth(
    gradebook: Path, tmp_path: Path, capsys: Capture
) -> None:
    rubric = tmp_path / "rubric.toml"
    rubric.write_text("[ex3]\ndvar = 3\n")
    words = ["bob", "--gradient", "dvar", "--rubric", str(rubric), "--points"]
    assert adjust(gradebook, *words, "4") == exit_codes.UNREADABLE
    assert f"4 are more points than the 3 of dvar in {BATCHNORM}.\n" in capsys.readouterr().err
    assert adjust(gradebook, *words, "3") == exit_codes.PASSED


def test_an_attempt_that_is_there(gradebook: Path) -> None:
    assert adjust(gradebook, "bob", "--notebook", "3", "--attempt", "1") == exit_codes.PASSED


def test_no_gradebook(tmp_path: Path, capsys: Capture) -> None:
    assert adjust(tmp_path, "bob", "--excused") == exit_codes.UNREADABLE
    assert "name the folder that `grader grade` has written" in capsys.readouterr().err
