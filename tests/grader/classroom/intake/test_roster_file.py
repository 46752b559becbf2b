from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from grader.classroom.intake.class_folder import UnreadableClass
from grader.classroom.intake.roster_file import ClassList, read_roster

CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,Homework 1 (77)
,,,,,Manual Posting
    Points Possible,,,,,26.00
"Lovelace, Ada",101,S17,ada,CS101,
"Müller, Zoë",102,S18,zoe@x.edu,"CS101
and CS102",3.5
"Student, Test",103,,teststudent,CS101,
"""
CANVAS_TWO_NAMES = """LastName,FirstName,ID,SIS Login ID,Section,Homework 1 (77)
    Points Possible,,,,,26.00
Lovelace,Ada,101,ada,CS101,
"""
MOODLE = """First name,Last name,ID number,Institution,Email address,Assignment: hw (Real)
Ada,Lovelace,17,,ada@x.edu,-
Zoë,Müller,,,zoe@x.edu,-
"""
WORKSHEET = """Identifier,"Full name","Email address",Status,Grade,"Maximum Grade"
"Participant 901","Ada Lovelace",ada@x.edu,"Submitted for grading",,26.00
"Participant 902","Zoë Müller",zoe@x.edu,"No submission",,26.00
"""
GERMAN = """Vorname;Nachname;ID-Nummer;E-Mail-Adresse
Ada;Lovelace;17;ada@x.edu
Zoë;Müller;18;zoe@x.edu
"""
NBGRADER = """id,first_name,last_name,email,lms_user_id
ada,Ada,Lovelace,ada@x.edu,101
zoe,Zoë,Müller,,
"""
GRADESCOPE = """Name,SID,Email,Role
Ada Lovelace,17,ada@x.edu,Student
Zoë Müller,,zoe@x.edu,Student
"""
ADA, ZOE = "Ada Lovelace", "Zoë Müller"


def read(folder: Path, text: str | bytes) -> ClassList:
    path = folder / "roster.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_roster(path)


def people(classes: ClassList) -> list[tuple[str, str, str]]:
    return [(student.id, student.name, student.email) for student in classes.students]


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        (
            CANVAS,
            "canvas",
            [
                ("101", "Lovelace, Ada", ""),
                ("102", "Müller, Zoë", ""),
                ("103", "Student, Test", ""),
            ],
        ),
        (CANVAS_TWO_NAMES, "canvas", [("101", ADA, "")]),
        (MOODLE, "moodle", [("17", ADA, "ada@x.edu"), ("zoe@x.edu", ZOE, "zoe@x.edu")]),
        (
            WORKSHEET,
            "moodle",
            [("Participant 901", ADA, "ada@x.edu"), ("Participant 902", ZOE, "zoe@x.edu")],
        ),
        (GERMAN, "moodle", [("17", ADA, "ada@x.edu"), ("18", ZOE, "zoe@x.edu")]),
        (NBGRADER, "nbgrader", [("ada", ADA, "ada@x.edu"), ("zoe", ZOE, "")]),
        (GRADESCOPE, "gradescope", [("17", ADA, "ada@x.edu"), ("zoe@x.edu", ZOE, "zoe@x.edu")]),
        ("ada\nzoe\n", "plain", [("ada", "", ""), ("zoe", "", "")]),
        ("17\n\n  \n18", "plain", [("17", "", ""), ("18", "", "")]),
        ("ada@x.edu\n", "plain", [("ada@x.edu", "", "ada@x.edu")]),
        (f"17,{ADA}\n18,{ZOE}\n", "plain", [("17", ADA, ""), ("18", ZOE, "")]),
        (
            f"ada;{ADA};ada@x.edu\nzoe;{ZOE}\n",
            "plain",
            [("ada", ADA, "ada@x.edu"), ("zoe", ZOE, "")],
        ),
        ('ada,"Lovelace, Ada",ada@x.edu', "plain", [("ada", "Lovelace, Ada", "ada@x.edu")]),
        ("id\nada\n", "plain", [("ada", "", "")]),
        (f"Name;Email\n{ADA};ada@x.edu\n", "plain", [("ada@x.edu", ADA, "ada@x.edu")]),
        ("id,name\n=1+1,=cmd()\n", "plain", [("=1+1", "=cmd()", "")]),
        ("sep=;\r\nid;name\r\nada;Ada\r\n", "plain", [("ada", "Ada", "")]),
    ],
)
def test_each_systems_list(
    tmp_path: Path, text: str, kind: str, expected: list[tuple[str, str, str]]
) -> None:
    classes = read(tmp_path, text)
    assert (classes.roster.kind, people(classes)) == (kind, expected)
    assert classes.notices == ()


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"]
)
def test_each_way_to_write_it(tmp_path: Path, delimiter: str, newline: str, encoding: str) -> None:
    written = io.StringIO()
    csv.writer(written, delimiter=delimiter, lineterminator=newline).writerows(
        csv.reader(io.StringIO(NBGRADER))
    )
    classes = read(tmp_path, written.getvalue().encode(encoding))
    assert people(classes) == [("ada", ADA, "ada@x.edu"), ("zoe", ZOE, "")]
    roster = classes.roster
    assert (roster.form.delimiter, roster.form.newline) == (delimiter, newline)
    assert roster.form.encoding == encoding
    assert bool(classes.notices) == (encoding == "cp1252")


@pytest.mark.parametrize(
    "text",
    [
        CANVAS,
        CANVAS_TWO_NAMES,
        MOODLE,
        GERMAN,
        NBGRADER,
        GRADESCOPE,
        "ada\nzoe\n",
        "sep=;\nid;name\nada;A\n",
    ],
)
def test_the_same_file_can_be_written_again(tmp_path: Path, text: str) -> None:
    roster = read(tmp_path, text).roster
    form = roster.form
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter=form.delimiter, lineterminator=form.newline)
    if form.sep:
        written.write(form.sep + form.newline)
    writer.writerows([roster.header] * bool(roster.header))
    writer.writerows([*roster.above, *(row.cells for row in roster.rows)])
    assert written.getvalue() == text


def test_the_row_of_each_student(tmp_path: Path) -> None:
    classes = read(tmp_path, CANVAS)
    # Canvas's Test Student is known, so that it can be left out, and has no row of grades.
    assert [row.student for row in classes.roster.rows] == ["101", "102", ""]
    assert classes.tester == "103"
    assert classes.roster.above[1][0] == "    Points Possible"
    assert "CS101\nand CS102" in classes.roster.rows[1].cells


def test_an_id_twice(tmp_path: Path) -> None:
    classes = read(tmp_path, "id,name\n7,Ada\n7,Ada\n7,Bob\n7,Carl\n8,Dora\n,\n,Emmy\n")
    assert people(classes) == [
        ("7", "Ada", ""),
        ("7~2", "Bob", ""),
        ("7~2~2", "Carl", ""),
        ("8", "Dora", ""),
        ("Emmy", "Emmy", ""),
    ]
    rows = [row.student for row in classes.roster.rows]
    assert rows == ["7", "7", "7~2", "7~2~2", "8", "", "Emmy"]
    assert len(classes.notices) == 1
    assert "more than one line has the id 7: lines with another name" in classes.notices[0]


def test_an_id_twice_that_nothing_tells_apart(tmp_path: Path) -> None:
    classes = read(tmp_path, "id,room\nAda,1\nAda,2\nBob,1\n")
    assert people(classes) == [("Ada", "", ""), ("Bob", "", "")]
    assert classes.notices == (
        "In the class list more than one line has the id Ada: no name or address tells these lines "
        "apart, and each such id is one student.",
    )


def test_a_line_that_names_nobody(tmp_path: Path) -> None:
    classes = read(tmp_path, "id,name,room\n7,Ada,1\n,,2\n")
    assert people(classes) == [("7", "Ada", "")]
    assert classes.notices == ("1 line of the class list with neither an id nor a name.",)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"\n , \n", "is empty"),
        (b"id,name\n", "names no student"),
        (b"PK\x03\x04...", "is a spreadsheet"),
        (b"\xd0\xcf\x11\xe0...", "is a spreadsheet"),
        (b"\xff\xfea", "breaks off"),
        (b"<html><table><tr><td>ada", "not a table of text .* begins with '<html>"),
        (b"%PDF-1.7", "not a table of text"),
        (b'{"students": []}', "not a table of text"),
        (b"ada\0\0\0\x01", "not a table of text"),
        (b'"' + b"x" * 200_000, "is not a table of text"),
    ],
)
def test_no_class_list(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(UnreadableClass, match=said):
        read(tmp_path, data)


UNKNOWN = f"a,b,c\nada,{ADA},ada@x.edu\nzoe,{ZOE},zoe@x.edu\n"


@pytest.mark.parametrize(
    "text",
    [
        UNKNOWN,
        f"user,who\nada,{ADA}\nzoe,{ZOE}\n",
        "Kürzel;Wer\nada;A\nbob;B\n",
        f"ada,{ADA}\nzoe,{ZOE}\n",  # as good as the line before: nobody can tell them apart
        "Kennung\n7001\n7002\n7003\n",
        f"0,1\n701,{ADA}\n702,{ZOE}\n703,Bob\n",  # as pandas numbers columns
        f"Column1,Column2\nada,{ADA}\nzoe,{ZOE}\nbob,Bob\n",
    ],
)
def test_columns_that_cannot_be_understood_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UnreadableClass) as refused:
        read(tmp_path, text)
    said = str(refused.value)
    first = text.splitlines()[0].replace(";", ",").split(",")[0]
    assert f"begins with '{first}'" in said
    assert "'id', 'login', 'email' or 'name'" in said
    assert f"--roster-columns id={first}" in said


@pytest.mark.parametrize(
    ("text", "wanted", "expected"),
    [
        (UNKNOWN, {"id": "a", "name": "b"}, [("ada", ADA, ""), ("zoe", ZOE, "")]),
        (UNKNOWN, {"id": "3", "name": "B"}, [("ada@x.edu", ADA, "ada@x.edu")]),
        (f"ada,{ADA}\nzoe,{ZOE}\n", {"id": "1", "name": "2"}, [("ada", ADA, "")]),
        (f"ada,{ADA}\nzoe,{ZOE}\n", {"name": "1", "id": "2"}, [(ADA, "ada", "")]),
        ("No,Name,Login\n1,Ada,al\n", {"id": "No"}, [("1", "Ada", "")]),
        ("ID,Name\nAda,17\n", {"id": "Name", "name": "ID"}, [("17", "Ada", "")]),
    ],
)
def test_columns_can_be_named_or_numbered(
    tmp_path: Path, text: str, wanted: dict[str, str], expected: list[tuple[str, str, str]]
) -> None:
    (tmp_path / "roster.csv").write_text(text, encoding="utf-8")
    classes = read_roster(tmp_path / "roster.csv", wanted)
    assert people(classes)[: len(expected)] == expected


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"id": "d"}, "--roster-columns id=d: in .* no column is called that"),
        ({"id": "4"}, "from 1 to 3"),
        ({"name": "b"}, "more than one column is called that"),
    ],
)
def test_a_column_that_is_not_there(tmp_path: Path, wanted: dict[str, str], said: str) -> None:
    (tmp_path / "roster.csv").write_text("a,b,b\n7,8,9\n", encoding="utf-8")
    with pytest.raises(UnreadableClass, match=said):
        read_roster(tmp_path / "roster.csv", wanted)


def test_a_header_above_numbered_columns_is_told(tmp_path: Path) -> None:
    text = "Kennung,Wer\n701,Ada\n702,Bob\n703,Zoe\n"
    (tmp_path / "roster.csv").write_text(text)
    wanted = {"id": "1", "name": "2"}
    (said,) = read_roster(tmp_path / "roster.csv", wanted).notices
    assert "('Kennung' and 'Wer') is read as a student" in said
    (tmp_path / "roster.csv").write_text(text.partition("\n")[2])
    assert read_roster(tmp_path / "roster.csv", wanted).notices == ()
    (tmp_path / "roster.csv").write_text("Backprop 2027,\nid,name\nada,Ada\n")
    with pytest.raises(UnreadableClass, match=r"has its header in line 2 "):
        read_roster(tmp_path / "roster.csv", wanted)


def test_a_header_below_a_title_is_not_taken_for_a_student(tmp_path: Path) -> None:
    with pytest.raises(UnreadableClass, match=r"header in line 3 \('id' and 'name'\)"):
        read(tmp_path, f"Machine learning 2026\n\nid,name\nada,{ADA}\n")


def test_how_the_columns_were_read_is_said(tmp_path: Path) -> None:
    said = "The class list was read as id from 'ID', email from 'E-Mail' and name from 'Name'."
    assert read(tmp_path, "ID;E-Mail;Room;Name\n7;a@x.edu;1;Ada\n").columns == said
    assert "id from column 1" in read(tmp_path, "7,Ada\n").columns


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableClass, match=r"does not exist: name the CSV file\.$"):
        read_roster(tmp_path / "nothing.csv")
    with pytest.raises(UnreadableClass, match="is a folder"):
        read_roster(tmp_path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('id,name\nada,Ada\njun,"Jun Tanaka\nlena,Lena Fischer\n', 3),
        ('id,name\njun,"Jun Tanaka\nlena,"Lena Fischer"\nzoe,Zoe\n', 2),
        ('sep=,\nid,name\r\njun,"Jun Tanaka\r\nlena,Lena Fischer', 3),
        ('id,name\nada,Ada\njun,"Jun Tanaka', 3),
        ('id,name\nada,Ada\njun,"Jun Tanaka\n', 3),
        ('id,name\njun,"Jun\nlena,"Lena "the first" L."\n', 2),
    ],
)
def test_a_quotation_mark_that_swallows_students_is_refused(
    tmp_path: Path, text: str, line: int
) -> None:
    path = tmp_path / "class.csv"
    path.write_text(text, newline="")
    with pytest.raises(UnreadableClass, match=rf"^Line {line} of .*class.csv opens a quotation"):
        read_roster(path)


def test_a_quotation_mark_inside_of_a_cell_is_a_character(tmp_path: Path) -> None:
    path = tmp_path / "class.csv"
    path.write_text('id,name\nada,Ada "the first" L.\nbob,5" Bob\nzoe,"Z ""o"" e\nX"\n')
    assert [one.id for one in read_roster(path).students] == ["ada", "bob", "zoe"]


@pytest.mark.parametrize(
    "last", ['ada,5" disk,"two\nlines"\n', 'ada,"Ada" L.,A', 'ada,Ada,"A"', 'ada,Ada,"A"\r\n\r\n']
)
def test_quotation_marks_that_are_closed_are_taken(tmp_path: Path, last: str) -> None:
    path = tmp_path / "class.csv"
    path.write_text(f"id,name,section\n{last}", newline="")
    assert [one.id for one in read_roster(path).students] == ["ada"]


@pytest.mark.parametrize("damaged", ["2.0231E+11", "2,02E+11", "4711.0"])
def test_ids_that_a_spreadsheet_took_for_numbers(tmp_path: Path, damaged: str) -> None:
    classes = read(tmp_path, f'id,name\n"{damaged}",Ada\nB.E+1,Bob\n')
    (said,) = classes.notices
    assert said.startswith(
        f"A spreadsheet has taken 1 id in the class list for numbers ({damaged!r}, for one)"
    )
