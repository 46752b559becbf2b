from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.readers.lecture_course import COURSE
from grader.classroom.intake.class_folder import ClassFolder, UnreadableClass
from grader.classroom.intake.class_reader import read_class
from grader.classroom.intake.gradescope_export import METADATA
from grader.classroom.intake.walk import IGNORED_FOLDERS, walk
from tests.helpers.trees import by_file, handed_in, make, make_bytes


def roster(folder: Path, text: str) -> Path:
    path = folder / "roster.csv"
    path.write_text(text, encoding="utf-8")
    return path


def ids(found: ClassFolder) -> list[str]:
    return [student.id for student in found.students]


def test_everyone_of_the_roster_and_of_the_folder_is_there(tmp_path: Path) -> None:
    folder = make(tmp_path / "in", "Ada Lovelace/x.ipynb", "mallory/x.ipynb", "BOB/x.ipynb", "eve/")
    found = read_class(folder, COURSE, roster(tmp_path, "17,Ada Lovelace\nbob,Bob\n23,Carl\n"))
    assert ids(found) == ["17", "23", "bob", "eve", "mallory"]
    assert by_file(found) == {
        "Ada Lovelace/x.ipynb": "17",
        "BOB/x.ipynb": "bob",
        "mallory/x.ipynb": "mallory",
    }
    assert found.roster is not None
    assert found.notices == ("Not in the class list, but with files or a folder: eve and mallory.",)


def test_solutions_in_a_clone_of_the_course_are_not_the_students(tmp_path: Path) -> None:
    clone = [f"ada/clone/notebooks/{name}.ipynb" for name in ("01", "02", "solutions/02")]
    nested = "eve/hw1/solutions/encore/05.ipynb", "eve/hw1/05.ipynb"
    own = "bob/solutions/02.ipynb", "solutions/02.ipynb", "02.ipynb"
    found = read_class(make(tmp_path, *clone, *nested, *own), COURSE)
    assert by_file(found).keys() == {*clone[:2], nested[1], *own}
    assert f"are not graded: {clone[2]} and {nested[0]}." in found.notices[0]


def test_who_cannot_be_told_has_a_row_of_their_own(tmp_path: Path) -> None:
    folder = make(tmp_path / "in", "John Smith/x.ipynb")
    found = read_class(folder, COURSE, roster(tmp_path, "1,John Smith\n2,John Smith\n"))
    assert ids(found) == ["1", "2", "John Smith"]
    assert by_file(found) == {"John Smith/x.ipynb": "John Smith"}
    assert "Whether 'John Smith' is 1 or 2 of the class list cannot be told" in found.notices[0]
    assert not [said for said in found.notices if said.startswith("Not in the class list")]


def test_two_of_one_name_and_one_of_them_in_the_list(tmp_path: Path) -> None:
    folder = make(
        tmp_path / "in",
        "Ada Lovelace_1_assignsubmission_file/x.ipynb",
        "Ada Lovelace_2_assignsubmission_file/x.ipynb",
    )
    found = read_class(folder, COURSE, roster(tmp_path, "1,Ada Lovelace\n"))
    assert ids(found) == ["1", "1~2", "2"]  # the number 1 of Moodle is not an id of the list's
    assert set(by_file(found).values()) == {"1~2", "2"}


def test_a_canvas_download_with_a_list_made_by_hand(tmp_path: Path) -> None:
    folder = make(
        tmp_path / "in",
        "vanderbergada_700420_7_x.ipynb",
        "vanderbergbo_700427_8_x.ipynb",
        "lovelaceada_700000_9_x.ipynb",
        "obrienkwame_LATE_700280_10_x.ipynb",
    )
    text = (
        "id,name\n700420,Ada van der Berg\n700427,Bo van der Berg\n700000,Ada Lovelace\n"
        '700280,"Kwame O\'Brien"\n'
    )
    found = read_class(folder, COURSE, roster(tmp_path, text))
    assert ids(found) == ["700000", "700280", "700420", "700427"]
    assert sorted(by_file(found).values()) == ids(found)
    assert found.notices == ()


def test_a_canvas_download_with_its_gradebook(tmp_path: Path) -> None:
    folder = make(tmp_path / "in", "lovelaceada_101_7_x.ipynb", "bobbybob_LATE_102_8_x.ipynb")
    text = 'Student,ID,SIS Login ID,Section\n"Lovelace, Ada",101,ada,A\n"Bobby, Bob",102,bob,A\n'
    found = read_class(folder, COURSE, roster(tmp_path, text))
    assert [(s.id, s.name) for s in found.students] == [
        ("101", "Lovelace, Ada"),
        ("102", "Bobby, Bob"),
    ]
    assert [(item.student, item.late) for item in found.handed_in] == [
        ("101", False),
        ("102", True),
    ]
    assert found.notices == ()


NAMED_LIKE_ADA = "lovelaceada_1001_9999_2002_5678_01.ipynb"
"""User 2002's file, whose name in Canvas is lovelaceada_1001_9999."""


@pytest.mark.parametrize(
    ("text", "whose"),
    [
        ("lovelaceada_1001_9999,2002", "2002"),
        # somebody who is missing from the list may have handed it in
        ("", "1001, 9999 or 2002"),
        ('"Babbage, Charles",2002', "1001 or 9999"),
        ('"Babbage, Charles",2002\n"Noether, Emmy",9999', "1001"),
    ],
)
def test_a_reading_of_a_name_that_the_list_has_with_its_number_counts(
    tmp_path: Path, text: str, whose: str
) -> None:
    folder = make(tmp_path / "in", "lovelaceada_1001_1234_01.ipynb", NAMED_LIKE_ADA)
    text = f'Student,ID\n"Lovelace, Ada",1001\n{text}\n'
    found = read_class(folder, COURSE, roster(tmp_path, text))
    assert by_file(found)[NAMED_LIKE_ADA] == whose
    assert bool(found.notices) == (" or " in whose)


def test_whose_file_the_list_cannot_tell_is_nobodys_in_it(tmp_path: Path) -> None:
    folder = make(tmp_path / "in", "lovelaceada_1001_1234_01.ipynb", NAMED_LIKE_ADA)
    found = read_class(folder, COURSE, roster(tmp_path, "1001,\n2002,\n"))
    assert sorted(by_file(found).values()) == ["1001", "1001, 9999 or 2002"]
    assert found.notices[0].startswith("Some names of files can be read in several ways")


def test_canvas_test_student_is_no_student(tmp_path: Path) -> None:
    folder = make(tmp_path / "in", "lovelaceada_101_7_x.ipynb", "studenttest_103_8_x.ipynb")
    text = 'Student,ID,SIS Login ID,Section\n"Lovelace, Ada",101,ada,A\n"Student, Test",103,t,A\n'
    found = read_class(folder, COURSE, roster(tmp_path, text))
    assert ids(found) == ["101"]
    assert by_file(found) == {"lovelaceada_101_7_x.ipynb": "101"}
    assert found.notices == ("Left out: 1 file of Canvas's Test Student.",)
    assert found.doubt == ""


@pytest.mark.parametrize(
    ("listed", "doubtful"), [("ada\nbob\n", False), ("ada\n", True), ("x\n", True)]
)
def test_a_list_with_fewer_than_half_of_those_who_handed_in_is_doubtful(
    tmp_path: Path, listed: str, doubtful: bool
) -> None:
    folder = make(tmp_path / "in", *(f"{who}/x.ipynb" for who in ("ada", "bob", "cyd", "dan")))
    found = read_class(folder, COURSE, roster(tmp_path, listed))
    assert bool(found.doubt) is doubtful
    if doubtful:
        assert "Of 4 who handed something in" in found.doubt
        assert "read as id from column 1" in found.doubt
    assert read_class(folder, COURSE).doubt == ""


def test_the_order_is_the_students_then_the_files(tmp_path: Path) -> None:
    make(
        tmp_path, "b/2.ipynb", "b/10.ipynb", "a/z.ipynb", "a_01_atomic_backprop.ipynb", "B/1.ipynb"
    )
    found = read_class(tmp_path, COURSE)
    assert [(item.student, item.id) for item in found.handed_in] == [
        ("B", "B/1.ipynb"),
        ("a", "a/z.ipynb"),
        ("a", "a_01_atomic_backprop.ipynb"),
        ("b", "b/10.ipynb"),
        ("b", "b/2.ipynb"),
    ]
    assert read_class(tmp_path, COURSE) == found


def test_a_due_date_without_a_zone_is_that_of_the_machine(tmp_path: Path) -> None:
    make(tmp_path, "ada/hw/x.ipynb")
    (tmp_path / "ada/hw/timestamp.txt").write_text("2026-11-21 12:00:00 UTC")
    due = datetime(2026, 11, 21, 12, tzinfo=UTC)
    assert [item.late for item in read_class(tmp_path, COURSE, due=due).handed_in] == [False]
    found = read_class(tmp_path, COURSE, due=datetime(2026, 11, 1))
    assert [item.late for item in found.handed_in] == [True]
    assert any(n.startswith("The due time is 2026-11-01 00:00:00") for n in found.notices)


def test_canvas_decides_itself_what_is_late(tmp_path: Path) -> None:
    make(tmp_path, "adaada_LATE_12_34_x.ipynb", "bobbob_13_35_x.ipynb")
    due = datetime(2002, 1, 1, tzinfo=UTC)
    found = read_class(tmp_path, COURSE, due=due, file_times=True)
    assert [item.late for item in found.handed_in] == [True, False]
    assert found.notices == (
        "Late is what Canvas marks LATE, by its own due date: 1 file of 2. Its download does not "
        "say when a file was handed in: --due decides nothing, nor do the files' own times.",
    )


def test_the_files_own_times(tmp_path: Path) -> None:
    make(tmp_path, "ada/x.ipynb", "ada/y.ipynb", "bob/x.ipynb")
    os.utime(tmp_path / "ada/x.ipynb", (1e9, 1e9))
    due = datetime(2002, 1, 1, tzinfo=UTC)
    ada, _, bob = read_class(tmp_path, COURSE, due=due).handed_in
    assert (ada.modified, ada.submitted, bob.late) == (1e9, None, False)
    ada, _, bob = read_class(tmp_path, COURSE, due=due, file_times=True).handed_in
    assert (ada.submitted, ada.late, bob.late) == ("2001-09-09T01:46:40+00:00", False, True)
    assert ada.modified == datetime.fromisoformat(ada.submitted or "").timestamp()  # known by that


def test_a_platforms_time_goes_before_the_files_own(tmp_path: Path) -> None:
    make(tmp_path, "ada/hw/x.ipynb")
    (tmp_path / "ada/hw/timestamp.txt").write_text("2026-11-21 12:00:00 UTC")
    (found,) = read_class(tmp_path, COURSE, file_times=True).handed_in
    assert found.submitted == "2026-11-21T12:00:00+00:00"


def test_canvas_makes_up_the_times_of_its_files(tmp_path: Path) -> None:
    make(tmp_path, "lovelaceada_101_7_x.ipynb", "lovelaceada_101_8_y.ipynb")
    found = read_class(tmp_path, COURSE).handed_in
    assert [item.modified for item in found] == [None, None]


def test_links_are_rows_and_never_followed(tmp_path: Path) -> None:
    outside = make(tmp_path / "outside", "secret.ipynb", "folder/secret.ipynb")
    folder = make(tmp_path / "in", "ada/x.ipynb", "bob/")
    (folder / "ada/out.ipynb").symlink_to(outside / "secret.ipynb")
    (folder / "ada/broken.ipynb").symlink_to("nowhere")
    (folder / "ada/itself.ipynb").symlink_to("itself.ipynb")
    (folder / "ada/folder").symlink_to(outside / "folder")
    (folder / "ada/up").symlink_to(folder)
    (folder / "bob/linked.ipynb").symlink_to(outside / "folder")
    (folder / "carl").symlink_to(outside / "folder")
    found = read_class(folder, COURSE)
    assert by_file(found) == {
        "ada/broken.ipynb": "ada",
        "ada/itself.ipynb": "ada",
        "ada/out.ipynb": "ada",
        "ada/x.ipynb": "ada",
        "bob/linked.ipynb": "bob",
        "carl": "carl",
    }
    assert any(n.startswith("Links to folders, which are not followed: ") for n in found.notices)


def test_what_is_no_file_is_a_row_and_not_opened(tmp_path: Path) -> None:
    folder = make(tmp_path, "ada/bundle.ipynb/", "ada/full.ipynb/x.ipynb")
    os.mkfifo(folder / "ada/pipe.ipynb")
    (folder / "ada/null.ipynb").symlink_to("/dev/zero")
    os.mknod(folder / "ada/socket.ipynb", stat.S_IFSOCK | 0o600)
    assert list(handed_in(folder)) == [
        "ada/bundle.ipynb",
        "ada/full.ipynb/x.ipynb",
        "ada/null.ipynb",
        "ada/pipe.ipynb",
        "ada/socket.ipynb",
    ]


def test_names_of_any_bytes(tmp_path: Path) -> None:
    names = [
        b"caf\xe9.ipynb",
        b"caf\\xe9.ipynb",
        b"a\nb\x1b[31m.ipynb",
        b"=1+1.ipynb",
        b"x" * 249 + b".ipynb",
        b" .ipynb",
        "\u202eevil.ipynb".encode(),
    ]
    found = by_file(read_class(make_bytes(tmp_path, names), COURSE))
    assert len(found) == len(names)
    assert {"caf\\xe9.ipynb", "caf\\xe9.ipynb~2", "a\nb\x1b[31m.ipynb"} <= set(found)
    for text in (*found, *found.values()):
        text.encode()


def test_notices_cannot_steer_a_terminal(tmp_path: Path) -> None:
    make(tmp_path / "in", "\x1b[31mada/x.ipynb", "bob/\x1b[2J.pdf", "bob/y.ipynb", "carl\n/x.ipynb")
    found = read_class(tmp_path / "in", COURSE, roster(tmp_path, "x\n"))
    assert len(found.notices) == 2
    assert all(notice.isprintable() for notice in found.notices)


def test_who_handed_in_no_notebook_did_not_hand_in_nothing(tmp_path: Path) -> None:
    make(tmp_path, "ada/x.ipynb", "ada/notes.pdf", "bob/essay.pdf", "carl/", "readme.txt")
    make(tmp_path, *(f"dora/{n}.csv" for n in range(9)))
    make(tmp_path, "data/names.txt", "feedback/grades.csv")
    listed = roster(tmp_path, "ada\nbob\ncarl\ndora\n")
    found = read_class(tmp_path, COURSE, listed)
    assert by_file(found) == {
        "ada/x.ipynb": "ada",
        "bob/essay.pdf": "bob",
        **{f"dora/{n}.csv": "dora" for n in range(5)},
    }
    notice, strangers = found.notices
    assert notice.startswith("Other files, which are not notebooks and are ignored: ada/notes.pdf,")
    assert strangers.endswith("with files or a folder: data and feedback.")
    (tmp_path / "bob/x.ipynb").touch()
    assert "bob/essay.pdf" not in by_file(read_class(tmp_path, COURSE, listed))


def test_without_a_class_list_a_plain_folder_without_notebooks_is_nobodys(tmp_path: Path) -> None:
    make(tmp_path, "ada/x.ipynb", "data/names.txt", "feedback/grades.csv")
    found = read_class(tmp_path, COURSE)
    assert by_file(found) == {"ada/x.ipynb": "ada"}
    (notice,) = found.notices
    assert "data/names.txt and feedback/grades.csv" in notice


def test_two_spellings_of_one_name_are_one_student(tmp_path: Path) -> None:
    found = read_class(make(tmp_path, "Zoë/1.ipynb", "Zoe\u0308/1.ipynb", "Zoe/1.ipynb"), COURSE)
    assert ids(found) == ["Zoe", "Zoë"]
    assert len(found.handed_in) == 3
    assert any("look the same" in notice for notice in found.notices)


@pytest.mark.parametrize("listed", [True, False])
def test_who_saved_the_notebook_in_another_form_did_not_hand_in_nothing(
    tmp_path: Path, listed: bool
) -> None:
    folder = make(tmp_path / "in", "ada/x.ipynb", "bob/x.py", "carl/x.pdf", "data/names.csv")
    make(folder, *(["dora.pdf"] if listed else []))
    path = roster(tmp_path, "ada\nbob\ncarl\ndora\n") if listed else None
    assert set(by_file(read_class(folder, COURSE, path)).values()) == {
        *("ada", "bob", "carl", *["dora"] * listed)
    }


def test_folders_are_matched_word_by_word(tmp_path: Path) -> None:
    folder = make(
        tmp_path / "in",
        *("hw 1 - 4711/x.ipynb", "backprop-ada-love/x.ipynb", "bob/x.ipynb", "bob_old/x.ipynb"),
    )
    listed = "id,login\n4711,x\n4712,ada-love\n4713,love\nbob,b\n"
    found = read_class(folder, COURSE, roster(tmp_path, listed))
    assert by_file(found) == {
        "hw 1 - 4711/x.ipynb": "4711",
        "backprop-ada-love/x.ipynb": "4712",
        "bob/x.ipynb": "bob",
        "bob_old/x.ipynb": "bob_old",  # may be somebody else's, whom the list has not
    }
    assert "Whether 'bob_old' is bob of the class list cannot be told" in found.notices[0]


def test_ids_that_a_spreadsheet_has_changed_are_told(tmp_path: Path) -> None:
    folder = make(tmp_path / "in", "00123/x.ipynb", "00124/x.ipynb")
    found = read_class(folder, COURSE, roster(tmp_path, "id,name\n123,Ada\n124,Bob\n"))
    said = [*found.notices, found.doubt]
    assert "Of 2 who handed something in, 0 are in the class list" in found.doubt
    (told,) = (each for each in said if "did a spreadsheet" in each)
    assert told.startswith("'00123' may be '123' in the class list: did a spreadsheet")


def zipped(path: Path, *names: str, text: str = "{}") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, text)


def test_zip_files_of_two_assignments_are_one_students(tmp_path: Path) -> None:
    for path in ("hw1/ada", "hw1/bob", "hw2/ada", "hw1/carl"):
        zipped(tmp_path / f"{path}.zip", "me.ipynb")
    assert {*by_file(read_class(tmp_path, COURSE)).values()} == {"ada", "bob", "carl"}


def test_zip_files_are_opened(tmp_path: Path) -> None:
    zipped(tmp_path / "ada/hw.zip", "hw/01.ipynb", "hw/notes.txt", "__MACOSX/hw/._01.ipynb")
    zipped(tmp_path / "bob_01_atomic_backprop.zip", "02.ipynb")
    zipped(tmp_path / "carl/clone.ZIP", "n/01.ipynb", "n/solutions/01.ipynb")
    zipped(tmp_path / "dora/hw.zip", "notes.txt")
    found = read_class(tmp_path, COURSE)
    assert by_file(found) == {
        "ada/hw.zip/hw/01.ipynb": "ada",
        "bob_01_atomic_backprop.zip/02.ipynb": "bob",
        "carl/clone.ZIP/n/01.ipynb": "carl",
        "dora/hw.zip": "dora",
    }
    assert [item.reason for item in found.handed_in if item.reason] == [
        "dora/hw.zip is a zip file with no notebook: hand in the notebook itself."
    ]
    assert "Zip files from which no notebook is taken: dora/hw.zip." in found.notices


def test_archives_are_rows(tmp_path: Path) -> None:
    folder = make(tmp_path, "ada.zip", "bob.tar.gz", "01_atomic_backprop_carl.ipynb.zip")
    assert handed_in(folder) == {
        "ada.zip": "ada",
        "bob.tar.gz": "bob",
        "01_atomic_backprop_carl.ipynb.zip": "carl",
    }


def test_what_nobody_handed_in_on_purpose_is_counted(tmp_path: Path) -> None:
    found = read_class(
        make(
            tmp_path,
            "ada/x.ipynb",
            "ada/.ipynb_checkpoints/x-checkpoint.ipynb",
            "bob/.ipynb_checkpoints/y-checkpoint.ipynb",
            "__MACOSX/ada/._x.ipynb",
            "ada/._x.ipynb",
            "ada/~$x.ipynb",
            ".DS_Store",
            "bob/y.ipynb",
        ),
        COURSE,
    )
    assert by_file(found) == {"ada/x.ipynb": "ada", "bob/y.ipynb": "bob"}
    assert found.notices == (
        "Not handed in on purpose, and ignored: 1 × .DS_Store, 1 × ._..., "
        "2 × .ipynb_checkpoints, 1 × __MACOSX, 1 × ~$....",
    )


def test_a_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make(tmp_path, "ada/x.ipynb", "bob/x.ipynb")
    scandir = os.scandir

    def refuse(path: Path) -> object:
        if path.name == "bob":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = read_class(folder, COURSE)
    assert ids(found) == ["ada", "bob"]
    assert found.notices == (
        "Folders that cannot be listed, so that nothing in them is graded: bob. Make them readable "
        "for you, and give the same command again.",
    )


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ((), "there is no .ipynb below it, nor any other file to look at."),
        (("ada/",), "nor any other file to look at"),
        (("ada/x.py", "bob/x.pdf"), "but 2 other file"),
        ((".ipynb_checkpoints/x.ipynb",), "nor any other file to look at"),
    ],
)
def test_a_folder_without_a_submission(tmp_path: Path, names: tuple[str, ...], said: str) -> None:
    with pytest.raises(UnreadableClass, match=said):
        read_class(make(tmp_path, *names), COURSE)


def test_no_folder(tmp_path: Path) -> None:
    make(tmp_path, "x.zip")
    with pytest.raises(UnreadableClass, match=r"is a file: name the folder .* unpacked\.$"):
        read_class(tmp_path / "x.zip", COURSE)
    with pytest.raises(UnreadableClass, match="does not exist"):
        read_class(tmp_path / "nothing", COURSE)
    with pytest.raises(UnreadableClass, match="does not exist"):
        read_class(Path("a\0b"), COURSE)
    with pytest.raises(UnreadableClass):
        read_class(tmp_path, COURSE, tmp_path / "nothing.csv")


@pytest.mark.slow
def test_a_large_class_is_read_by_names_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, *(f"{number:04}_01_atomic_backprop.ipynb" for number in range(10_000)))
    asked: list[Path] = []
    stat_of = Path.stat

    def count(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        asked.append(path)
        return stat_of(path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", count)
    found = read_class(tmp_path, COURSE)
    assert len(found.students) == len(found.handed_in) == 10_000
    assert 0 < len(asked) < 10


def test_torch_is_not_imported() -> None:
    code = "import sys, grader.classroom.intake; print('torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


NAMES = st.sampled_from(
    [
        "ada",
        "Ada Lovelace",
        "submitted",
        "source",
        "hw1",
        "01_atomic_backprop",
        "01_atomic_backprop (3)",
        "ada_01_atomic_backprop",
        "lovelaceada_12345_67890_x-1",
        "lovelaceada_LATE_12345_67890_x",
        "anon_Ab3xK_678_x",
        "Ada Lovelace_123_assignsubmission_file",
        "Ada Lovelace_124_assignsubmission_file_x",
        "Participant_5_assignsubmission_onlinetext",
        "submission_1",
        "caf\udce9",
        "caf\\xe9",
        "Zoe\u0308",
        "Zoë",
        "a\nb",
        "=1+1",
        " ",
        ".hidden",
        "x (submission_1)",
        "x~2",
    ]
)
FOLDER_NAMES = NAMES | st.sampled_from([".ipynb_checkpoints", "__MACOSX", "x.ipynb", "y.zip"])
FILE_NAMES = st.builds(str.__add__, NAMES, st.sampled_from([".ipynb", ".IPYNB", ".zip", ".txt"]))
FILES = st.sampled_from(["timestamp.txt", METADATA, "onlinetext.html", "~$x.ipynb"]) | FILE_NAMES
PATHS = st.tuples(st.lists(FOLDER_NAMES, max_size=4), FILES)
METADATA_TEXT = "submission_1: {':submitters': [{':sid': ada}, {':sid': bob}]}"


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.lists(PATHS, max_size=12), st.booleans())
def test_every_notebook_is_a_row_once(paths: list[tuple[list[str], str]], listed: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name, "class")
        root.mkdir()
        for folders, file in paths:
            path = root.joinpath(*folders, file)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(METADATA_TEXT if file == METADATA else "")
            except OSError:
                continue  # a file where a folder is
        found = read_or_none(root, listed, Path(name))
        tree = walk(root)
        expected = {root.joinpath(*candidate) for candidate in tree.candidates}
        notebooks = {
            path
            for path in root.rglob("*")
            if path.name.lower().endswith(".ipynb")
            and path.is_file()
            and not path.name.startswith("~$")
            and IGNORED_FOLDERS.isdisjoint(path.relative_to(root).parts)
        }
        assert notebooks <= expected
        if found is None:  # no notebook, or none in submitted/ of a course of nbgrader's
            assert not expected or ((root / "submitted").is_dir() and (root / "source").exists())
            return
        got = [(root.joinpath(*item.parts), item.student) for item in found.handed_in]
        if any("outside submitted/" in notice for notice in found.notices):
            expected = {path for path in expected if path.relative_to(root).parts[0] == "submitted"}
        with_notebooks = {student for path, student in got if path in expected}
        instead = [(path, who) for path, who in got if who not in with_notebooks]
        others = {path for path, _ in instead}
        assert not others & expected  # they stand for the notebooks that did not come
        assert others <= {root.joinpath(*other) for other in tree.others}
        assert max(Counter(who for _, who in instead).values(), default=0) <= 5
        expected |= others
        assert {path for path, _ in got} == expected
        assert len(set(got)) == len(got)
        members = 2 if found.convention == "Gradescope export" else 1
        assert len(got) <= members * len(expected)
        assert len({item.id for item in found.handed_in}) == len(got)
        assert len(set(ids(found))) == len(found.students)
        assert {student for _, student in got} <= set(ids(found))
        assert {"17", "ada"} <= set(ids(found)) or not listed
        "".join([*ids(found), *(item.id for item in found.handed_in), *found.notices]).encode()


def read_or_none(root: Path, listed: bool, beside: Path) -> ClassFolder | None:
    try:
        return read_class(
            root, COURSE, roster(beside, "17,Ada Lovelace\nada\n") if listed else None
        )
    except UnreadableClass:
        return None
