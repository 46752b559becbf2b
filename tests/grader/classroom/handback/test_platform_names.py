from __future__ import annotations

import pytest

from grader.classroom.handback.platform_names import canvas_place, moodle_place


@pytest.mark.parametrize(
    ("file", "owner", "entry"),
    [
        ("lovelaceada_123_678_x.ipynb", "123", "lovelaceada_123_678_feedback.html"),
        ("lovelaceada_LATE_123_678_x-1.ipynb", "123", "lovelaceada_LATE_123_678_feedback.html"),
        ("anon_Ab3xK_678_x.ipynb", "anon_Ab3xK", "anon_Ab3xK_678_feedback.html"),
        ("müllerzoë_123_678_x.ipynb", "123", "müllerzoë_123_678_feedback.html"),
        # Canvas leaves out what ends in "_link...": the end of the name is not the student's
        ("lovelaceada_123_678_my_link.ipynb", "123", "lovelaceada_123_678_feedback.html"),
        ("mallory_9_8_lovelaceada_123_678_x.ipynb", "9", "mallory_9_8_feedback.html"),
        ("mallory_9_8_work/lovelaceada_123_678_x.ipynb", "9", "mallory_9_8_feedback.html"),
        ('a"\u202e<b>_9_8_x.ipynb', "9", "ab_9_8_feedback.html"),
        ("..\\..\\etc_9_8_x.ipynb", "9", "....etc_9_8_feedback.html"),
    ],
)
def test_where_canvas_looks(file: str, owner: str, entry: str) -> None:
    place = canvas_place(file)
    assert place is not None
    assert (place.download, place.owner, place.entry) == ("", owner, entry)
    inside = canvas_place(f"HW 1/{file}")
    assert inside is not None
    assert (inside.download, inside.entry) == ("HW 1", entry)


@pytest.mark.parametrize(
    ("file", "owner", "entry"),
    [
        (
            "Ada Lovelace_12_assignsubmission_file/x.ipynb",
            "12",
            "Ada Lovelace_12_assignsubmission_file/feedback.html",
        ),
        (
            "Ada Lovelace_12_assignsubmission_file_/sub/x.ipynb",
            "12",
            "Ada Lovelace_12_assignsubmission_file_/feedback.html",
        ),
        (
            "Ada Lovelace_12_assignsubmission_file_x.ipynb",
            "12",
            "Ada Lovelace_12_assignsubmission_file_feedback.html",
        ),
        (  # an underscore would move the number to another place
            "Ada_B_12_assignsubmission_file/x.ipynb",
            "12",
            "Ada B_12_assignsubmission_file/feedback.html",
        ),
        (  # Moodle leaves hidden files out
            ".~ada_12_assignsubmission_file_x.ipynb",
            "12",
            "ada_12_assignsubmission_file_feedback.html",
        ),
        (
            "a\\..\\\x07b_12_assignsubmission_file/x.ipynb",
            "12",
            "a ..  b_12_assignsubmission_file/feedback.html",
        ),
        (
            "M_9_assignsubmission_file/Ada_1_assignsubmission_file/x.ipynb",
            "9",
            "M_9_assignsubmission_file/feedback.html",
        ),
    ],
)
def test_where_moodle_looks(file: str, owner: str, entry: str) -> None:
    place = moodle_place(file)
    assert place is not None
    assert (place.download, place.owner, place.entry) == ("", owner, entry)


@pytest.mark.parametrize(
    "file", ["x.ipynb", "ada/x.ipynb", "Default group_assignsubmission_file/x"]
)
def test_nowhere(file: str) -> None:
    assert canvas_place(file) is None
    assert moodle_place(file) is None
