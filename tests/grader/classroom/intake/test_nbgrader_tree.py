from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE
from grader.classroom.intake.class_folder import UnreadableClass
from grader.classroom.intake.class_reader import read_class
from grader.classroom.intake.plain_layouts import FOLDERS, NBGRADER
from tests.helpers.trees import by_file, make

SUBMITTED = (
    "ada/hw1/01_atomic_backprop.ipynb",
    "ada/hw2/02_fused_cross_entropy.ipynb",
    "bob/hw1/01_atomic_backprop.ipynb",
    "bob/hw1/.ipynb_checkpoints/01_atomic_backprop-checkpoint.ipynb",
)
TIME = datetime(2026, 11, 20, 8, 30, 0, 120000, tzinfo=UTC)


def submitted(root: Path) -> Path:
    make(root, *SUBMITTED, "carl/hw1/")
    (root / "ada/hw1/timestamp.txt").write_text("2026-11-20 08:30:00.120000 UTC\n")
    (root / "bob/hw1/timestamp.txt").write_text("2026-11-22 10:00:00 CET")
    return root


def test_the_root_of_a_course(tmp_path: Path) -> None:
    submitted(tmp_path / "submitted")
    make(
        tmp_path,
        "nbgrader_config.py",
        "source/hw1/01_atomic_backprop.ipynb",
        "autograded/ada/hw1/01_atomic_backprop.ipynb",
        "feedback/ada/hw1/01_atomic_backprop.html",
    )
    found = read_class(tmp_path, COURSE, due=datetime(2026, 11, 21, tzinfo=UTC))
    assert found.convention == NBGRADER
    assert [student.id for student in found.students] == ["ada", "bob", "carl"]
    assert [(i.id, i.student, i.submitted, i.late) for i in found.handed_in] == [
        (f"submitted/{SUBMITTED[0]}", "ada", TIME.isoformat(), False),
        (f"submitted/{SUBMITTED[1]}", "ada", None, False),
        (f"submitted/{SUBMITTED[2]}", "bob", "2026-11-22T10:00:00+00:00", True),
    ]
    assert any(notice.endswith(" own: 2 files outside submitted/.") for notice in found.notices)
    assert any("1 × .ipynb_checkpoints" in notice for notice in found.notices)
    assert any(notice.startswith("The timestamp.txt of 1 file") for notice in found.notices)
    assert any(
        notice.startswith("The folder does not say when 1 of 3 files came, and none")
        for notice in found.notices
    )


@pytest.mark.parametrize("name", ["submitted", "some other name"])
def test_the_folder_of_what_was_handed_in(tmp_path: Path, name: str) -> None:
    found = read_class(submitted(tmp_path / name), COURSE)
    assert found.convention == NBGRADER
    assert by_file(found) == {file: file[:3] for file in SUBMITTED[:3]}
    assert [student.id for student in found.students] == ["ada", "bob", "carl"]


def test_a_time_in_a_folder_without_notebooks_hides_no_others(tmp_path: Path) -> None:
    folder = make(tmp_path, "ada.ipynb", "submitted/ada/hw/timestamp.txt")
    assert by_file(read_class(folder, COURSE)) == {"ada.ipynb": "ada"}
    (tmp_path / "class.csv").write_text("ada\nsubmitted\n")
    listed = read_class(folder, COURSE, tmp_path / "class.csv")
    assert by_file(listed) == {"ada.ipynb": "ada"}


def test_who_handed_in_no_notebook_but_a_picture(tmp_path: Path) -> None:
    folder = make(tmp_path, "submitted/ada/hw/x.ipynb", "submitted/bob/hw/x.png", "source/hw/y.png")
    (folder / "submitted/bob/hw/timestamp.txt").write_text("2026-11-21 12:00:00 UTC")
    found = read_class(folder, COURSE, due=datetime(2026, 11, 21, tzinfo=UTC))
    assert by_file(found) == {
        "submitted/ada/hw/x.ipynb": "ada",
        "submitted/bob/hw/x.png": "bob",
    }
    assert [(item.submitted, item.late) for item in found.handed_in] == [
        (None, False),
        ("2026-11-21T12:00:00+00:00", True),
    ]


def test_a_time_beside_no_notebook_is_spoken_of_where_it_counts(tmp_path: Path) -> None:
    folder = make(tmp_path, "submitted/ada/hw/x.ipynb", "submitted/ada/hw/data.csv", "source/hw/")
    make(folder, *(f"submitted/bob/hw/{n}.png" for n in range(2)))
    for who in ("ada", "bob"):
        (folder / f"submitted/{who}/hw/timestamp.txt").write_text("soon")
    found = read_class(folder, COURSE)
    assert "3 files beside a timestamp.txt that cannot be read as a time." in found.notices


def test_a_course_in_which_nobody_handed_in_anything(tmp_path: Path) -> None:
    with pytest.raises(UnreadableClass, match="submitted/ holds none"):
        read_class(make(tmp_path, "source/hw/x.ipynb", "submitted/ada/hw/"), COURSE)


def test_a_folder_called_submitted_may_hold_anything(tmp_path: Path) -> None:
    assert read_class(make(tmp_path / "submitted", "ada/x.ipynb"), COURSE).convention == FOLDERS


def test_files_beside_the_assignments(tmp_path: Path) -> None:
    folder = make(submitted(tmp_path / "submitted"), "ada/x.ipynb", "emmy_01_atomic_backprop.ipynb")
    found = by_file(read_class(folder, COURSE))
    assert (found["ada/x.ipynb"], found["emmy_01_atomic_backprop.ipynb"]) == ("ada", "emmy")


@pytest.mark.parametrize("text", ["", "tomorrow", "\0", "9" * 1000, "2026-13-45 00:00:00 UTC"])
def test_a_time_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    folder = submitted(tmp_path)
    (folder / "ada/hw1/timestamp.txt").write_text(text)
    found = read_class(folder, COURSE)
    assert found.handed_in[0].submitted is None
    assert any(notice.startswith("1 file beside a timestamp.txt") for notice in found.notices)


def test_a_time_that_is_no_file(tmp_path: Path) -> None:
    folder = submitted(tmp_path / "class")
    outside = tmp_path / "outside.txt"
    outside.write_text("2026-11-20 08:30:00 UTC")
    for student in ("ada", "bob"):
        (folder / student / "hw1" / "timestamp.txt").unlink()
    (folder / "ada/hw1/timestamp.txt").symlink_to(outside)
    os.mkfifo(folder / "bob/hw1/timestamp.txt")
    assert [item.submitted for item in read_class(folder, COURSE).handed_in] == [None] * 3


def test_a_students_own_names_do_not_change_the_convention(tmp_path: Path) -> None:
    found = read_class(
        make(
            tmp_path, "ada/x.ipynb", "bob/x.ipynb", "mallory/hw/x.ipynb", "mallory/hw/timestamp.txt"
        ),
        COURSE,
    )
    assert found.convention == FOLDERS
