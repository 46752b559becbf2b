from __future__ import annotations

from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE
from grader.classroom.intake.class_reader import read_class
from grader.classroom.intake.plain_layouts import FLAT, FOLDERS
from grader.classroom.intake.platform_layouts import CANVAS, MOODLE
from tests.helpers.trees import by_file, make


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
def test_what_a_name_says_in_a_download_of_canvas(
    tmp_path: Path, file: str, student: str, name: str, late: bool, attempt: int
) -> None:
    found = read_class(make(tmp_path, file), COURSE)
    assert found.convention == CANVAS
    assert [(s.id, s.name) for s in found.students] == [(student, name)]
    [item] = found.handed_in
    assert (item.id, item.student, item.late, item.attempt) == (file, student, late, attempt)
    assert item.submitted is None


@pytest.mark.parametrize(
    ("file", "like"),
    [
        ("lovelaceada_1001_1234_01.ipynb", "lovelaceada_1001_9999_2002_5678_01.ipynb"),
        ("lovelaceada_1001_1234_01.ipynb", "lovelaceada_1001_2002_5678_01.ipynb"),
        ("lovelaceada_1001_1234_01.ipynb", "x_1001_9999_LATE_2002_5678_01.ipynb"),
        (
            "Ada_1001_assignsubmission_file/01.ipynb",
            "Ada_1001_assignsubmission_file_2002_assignsubmission_file/01.ipynb",
        ),
    ],
)
def test_files_of_two_users_are_not_one_students(tmp_path: Path, file: str, like: str) -> None:
    others = [f"babbage_{number}_111{number}_x.ipynb" for number in range(2, 6)]
    found = read_class(make(tmp_path, file, like, *others * (file[0] == "l")), COURSE)
    whose = by_file(found)
    assert whose[file] == "1001"
    assert whose[like] in ("1001 or 2002", "1001, 9999 or 2002")
    assert [item.path for item in found.handed_in if item.late] == [like] * ("LATE" in like)
    assert [notice for notice in found.notices if f"{whose[like]}. A class list" in notice]


def test_numbers_with_which_files_are_called_are_no_users(tmp_path: Path) -> None:
    names = (
        "ada_1001_81234_x.ipynb",
        "ada_1001_81235_1_softmax.ipynb",
        "ada_1001_81236_2026_11.ipynb",
    )
    found = read_class(make(tmp_path, *names), COURSE)
    assert set(by_file(found).values()) == {"1001"}


def test_who_typed_a_text_handed_in_that_in_a_download_of_canvas(
    tmp_path: Path,
) -> None:
    found = read_class(
        make(
            tmp_path, "lovelaceada_1_2_x.ipynb", "babbagecharles_LATE_3_text.html", "a_5_link.html"
        ),
        COURSE,
    )
    assert [student.id for student in found.students] == ["1", "3", "5"]
    assert [(item.student, item.late) for item in found.handed_in] == [
        *(("1", False), ("3", True), ("5", False))
    ]


def test_who_handed_in_no_notebook_in_a_download_of_canvas(tmp_path: Path) -> None:
    names = "lovelaceada_1_2_x.ipynb", "lovelaceada_1_3_y.pdf", "babbage_LATE_3_4_essay.pdf"
    found = read_class(make(tmp_path, *names), COURSE)
    assert by_file(found) == {names[0]: "1", names[2]: "3"}
    assert [item.late for item in found.handed_in] == [False, True]


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
    assert read_class(make(tmp_path, *files), COURSE).convention == FLAT


def test_a_students_own_names_do_not_change_the_convention_in_a_download_of_canvas(
    tmp_path: Path,
) -> None:
    traps = [f"mallory/lovelaceada_{number}_7_x.ipynb" for number in range(1, 50)]
    found = read_class(make(tmp_path, "ada/x.ipynb", "bob/x.ipynb", *traps), COURSE)
    assert found.convention == FOLDERS
    assert {item.student for item in found.handed_in} == {"ada", "bob", "mallory"}


@pytest.mark.parametrize(
    ("file", "student", "name"),
    [
        ("Ada Lovelace_123_assignsubmission_file/x.ipynb", "123", "Ada Lovelace"),
        ("Ada Lovelace_123_assignsubmission_file_/sub/x.ipynb", "123", "Ada Lovelace"),
        ("Ada Lovelace_123_assignsubmission_file_x.ipynb", "123", "Ada Lovelace"),
        ("Zoë O'Brien-Smith_7_assignsubmission_file/x.ipynb", "7", "Zoë O'Brien-Smith"),
        ("Participant_123_assignsubmission_file/x.ipynb", "123", ""),
        ("Team A_12_assignsubmission_file/x.ipynb", "12", "Team A"),
        ("Default group_assignsubmission_file/x.ipynb", "Default group", "Default group"),
        ("CS101-hw-42/Ada Lovelace_123_assignsubmission_file/x.ipynb", "123", "Ada Lovelace"),
        # what the student wrote inside cannot name somebody else
        (
            "Mallory_9_assignsubmission_file/Ada_1_assignsubmission_file/x.ipynb",
            "9",
            "Mallory",
        ),
        ("Mallory_9_assignsubmission_file_Ada_1_assignsubmission_file_x.ipynb", "9", "Mallory"),
    ],
)
def test_what_a_name_says_in_a_download_of_moodle(
    tmp_path: Path, file: str, student: str, name: str
) -> None:
    found = read_class(make(tmp_path, file), COURSE)
    assert found.convention == MOODLE
    assert [(s.id, s.name) for s in found.students] == [(student, name)]
    assert by_file(found) == {file: student}
    assert [item.late for item in found.handed_in] == [False]


def test_who_typed_a_text_handed_in_that_in_a_download_of_moodle(
    tmp_path: Path,
) -> None:
    found = read_class(
        make(
            tmp_path,
            "Ada Lovelace_1_assignsubmission_file/x.ipynb",
            "Ada Lovelace_1_assignsubmission_onlinetext/onlinetext.html",
            "Charles Babbage_2_assignsubmission_onlinetext/onlinetext.html",
        ),
        COURSE,
    )
    assert [(s.id, s.name) for s in found.students] == [
        ("1", "Ada Lovelace"),
        ("2", "Charles Babbage"),
    ]
    assert [item.student for item in found.handed_in] == ["1", "2"]


def test_blind_marking_in_any_language(tmp_path: Path) -> None:
    files = [f"Osallistuja_{n}_assignsubmission_file/x.ipynb" for n in (3, 4)]
    found = read_class(make(tmp_path, *files), COURSE)
    assert [(s.id, s.name) for s in found.students] == [("3", ""), ("4", "")]


def test_in_several_downloads_a_student_has_several_numbers(tmp_path: Path) -> None:
    found = read_class(
        make(
            tmp_path,
            "hw1/Ada Lovelace_1_assignsubmission_file/01.ipynb",
            "hw2/Ada Lovelace_77_assignsubmission_file/02.ipynb",
            "hw1/John Smith_2_assignsubmission_file/01.ipynb",
            "hw1/John Smith_3_assignsubmission_file/01.ipynb",
            "hw2/John Smith_78_assignsubmission_file/02.ipynb",
        ),
        COURSE,
    )
    assert sorted(by_file(found).values()) == [
        "Ada Lovelace",
        "Ada Lovelace",
        "John Smith 2",
        "John Smith 3",
        "John Smith 78",
    ]
    assert any("'John Smith'" in notice and "row of its own" in notice for notice in found.notices)


def test_several_downloads_with_blind_marking_are_spoken_of(tmp_path: Path) -> None:
    files = [
        f"hw{hw}/Participant_{hw}{n}_assignsubmission_file/x.ipynb" for hw in (1, 2) for n in (1, 2)
    ]
    found = read_class(make(tmp_path, *files), COURSE)
    assert len(found.students) == 4
    assert any("blind marking" in notice for notice in found.notices)


def test_a_students_own_names_do_not_change_the_convention_in_a_download_of_moodle(
    tmp_path: Path,
) -> None:
    trap = "mallory/Ada_1_assignsubmission_file/x.ipynb"
    found = read_class(make(tmp_path, "ada/x.ipynb", "bob/x.ipynb", trap), COURSE)
    assert (found.convention, by_file(found)[trap]) == (FOLDERS, "mallory")


@pytest.mark.parametrize(
    ("files", "layout", "whose", "times"),
    [
        (
            (
                "12-77 - Ada Lovelace - Nov 20, 2026 1159 PM/x.ipynb",
                "13-77 - Bob Lee - 21 November, 2026 905 AM/x.ipynb",
                "14-77 - Bob Lee - Nov 21, 2026 905 AM/x.ipynb",
            ),
            "Brightspace download",
            ["Ada Lovelace", "Bob Lee 13-77", "Bob Lee 14-77"],
            ["2026-11-20T23:59:00", "2026-11-21T09:05:00", "2026-11-21T09:05:00"],
        ),
        (
            (
                "HW 1_s_ada_attempt_2026-11-20-18-00-00_x.ipynb",
                "HW 1_s_ada_attempt_2026-11-20-18-00-00.txt",
                "HW 1_s_bob_attempt_2026-11-21-09-05-00_x_attempt_2026-11-21-09-05-00_y.ipynb",
                "HW 1_ada_attempt_2026-11-20-18-00-00_x.ipynb",
            ),
            "Blackboard download",
            ["ada", "s_ada", "s_bob"],
            ["2026-11-20T18:00:00", "2026-11-20T18:00:00", "2026-11-21T09:05:00"],
        ),
        (
            (
                "HW 1/Lovelace, Ada(ada01)/Submission attachment(s)/x.ipynb",
                "HW 1/Lee (Li), Bob(bob)/Submission attachment(s)/x(ada01).ipynb",
            ),
            "Sakai download",
            ["ada01", "bob"],
            [None, None],
        ),
        (
            (
                "Abgaben/Lovelace_Ada_alove_123/x.ipynb",
                "Abgaben/Lee_Bob_b_lee_124/x.ipynb",
                "Abgaben/Lee_Bob_b_lee_125/x.ipynb",
            ),
            "ILIAS download",
            ["Lee_Bob_b_lee 124", "Lee_Bob_b_lee 125", "Lovelace_Ada_alove"],
            [None] * 3,
        ),
    ],
)
def test_what_other_platforms_names_say(
    tmp_path: Path, files: tuple[str, ...], layout: str, whose: list[str], times: list[str | None]
) -> None:
    found = read_class(make(tmp_path, *files), COURSE)
    assert found.convention == layout
    assert [item.student for item in found.handed_in] == whose
    assert [item.submitted and item.submitted[:19] for item in found.handed_in] == times


@pytest.mark.parametrize(
    ("file", "listed"),
    [
        ("12-77 - Ada Lovelace - Nov 20, 2026 1159 PM/x.ipynb", "id,name\n17,Ada Lovelace\n"),
        ("HW_s_ada_attempt_2026-11-20-18-00-00_x.ipynb", "id,login\n17,s_ada\n"),
        ("HW/Lovelace, Ada(ada01)/Submission attachment(s)/x.ipynb", "id,login\n17,ada01\n"),
        ("Lovelace_Ada_alove_123/x.ipynb", "id,login\n17,alove\n"),
        ("Lovelace_Ada_alove_123/x.ipynb", "id,name\n17,Ada Lovelace\n"),
    ],
)
def test_other_platforms_students_are_found_in_a_list(
    tmp_path: Path, file: str, listed: str
) -> None:
    (tmp_path / "class.csv").write_text(listed)
    found = read_class(make(tmp_path / "in", file), COURSE, tmp_path / "class.csv")
    assert by_file(found) == {file: "17"}


def test_the_time_that_sakai_writes(tmp_path: Path) -> None:
    folder = make(tmp_path, "HW/Lovelace, Ada(ada01)/Submission attachment(s)/x.ipynb")
    (folder / "HW/Lovelace, Ada(ada01)/timestamp.txt").write_text("20261120180500123")
    (item,) = read_class(folder, COURSE).handed_in
    assert (item.submitted or "")[:19] == "2026-11-20T18:05:00"
