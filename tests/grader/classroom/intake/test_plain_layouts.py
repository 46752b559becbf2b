from __future__ import annotations

from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE, NOTEBOOKS
from grader.classroom.intake.class_reader import read_class
from grader.classroom.intake.plain_layouts import FLAT, FOLDERS, GITHUB, split_name
from tests.helpers.trees import handed_in, make


@pytest.mark.parametrize(
    ("stem", "who", "attempt"),
    [
        ("ada_01_atomic_backprop", "ada", 0),
        ("01_atomic_backprop_ada", "ada", 0),
        ("01_atomic_backprop - Ada Lovelace", "Ada Lovelace", 0),
        ("Lovelace, Ada - 04_manual_training", "Lovelace, Ada", 0),
        ("ada-01-atomic-backprop", "ada", 0),
        ("ada 02 fused cross entropy", "ada", 0),
        ("ADA_03_FUSED_BATCHNORM", "ADA", 0),
        ("atomic_backprop_ada", "ada", 0),
        ("ada@x.edu_01_atomic_backprop", "ada@x.edu", 0),
        ("ada_01_atomic_backprop (3)", "ada", 3),
        ("ada_01_atomic_backprop(3)", "ada", 3),
        ("ada_01_atomic_backprop-2", "ada", 2),
        ("01_atomic_backprop (1)_ada", "ada", 1),
        ("01_atomic_backprop_ada (2)", "ada", 2),
        ("ada_01_atomic_backprop-Copy1", "ada", 0),
        ("hw1_01_atomic_backprop_ada", "hw1_ada", 0),
        # no name to be told: the stem is the student
        ("01_atomic_backprop", "01_atomic_backprop", 0),
        ("01_atomic_backprop (3)", "01_atomic_backprop (3)", 0),
        ("01_atomic_backprop-1", "01_atomic_backprop-1", 0),
        ("ada", "ada", 0),
        ("ada (2)", "ada (2)", 0),
        ("my01_atomic_backpropagation", "my01_atomic_backpropagation", 0),
    ],
)
def test_who_a_files_name_speaks_of(stem: str, who: str, attempt: int) -> None:
    assert split_name(stem, COURSE.notebooks) == (who, attempt)


@pytest.mark.parametrize(
    ("stem", "who", "attempt"),
    [
        ("ada_norms", "ada", 0),
        ("ada (2)", "ada (2)", 0),
        ("norms-2 ada", "ada", 2),
        ("ada_rnn_cell", "ada", 0),
        ("ada_cell", "ada_cell", 0),
        ("rnn cell (3) ada", "ada", 3),
    ],
)
def test_a_courses_notebooks_need_no_number(stem: str, who: str, attempt: int) -> None:
    assert split_name(stem, ("norms", "rnn-cell")) == (who, attempt)


def test_one_student_may_hand_in_four_notebooks(tmp_path: Path) -> None:
    files = [f"ada_{name}.ipynb" for name in NOTEBOOKS] + [
        f"{name}_bob.ipynb" for name in NOTEBOOKS
    ]
    found = read_class(make(tmp_path, *files), COURSE)
    assert found.convention == FLAT
    assert [student.id for student in found.students] == ["ada", "bob"]
    assert [item.student for item in found.handed_in] == ["ada"] * 4 + ["bob"] * 4


def test_one_folder_a_student_however_deep(tmp_path: Path) -> None:
    folder = make(
        tmp_path / "in",
        "ada/01_atomic_backprop.ipynb",
        "ada/week 2/a/b/c/02.ipynb",
        "bob/x (2).ipynb",
        "carl/",
        "dora/essay.pdf",
        "emmy_01_atomic_backprop.ipynb",
    )
    (tmp_path / "class.csv").write_text("ada\nbob\ncarl\ndora\nemmy\n")
    found = read_class(folder, COURSE, tmp_path / "class.csv")
    assert found.convention == FOLDERS
    assert [student.id for student in found.students] == ["ada", "bob", "carl", "dora", "emmy"]
    assert [(item.id, item.student, item.attempt) for item in found.handed_in] == [
        ("ada/01_atomic_backprop.ipynb", "ada", 0),
        ("ada/week 2/a/b/c/02.ipynb", "ada", 0),
        ("bob/x (2).ipynb", "bob", 2),
        ("dora/essay.pdf", "dora", 0),
        ("emmy_01_atomic_backprop.ipynb", "emmy", 0),
    ]
    assert found.notices == ()


def test_the_folder_of_the_class_inside_another_is_spoken_of(tmp_path: Path) -> None:
    folder = make(tmp_path, *(f"export/student{number}/x.ipynb" for number in range(5)))
    assert set(handed_in(folder).values()) == {"export"}
    assert any(
        "name that folder instead" in notice for notice in read_class(folder, COURSE).notices
    )


@pytest.mark.parametrize("number", [2, 4])
def test_folders_of_assignments_hold_the_students(tmp_path: Path, number: int) -> None:
    names = [*NOTEBOOKS][:number]
    assignments = {f"hw{n}": name for n, name in enumerate(names, start=1)}
    make(tmp_path, "hw1/readme.txt", "hw1/dora/", f"hw1/emmy_{names[0]}.ipynb", "hw2/ada/me.ipynb")
    for student in ("ada", "bob", "carl"):
        make(tmp_path, *(f"{hw}/{student}/{name}.ipynb" for hw, name in assignments.items()))
    found = read_class(tmp_path, COURSE)
    assert [student.id for student in found.students] == ["ada", "bob", "carl", "dora", "emmy"]
    assert {item.student for item in found.handed_in if "/bob/" in item.id} == {"bob"}
    assert f"hw{number} hold folders of the same names, such as 'ada'" in found.notices[0]


@pytest.mark.parametrize("students", ["ada", "ada bob", "ada bob carl dora emmy"])
def test_folders_of_students_hold_their_assignments(tmp_path: Path, students: str) -> None:
    for student in students.split():
        make(tmp_path, *(f"{student}/hw{name[:2]}/{name}.ipynb" for name in NOTEBOOKS))
    for late in range(9):  # who have the first alone, or have mixed them up
        make(tmp_path, f"late{late}/hw01/01_atomic_backprop.ipynb")
    make(tmp_path, "late0/hw01/02_fused_cross_entropy.ipynb")
    found = read_class(tmp_path, COURSE)
    assert [student.id for student in found.students] == [
        *students.split(),
        *(f"late{late}" for late in range(9)),
    ]
    assert found.notices == ()


def test_more_students_than_assignments_where_names_of_files_tell_nothing(tmp_path: Path) -> None:
    make(tmp_path, *(f"hw{n}/{who}/x.ipynb" for n in (1, 2) for who in ("ada", "bob", "carl")))
    assert {*handed_in(tmp_path).values()} == {"ada", "bob", "carl"}


@pytest.mark.parametrize("name", ["x.IPYNB", "x.ipynb.txt", "x.ipynb.json", "x.zip", "x.tar.gz"])
def test_what_may_be_a_submission(tmp_path: Path, name: str) -> None:
    assert handed_in(make(tmp_path, f"ada/{name}")) == {f"ada/{name}": "ada"}


def test_clones_of_github_classroom(tmp_path: Path) -> None:
    names = "backprop-adalove", "backprop-bob-lee"
    folder = make(tmp_path / "in", *(f"{n}/{f}" for n in names for f in ("01.ipynb", ".git/HEAD")))
    found = read_class(folder, COURSE)
    assert found.convention == GITHUB
    assert [student.id for student in found.students] == ["adalove", "bob-lee"]
    (tmp_path / "class.csv").write_text(
        '"identifier","github_username","github_id","name"\n'
        '"17","adalove","5","Ada"\n"18","bob-lee","6",""\n"19","","",""\n'
    )
    for clone in (True, False):  # unpacked, they have no .git
        if not clone:
            for name in names:
                (folder / name / ".git/HEAD").unlink()
                (folder / name / ".git").rmdir()
        listed = read_class(folder, COURSE, tmp_path / "class.csv")
        assert [item.student for item in listed.handed_in] == ["17", "18"]
        assert [student.id for student in listed.students] == ["17", "18", "19"]
