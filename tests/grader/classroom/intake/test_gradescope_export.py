from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE
from grader.classroom.intake.class_folder import UnreadableClass
from grader.classroom.intake.class_reader import read_class
from grader.classroom.intake.gradescope_export import GRADESCOPE, METADATA
from grader.classroom.intake.plain_layouts import FOLDERS
from tests.helpers.trees import by_file, make

LIST = """---
submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: '0017'
    :email: ada@x.edu
  :created_at: 2026-11-20 23:58:12.123456789 Z
  :score: 0.0
  :status: processed
  :results:
    tests: [{name: '!', output: "\\e[31mno"}]
  :history:
  - :id: 0
submission_2:
  :submitters:
  - :name: Charles Babbage
    :sid:
    :email: charles@x.edu
  - :name: Grace Hopper
    :sid: 19
    :email: grace@x.edu
  :created_at: 2026-11-21 08:30:00.5 -08:00
submission_3:
  :submitters: []
submission_4:
  :submitters:
  - :name: Emmy Noether
    :sid: '23'
    :email: emmy@x.edu
"""
FILES = (
    "submission_1/01.ipynb",
    "submission_1/more/02 (1).ipynb",
    "submission_2/01.ipynb",
    "submission_3/x.ipynb",
    "submission_5/x.ipynb",
)


def export(root: Path, text: str = LIST, *files: str) -> Path:
    make(root, *(files or FILES))
    (root / METADATA).write_text(text, encoding="utf-8")
    return root


def test_who_handed_in_no_notebook(tmp_path: Path) -> None:
    files = (
        "submission_2/essay.pdf",
        "submission_4/a.pdf",
        "submission_4/b.pdf",
        "submission_2/x.ipynb",
    )
    found = read_class(export(tmp_path, LIST, *files), COURSE)
    emmy = [(item.path, item.submitted) for item in found.handed_in if item.student == "23"]
    assert emmy == [("submission_4/a.pdf", None), ("submission_4/b.pdf", None)]
    assert "submission_2/essay.pdf" not in {item.path for item in found.handed_in}


def test_an_export(tmp_path: Path) -> None:
    found = read_class(export(tmp_path), COURSE, due=datetime(2026, 11, 21, tzinfo=UTC))
    assert found.convention == GRADESCOPE
    assert [(s.id, s.name, s.email) for s in found.students] == [
        ("0017", "Ada Lovelace", "ada@x.edu"),
        ("19", "Grace Hopper", "grace@x.edu"),
        ("23", "Emmy Noether", "emmy@x.edu"),
        ("charles@x.edu", "Charles Babbage", "charles@x.edu"),
        ("submission_3", "", ""),
        ("submission_5", "", ""),
    ]
    first = datetime(2026, 11, 20, 23, 58, 12, 123456, tzinfo=UTC)
    second = datetime(2026, 11, 21, 8, 30, 0, 500000, tzinfo=timezone(timedelta(hours=-8)))
    assert [(i.id, i.student, i.submitted, i.late, i.attempt) for i in found.handed_in] == [
        ("submission_1/01.ipynb", "0017", first.isoformat(), False, 0),
        ("submission_1/more/02 (1).ipynb", "0017", first.isoformat(), False, 1),
        ("submission_2/01.ipynb (19)", "19", second.isoformat(), True, 0),
        ("submission_2/01.ipynb (charles@x.edu)", "charles@x.edu", second.isoformat(), True, 0),
        ("submission_3/x.ipynb", "submission_3", None, False, 0),
        ("submission_5/x.ipynb", "submission_5", None, False, 0),
    ]
    assert found.handed_in[2].path == found.handed_in[3].path
    assert [notice[:20] for notice in found.notices] == [
        "submission_metadata.",
        "The folder does not ",
    ]


def test_an_export_inside_the_folder(tmp_path: Path) -> None:
    export(tmp_path / "assignment_9_export")
    assert (
        by_file(read_class(tmp_path, COURSE))["assignment_9_export/submission_1/01.ipynb"] == "0017"
    )


def test_a_list_further_down_is_a_students_file(tmp_path: Path) -> None:
    text = "submission_2:\n  :submitters: []\n"
    export(tmp_path, text, "submission_1/x.ipynb")
    (tmp_path / "submission_1" / METADATA).write_text("x.ipynb: {':submitters': [{':sid': ada}]}")
    assert by_file(read_class(tmp_path, COURSE)) == {"submission_1/x.ipynb": "submission_1"}


def test_files_without_a_folder(tmp_path: Path) -> None:
    text = "77.ipynb:\n  :submitters:\n  - :sid: a\n"
    assert by_file(read_class(export(tmp_path, text, "77.ipynb"), COURSE)) == {"77.ipynb": "a"}


def test_a_list_of_a_student_speaks_of_nobody(tmp_path: Path) -> None:
    make(tmp_path, "ada/submission_1/x.ipynb", "bob/x.ipynb", "mallory/submission_1/x.ipynb")
    (tmp_path / "mallory" / METADATA).write_text(LIST, encoding="utf-8")
    found = read_class(tmp_path, COURSE)
    assert found.convention == FOLDERS
    assert set(by_file(found).values()) == {"ada", "bob", "mallory"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("submission_1: [", "is not the list that Gradescope writes"),
        ("[" * 100_000 + "]" * 100_000, "is not the list that Gradescope writes"),
        ("{[a]: 1}", "is not the list that Gradescope writes"),
        ("", "names no submission"),
        ("- 1", "names no submission"),
    ],
)
def test_a_list_that_cannot_be_read(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UnreadableClass, match=said):
        read_class(export(tmp_path, text), COURSE)


@pytest.mark.parametrize(
    "submitters",
    ["7", "ada", "[1, null, []]", "[{':sid': [1]}]", "{':sid': 4}", "[{':sid': ~, ':name': ' '}]"],
)
def test_an_entry_that_names_nobody(tmp_path: Path, submitters: str) -> None:
    text = f"submission_1: {{':submitters': {submitters}, ':created_at': [1]}}"
    assert set(by_file(read_class(export(tmp_path, text), COURSE)).values()) == {
        "submission_1",
        "submission_2",
        "submission_3",
        "submission_5",
    }


def test_tags_construct_nothing(tmp_path: Path) -> None:
    text = (
        "submission_1: !ruby/object:X\n  :submitters: !ruby/array:Y\n"
        "  - :sid: !ruby/sym ada\n    :name: !!python/name:os.system ''\n"
        "  :created_at: !!timestamp 2026-99-99 00:00:00\n"
    )
    found = read_class(export(tmp_path, text), COURSE)
    assert by_file(found)["submission_1/01.ipynb"] == "ada"
    assert [student.name for student in found.students if student.id == "ada"] == [""]
    assert found.handed_in[0].submitted is None
