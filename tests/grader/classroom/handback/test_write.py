from __future__ import annotations

import csv
import re
import zipfile
from fractions import Fraction
from pathlib import Path

import pytest

from grader.classroom.gradebook.adjustments import Change
from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.gradebook.write import render
from grader.classroom.handback.recipients import read_recipients
from grader.classroom.handback.write import Form, Given, InTheWay, NothingToHandBack, hand_back
from grader.classroom.intake.class_folder import Student
from grader.classroom.run.results import RESULTS
from tests.helpers.lines import class_of, graded, journal
from tests.helpers.made_class import make_class
from tests.helpers.made_gradebook import gradebook_of

CANVAS_ROSTER = """\
Student,ID,SIS User ID,SIS Login ID,Section
"Lovelace, Ada",123,s1,ada,1
"Müller, Zoë",124,s2,zoe,1
"Hopper, Grace",125,s3,grace,1
"""


def back(book: Path, form: Form) -> tuple[list[Given], list[str], Path]:
    people, told = read_recipients(book)
    out = book / "back"
    return hand_back(people, form, out, tell=told.append), told, out


def packed(path: Path) -> dict[str, str]:
    """The pages of a zip by their names, each with the name of the student that it shows."""
    with zipfile.ZipFile(path) as archive:
        return {name: title(archive.read(name)) for name in archive.namelist()}


def title(page: bytes) -> str:
    found = re.search("<title>(.*?)</title>", page.decode())
    assert found
    return found[1]


def whom_canvas_means(name: str) -> tuple[str, str]:
    """The user and the file handed in, as Canvas tells them when files are uploaded again."""
    parts = [part for part in Path(name).name.split("_") if part != "LATE"]
    assert not parts[-1].startswith("link")
    if parts[0] == "anon":
        return parts[1], parts[2]
    user, attachment, *_ = filter(str.isdecimal, parts)
    return user, attachment


def whom_moodle_means(name: str) -> tuple[str, str]:
    """The participant, and the name of the feedback file, as Moodle tells them from a zip."""
    assert not Path(name).name.startswith((".", "~"))
    parts = name.split("/")
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) >= 4 and info[1].isdecimal():
            assert info[2:4] == ["assignsubmission", "file"]
            return info[1], "/".join([*info[4:], *parts]).strip("/")
    raise AssertionError(name)


def test_canvas_finds_each_student_by_the_names_of_its_own_download(tmp_path: Path) -> None:
    downloaded = {
        "lovelaceada_123_678_02_fused_cross_entropy.ipynb": "Lovelace, Ada",
        "müllerzoë_LATE_124_679_my_link.ipynb": "Müller, Zoë",
    }
    book = gradebook_of(tmp_path, *downloaded, roster=CANVAS_ROSTER)
    given, told, out = back(book, Form.CANVAS)
    pages = packed(out / "feedback.zip")
    assert {whom_canvas_means(name): who for name, who in pages.items()} == {
        whom_canvas_means(name.replace("my_link", "x")): who for name, who in downloaded.items()
    }
    assert {name.rpartition("_")[0] for name in pages} == {
        "lovelaceada_123_678",
        "müllerzoë_LATE_124_679",
    }
    assert told == [
        "No page for 125 (Hopper, Grace): nothing was handed in. `--for folder` has theirs."
    ]
    assert [each.recipient.student.id for each in given] == ["123", "124"]


def test_canvas_hidden_names_and_attempts(tmp_path: Path) -> None:
    book = gradebook_of(tmp_path, "anon_Ab3xK_678_x.ipynb", "anon_Ab3xK_690_x-1.ipynb")
    _, told, out = back(book, Form.CANVAS)
    # Only a file of the newest submission is one that Canvas hangs a page on.
    assert [*map(whom_canvas_means, packed(out / "feedback.zip"))] == [("Ab3xK", "690")]
    assert told == []


@pytest.mark.parametrize(
    "form", ["_assignsubmission_file/", "_assignsubmission_file_", "_assignsubmission_file_/"]
)
def test_moodle_finds_each_student_by_the_names_of_its_own_download(
    tmp_path: Path, form: str
) -> None:
    who = {"Ada Lovelace_11": "Ada Lovelace", "Zoë O'Brien-Smith_12": "Zoë O'Brien-Smith"}
    book = gradebook_of(tmp_path, *(f"{name}{form}x.ipynb" for name in who))
    _, told, out = back(book, Form.MOODLE)
    pages = packed(out / "feedback.zip")
    assert pages == {
        f"{name}{form}feedback.html": shown.replace("'", "&#39;") for name, shown in who.items()
    }
    assert [*map(whom_moodle_means, pages)] == [("11", "feedback.html"), ("12", "feedback.html")]
    assert told == []


def test_each_download_of_moodle_is_a_zip_of_its_own(tmp_path: Path) -> None:
    book = gradebook_of(
        tmp_path,
        "hw1/Ada Lovelace_11_assignsubmission_file/x.ipynb",
        "hw2/Ada Lovelace_77_assignsubmission_file/y.ipynb",
        "hw2/Bob_78_assignsubmission_file/y.ipynb",
    )
    given, _, out = back(book, Form.MOODLE)
    zips = {path.name: packed(path) for path in out.glob("*.zip")}
    assert {
        name: [whom_moodle_means(each)[0] for each in pages] for name, pages in zips.items()
    } == {
        "feedback-hw1.zip": ["11"],
        "feedback-hw2.zip": ["77", "78"],
    }
    assert len(given) == 3


def test_a_team_gets_its_own_page_and_who_has_no_number_none(tmp_path: Path) -> None:
    book = gradebook_of(
        tmp_path,
        "Team A_12_assignsubmission_file/x.ipynb",
        "Default group_assignsubmission_file/x.ipynb",
    )
    _, told, out = back(book, Form.MOODLE)
    assert packed(out / "feedback.zip") == {
        "Team A_12_assignsubmission_file/feedback.html": "Team A"
    }
    assert "No page for Default group: no file has a name of Moodle's with a number" in told[0]


def test_a_page_that_could_reach_another_student_is_not_handed_back(tmp_path: Path) -> None:
    group = "greatgroup_123_678_x.ipynb"  # Canvas gives a group's page to each member
    book = gradebook_of(tmp_path, group, "müllerzoë_124_9_x.ipynb", roster=CANVAS_ROSTER)
    _, told, out = back(book, Form.CANVAS)
    assert [*packed(out / "feedback.zip").values()] == ["Müller, Zoë"]
    assert (
        "No page for 123 (Lovelace, Ada): the submission has another name: if it is a group's"
        in " ".join(told)
    )


def test_one_submission_of_several_students(tmp_path: Path) -> None:
    name = "Ada_1_assignsubmission_file/x.ipynb"
    lines = [graded(f"{name} ({who})", who, "pp", file=name) for who in ("ada", "bob")]
    lines += [
        graded(f"C_{number}_assignsubmission_file/x.ipynb", "carl", "pp") for number in (2, 3)
    ]
    people = [Student("ada", email="ada@x.org"), Student("bob"), Student("carl")]
    book = tmp_path / "book"
    book.mkdir()
    render(make_book(class_of(lines, people), journal(book / RESULTS, lines), Rubric()), book)
    told: list[str] = []
    found, _ = read_recipients(book)
    with pytest.raises(NothingToHandBack):
        hand_back(found, Form.MOODLE, book / "back", tell=told.append)
    assert "No page for ada and bob: one submission is several students'" in told[0]
    assert "No page for carl: files have several numbers of Moodle's" in told[1]
    assert not (book / "back").exists()
    given, _, out = back(book, Form.FOLDER)
    assert len(given) == 3
    assert title((out / "bob/feedback.html").read_bytes()) == "bob"


@pytest.mark.slow
def test_a_hostile_class_stays_in_the_folder_and_apart(tmp_path: Path) -> None:
    made = make_class(40)
    book = tmp_path / "book"
    book.mkdir()
    render(make_book(made.folder, made.write(book / RESULTS), Rubric()), book)
    before = set(tmp_path.rglob("*"))
    given, _, out = back(book, Form.FOLDER)
    assert set(tmp_path.rglob("*")) - before == {out, *out.rglob("*")}
    pages = {each.recipient.student.id: (out / each.file).read_bytes() for each in given}
    expected = {student.id for student in made.folder.students}
    assert pages.keys() == expected
    assert len({*pages.values()}) == len(expected) > 30
    for each in given:
        assert pages[each.recipient.student.id] == each.recipient.page.read_bytes()
    with (out / "handback.csv").open(encoding="utf-8-sig", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "@", "+", "\t"))]


def test_what_was_adjusted_is_said(tmp_path: Path) -> None:
    change = Change("Line 2", "ada", "02_fused_cross_entropy", points=Fraction(1), comment="Well!")
    book = gradebook_of(tmp_path, "ada/x.ipynb", "bob/x.ipynb", adjustments={"ada": (change,)})
    _, told, out = back(book, Form.FOLDER)
    assert told == ["Pages that say what you adjusted, with your comments: ada."]
    assert "Well!" in (out / "ada/feedback.html").read_text()
    assert "Well!" not in (out / "bob/feedback.html").read_text()


def test_what_was_adjusted_is_in_the_zip(tmp_path: Path) -> None:
    change = Change("Line 2", "123", "02_fused_cross_entropy", points=Fraction(1), comment="Well!")
    names = ["lovelaceada_123_4_x.ipynb", "müllerzoë_124_5_x.ipynb"]
    book = gradebook_of(tmp_path, *names, roster=CANVAS_ROSTER, adjustments={"123": (change,)})
    _, told, out = back(book, Form.CANVAS)
    assert told[-1].startswith("Pages that say what you adjusted, with your comments: 123 (")
    with zipfile.ZipFile(out / "feedback.zip") as archive:
        ada, zoe = (archive.read(name).decode() for name in sorted(archive.namelist()))
    for said in ("Your instructor changed this:", "1 point instead of 2", "“Well!”"):
        assert said in ada
        assert said not in zoe


def test_whose_page_is_not_given_is_not_said_to_read_of_it(tmp_path: Path) -> None:
    names = [
        f"{who} B_{n}_assignsubmission_file/x.ipynb" for n, who in enumerate(("Ada", "Bob"), 1)
    ]
    changes = {who: (Change("Line 2", who, excused=True),) for who in ("Ada B", "eve")}
    roster = "id,name\nAda B,Ada B\nBob B,Bob B\neve,Eve C\n"
    book = gradebook_of(tmp_path, *names, roster=roster, adjustments=changes)
    given, told, _ = back(book, Form.MOODLE)
    assert len(given) == 2
    assert told[0].startswith("No page for eve (Eve C): nothing was handed in.")
    assert told[1:] == ["Pages that say what you adjusted, with your comments: Ada B."]


def test_what_is_there_already_is_not_touched(tmp_path: Path) -> None:
    book = gradebook_of(tmp_path, "ada/x.ipynb", "bob/x.ipynb")
    people, _ = read_recipients(book)
    out = tmp_path / "back"
    hand_back(people, Form.FOLDER, out)
    with pytest.raises(InTheWay, match="give --replace to write them anew"):
        hand_back(people, Form.FOLDER, out)
    hand_back(people[:1], Form.FOLDER, out, replace=True)
    assert sorted(path.name for path in out.iterdir()) == ["ada", "handback.csv"]
    (out / "notes.txt").write_text("mine")
    with pytest.raises(InTheWay, match=r"holds something else .* \(notes.txt, for one\)"):
        hand_back(people, Form.FOLDER, out, replace=True)
    assert (out / "notes.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_the_same_gradebook_gives_the_same_zip(tmp_path: Path) -> None:
    book = gradebook_of(tmp_path, "lovelaceada_123_678_x.ipynb")
    people, _ = read_recipients(book)
    for out in ("one", "two"):
        hand_back(people, Form.CANVAS, tmp_path / out)
    assert (tmp_path / "one/feedback.zip").read_bytes() == (
        tmp_path / "two/feedback.zip"
    ).read_bytes()


def test_who_handed_in_nothing_gets_a_page_that_says_so(tmp_path: Path) -> None:
    book = gradebook_of(tmp_path, "ada/x.ipynb", roster="id,name\nada,=Ada\nzoe,Zoë\n")
    given, told, out = back(book, Form.FOLDER)
    assert told == ["Handed in nothing, as their pages say: zoe (Zoë)."]
    assert [(each.recipient.student.id, each.file) for each in given] == [
        ("ada", "ada/feedback.html"),
        ("zoe", "zoe/feedback.html"),
    ]
    with (out / "handback.csv").open(encoding="utf-8-sig", newline="") as file:
        assert list(csv.reader(file)) == [
            ["id", "name", "file", "page"],
            ["ada", "'=Ada", "ada/feedback.html", "feedback.html"],
            ["zoe", "Zoë", "zoe/feedback.html", "feedback.html"],
        ]
