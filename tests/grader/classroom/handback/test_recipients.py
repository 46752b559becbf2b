from __future__ import annotations

from pathlib import Path

from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.gradebook.write import render
from grader.classroom.handback.recipients import read_recipients
from grader.classroom.run.results import RESULTS
from tests.helpers.lines import class_of, graded, journal
from tests.helpers.made_gradebook import gradebook_of


def test_ids_that_look_the_same_in_the_table(tmp_path: Path) -> None:
    lines = [
        graded("a", "x\u202ey", "pp"),
        graded("b", "x\\u202ey", "pf"),
        graded("c", "eve\x07", "pp"),
    ]
    book = tmp_path / "book"
    book.mkdir()
    render(make_book(class_of(lines), journal(book / RESULTS, lines), Rubric()), book)
    people, told = read_recipients(book)
    assert [each.student.id for each in people] == ["eve\x07", "x\\u202ey", "x\u202ey"]
    assert [each.files for each in people] == [("c",), ("b",), ("a",)]
    assert told == []


def test_a_page_that_is_not_there(tmp_path: Path) -> None:
    book = gradebook_of(tmp_path, "ada/x.ipynb", "bob/x.ipynb", "eve/x.ipynb")
    (book / "report/students/ada.html").unlink()
    (book / "report/students/eve.html").write_text("<h1>My own notes on Eve</h1>")
    people, told = read_recipients(book)
    assert [each.student.id for each in people] == ["bob"]
    assert told == ["ada and eve: there is no page in the report; give `grader grade` again."]
