"""What a lecturer projects: the most common mistakes, and nobody's name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from corpus.readers.lecture_course import COURSE
from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.report.lecture_page import (
    MOST_MISTAKES,
    course_hint,
    picture,
)
from grader.classroom.gradebook.report.mistakes import Mistake
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.gradebook.write import render
from grader.classroom.intake.class_folder import Student
from grader.diagnosis.kinds import Kind
from grader.verdict import pack_map
from tests.helpers.lines import BATCHNORM, FUSED, Document, class_of, graded, gradient, journal
from tests.helpers.made_class import make_class

LONGEST_TITLE = 64
"""Characters, of which two lines of the slide have room."""

NAMES = ("Ada Lovelace", "Bob Secret", "Zoe Quick", "Ivo Bright")


def lecture(tmp_path: Path, lines: list[Document]) -> str:
    people = [Student(f"s{n}", name, f"{name}@uni.example") for n, name in enumerate(NAMES)]
    results = journal(tmp_path / "results.sqlite", lines)
    render(make_book(class_of(lines, people), results, Rubric()), tmp_path / "out")
    return (tmp_path / "out/report/lecture.html").read_text("utf-8")


def student(number: int, **changes: Any) -> Document:
    line = graded(f"{number}", f"s{number}", "pf")
    line["gradients"][1] = gradient("dz", "f", **changes)
    return line


def sign(message: str = "`dz` has the wrong sign.") -> list[dict[str, str]]:
    return [{"kind": "sign", "message": message, "hint": "Where does the minus come from?"}]


def test_a_mistake_with_its_hint_its_lines_and_its_picture(tmp_path: Path) -> None:
    wrong = {"digest": "value:a", "map": pack_map(["4488", "0444"])}
    lines = [
        student(0, diagnosis=sign(), wrong=wrong, code="dz = p  # Ada's", expected_shape=[2, 4]),
        student(1, diagnosis=sign("`secret` has the wrong sign."), wrong=wrong, code="dz = 1 * p"),
        graded("3", "s2", "pt"),
        graded("4", "s3", "pp"),
    ]
    text = lecture(tmp_path, lines)
    for there in (
        *("<code>dz</code>: a sign is wrong", "2 of you made this mistake.", "50 % wrong"),
        *("25 % not yet done", "<pre>dz = p</pre>", "<pre>dz = 1 * p</pre>"),
        *("<code>dz</code> has the wrong sign.", "Where does the minus come from?"),
        *('class="s8" x="2" y="0.000" width="2"', 'class="s0" x="0" y="1.000" width="1"'),
    ):
        assert there in text, there
    assert text.count('<rect class="s') == 2 + 2  # the picture's, the legend's
    assert "secret" not in text


@pytest.mark.slow
def test_no_name_is_on_it(tmp_path: Path) -> None:
    made = make_class(120, seed=4, hostile=False)
    render(make_book(made.folder, made.write(tmp_path / "r.sqlite"), Rubric()), tmp_path)
    text = (tmp_path / "report/lecture.html").read_text("utf-8")
    assert text.count("<section") == MOST_MISTAKES
    assert "students/" not in text
    body = text.partition("</style>")[2]
    for person in made.folder.students:
        for word in (person.id, person.email, *person.name.split(", ")):
            assert not re.search(rf"\b{re.escape(word)}\b", body), word


def test_what_one_student_wrote_is_not_shown(tmp_path: Path) -> None:
    text = lecture(tmp_path, [student(0, diagnosis=sign()), graded("b", "s1", "pp")])
    assert "No mistake was made by two of you." in text
    assert "<pre>" not in text


def test_a_mistake_without_a_diagnosis_has_the_courses_hint(tmp_path: Path) -> None:
    wrong = {"digest": "value:a", "map": ""}
    reasons = [["not-the-gradient", {"tensor": "logits"}]]
    lines = []
    for number in range(2):
        line = graded(f"{number}", f"s{number}", "fp")
        line["gradients"][0] = gradient("dlogits", "f", wrong=wrong, reasons=reasons)
        lines.append(line)
    text = lecture(tmp_path, lines)
    assert "the same wrong value" in text
    hint = course_hint(COURSE, (FUSED, "dlogits"))
    assert hint
    assert "$" not in hint
    assert hint.split("`")[0].strip()[:30] in text
    assert course_hint(COURSE, (BATCHNORM, "nothing")) == ""


def test_a_wrong_shape_is_said_in_large_letters(tmp_path: Path) -> None:
    lines = [student(n, diagnosis=sign(), shape=[32]) for n in range(2)]
    text = lecture(tmp_path, lines)
    assert '<code class="wrong">(32,)</code>' in text
    assert "needs <code>(32, 27)</code>" in text


@pytest.mark.parametrize(
    ("rows", "tall"),
    [
        (["44", "48"], 1.0),
        (["8" * 64], 8.0),  # a line is made a band
        (["8"] * 32, 1 / 32),  # a column is made a square
    ],
)
def test_a_map_is_neither_a_line_nor_a_tower(rows: list[str], tall: float) -> None:
    drawn = picture(pack_map(rows))
    assert drawn is not None
    assert (drawn.rows, drawn.columns) == (len(rows), len(rows[0]))
    assert drawn.tall == pytest.approx(tall)
    assert 1 <= drawn.columns / (drawn.rows * drawn.tall) <= 8


def test_equal_cells_side_by_side_are_one_bar() -> None:
    drawn = picture(pack_map(["448800", "944444"]))
    assert drawn is not None
    assert drawn.bars == ((2, 0, 2, "8"), (4, 0, 2, "0"), (0, 1, 1, "9"))


def test_each_kind_has_a_title_for_people() -> None:
    for kind in Kind:
        said = Mistake((FUSED, "dz"), kind, diagnosed=True).title
        assert said != kind
        assert len(said) <= LONGEST_TITLE
        assert not re.search(r"[.:]$", said)


def test_a_kind_from_another_version_keeps_its_word() -> None:
    assert Mistake((FUSED, "dz"), "yet-unknown", diagnosed=True).title == "yet-unknown"
