from __future__ import annotations

from pathlib import Path

import pytest

from grader.intake import read_class
from grader.intake.canvas_download import CANVAS
from grader.intake.file_names import FLAT, FOLDERS
from tests.grader.intake.trees import make


@pytest.mark.parametrize(
    ("file", "student", "name", "late", "attempt"),
    [
        ("lovelaceada_123_678_01_atomic_backprop.ipynb", "123", "lovelaceada", False, 0),
        ("lovelaceada_123_678_01_atomic_backprop-1.ipynb", "123", "lovelaceada", False, 1),
        ("lovelaceada_123_678_01_atomic_backprop-12.ipynb", "123", "lovelaceada", False, 12),
        ("lovelaceada_123_678_01_atomic_backprop (2).ipynb", "123", "lovelaceada", False, 2),
        ("lovelaceada_LATE_123_678_01_atomic_backprop.ipynb", "123", "lovelaceada", True, 0),
        ("lovelaceada_late_123_678_x.ipynb", "123", "lovelaceada", True, 0),
        ("anon_Ab3xK_678_x.ipynb", "anon_Ab3xK", "", False, 0),
        ("LATE_anon_Ab3xK_678_x-1.ipynb", "anon_Ab3xK", "", True, 1),
        ("müllerzoë_123_678_x.ipynb", "123", "müllerzoë", False, 0),
        ("ada_lovelace_123_678_x.ipynb", "123", "ada_lovelace", False, 0),
        # what the student wrote behind it cannot name somebody else
        ("mallory_9_8_lovelaceada_123_678_x.ipynb", "9", "mallory", False, 0),
        ("mallory_9_8_LATE_123_678_x.ipynb", "9", "mallory", False, 0),
        ("mallory_9_8_work/lovelaceada_123_678_x.ipynb", "9", "mallory", False, 0),
        ("download/lovelaceada_123_678_x.ipynb", "123", "lovelaceada", False, 0),
    ],
)
def test_what_a_name_says(
    tmp_path: Path, file: str, student: str, name: str, late: bool, attempt: int
) -> None:
    found = read_class(make(tmp_path, file))
    assert found.convention == CANVAS
    assert [(s.id, s.name) for s in found.students] == [(student, name)]
    [item] = found.handed_in
    assert (item.id, item.student, item.late, item.attempt) == (file, student, late, attempt)
    assert item.submitted is None


def test_who_typed_a_text_is_a_student_without_a_file(tmp_path: Path) -> None:
    found = read_class(
        make(
            tmp_path, "lovelaceada_1_2_x.ipynb", "babbagecharles_LATE_3_text.html", "a_5_link.html"
        )
    )
    assert [student.id for student in found.students] == ["1", "3", "5"]
    assert [item.student for item in found.handed_in] == ["1"]


@pytest.mark.parametrize(
    "files",
    [
        ("ada_2026_11_backprop.ipynb", "bob_2026_11_backprop.ipynb"),
        ("Ada_2_3_x.ipynb",),
        ("ada_01_02_x.ipynb",),
        ("01_atomic_backprop_ada.ipynb",),
        ("ada_1_2_x.ipynb", "bob.ipynb", "carl.ipynb"),
    ],
)
def test_names_that_only_look_so(tmp_path: Path, files: tuple[str, ...]) -> None:
    assert read_class(make(tmp_path, *files)).convention == FLAT


def test_a_students_own_names_do_not_change_the_convention(tmp_path: Path) -> None:
    traps = [f"mallory/lovelaceada_{number}_7_x.ipynb" for number in range(1, 50)]
    found = read_class(make(tmp_path, "ada/x.ipynb", "bob/x.ipynb", *traps))
    assert found.convention == FOLDERS
    assert {item.student for item in found.handed_in} == {"ada", "bob", "mallory"}
