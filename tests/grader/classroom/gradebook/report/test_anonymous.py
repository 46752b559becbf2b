"""The report without names: what is in it, and what is not."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest

from grader.classroom.gradebook.make_table import build_table
from grader.classroom.gradebook.report.anonymous import WHO, nameless, number
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.gradebook.write import write_gradebook
from grader.classroom.intake.class_folder import Student
from grader.verdict import Flag
from tests.helpers.lines import as_line, class_of, graded, gradient, journal, unreadable
from tests.helpers.made_class import make_class

ADA = Student("love0001", "Lovelace, Ada", "ada@uni.example")


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("book")
    made = make_class(60, seed=6, hostile=False)
    write_gradebook(made.folder, made.write(out / "r.jsonl"), Rubric(), out, anonymous=True)
    return out


@pytest.mark.slow
def test_no_page_has_a_name_an_id_a_time_or_a_comment(book: Path) -> None:
    made = make_class(60, seed=6, hostile=False)
    pages = [*(book / "report").rglob("*.html")]
    assert len(pages) == 62
    words = {word for p in made.folder.students for word in (p.id, p.email, *p.name.split(", "))}
    for page in pages:
        assert not re.search("|".join(map(re.escape, words)), page.name)
        said = page.read_text("utf-8").partition("</style>")[2]
        found = {word for word in words if re.search(rf"\b{re.escape(word)}\b", said)}
        assert not found, page.name
        assert "Nov 2026" not in said
        assert "#  " not in said


def test_the_tables_have_the_names_and_one_file_says_who_is_who(book: Path) -> None:
    made = make_class(60, seed=6, hostile=False)
    with (book / WHO).open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["id"] for row in rows} == {student.id for student in made.folder.students}
    assert [row["report"] for row in rows] == [f"student-{n:03}" for n in range(1, 61)]
    assert [row["id"] for row in rows] != sorted(row["id"] for row in rows)
    pages = {path.stem for path in (book / "report/students").iterdir()}
    assert pages == {row["report"] for row in rows}
    grades = (book / "grades.csv").read_text("utf-8")
    assert all(row["id"] in grades for row in rows)


def test_the_points_are_the_same(book: Path, tmp_path: Path) -> None:
    made = make_class(60, seed=6, hostile=False)
    write_gradebook(made.folder, made.write(tmp_path / "r.jsonl"), Rubric(), tmp_path)
    for name in ("grades.csv", "canvas.csv", "moodle.csv"):
        assert (tmp_path / name).read_bytes() == (book / name).read_bytes()
    with (book / WHO).open(encoding="utf-8-sig", newline="") as file:
        for row in list(csv.DictReader(file))[:10]:
            score = re.compile(r"<strong>[^<]*points</strong>")
            one, other = (
                score.findall((folder / f"report/students/{stem}.html").read_text("utf-8"))
                for folder, stem in ((book, row["report"]), (tmp_path, row["id"]))
            )
            assert one == other


def test_names_come_back_and_numbers_go(tmp_path: Path) -> None:
    lines = [graded("a", "ada", "pp"), graded("b", "bob", "pf")]
    results = journal(tmp_path / "results.jsonl", lines)

    def pages(anonymous: bool) -> list[str]:
        write_gradebook(class_of(lines), results, Rubric(), tmp_path, anonymous=anonymous)
        return sorted(path.name for path in (tmp_path / "report/students").iterdir())

    assert pages(True) == ["student-001.html", "student-002.html"]
    assert (tmp_path / WHO).exists()
    assert pages(False) == ["ada.html", "bob.html"]
    assert not (tmp_path / WHO).exists()


def test_the_order_needs_the_seed(tmp_path: Path) -> None:
    lines = [graded(f"{n}", f"s{n:02}", "pp") for n in range(30)]
    table = build_table(class_of(lines), journal(tmp_path / "r.jsonl", lines), Rubric())
    orders = [[row.student.id for row in number(table, seed).rows] for seed in (1, 2, 1)]
    assert orders[0] == orders[2] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == [row.student.id for row in table.rows]


def test_what_a_file_is_called_and_what_is_said_of_it(tmp_path: Path) -> None:
    path = "Ada Lovelace/02_fused_cross_entropy.ipynb"
    lines = [unreadable(path, "ada", f"{path} is empty. 02_fused_cross_entropy.ipynb has 0 bytes.")]
    lines.append(unreadable("x/ada notes.txt", "ada", "ada notes.txt is no notebook, banana."))
    table = build_table(class_of(lines), journal(tmp_path / "r.jsonl", lines), Rubric())
    (row,) = number(table, 1).shown
    (file,) = row.cells[0].unreadable
    assert file.path == "02_fused_cross_entropy.ipynb"
    assert file.error.count("02_fused_cross_entropy.ipynb") == 2
    assert "Ada" not in file.error
    assert [other.error for other in row.elsewhere] == ["a file is no notebook, banana."]


def test_why_a_file_could_not_be_read_is_said_without_its_path(tmp_path: Path) -> None:
    path = "lovelace_1815/01.ipynb"
    lines = [unreadable(path, "love0001", f"{path} is empty: was it saved?")]
    table = build_table(class_of(lines), journal(tmp_path / "r.jsonl", lines), Rubric())
    flag = Flag("unreadable", f"{path} is empty: was it saved?", None)
    flagged = replace(as_line(lines[0]), flags=(flag,))
    (line,) = nameless({"x": flagged}, table.rows[0].student).values()
    assert [flag.message for flag in line.flags] == ["a file is empty: was it saved?"]


def test_what_the_instructor_says_to_a_student_is_left_out(tmp_path: Path) -> None:
    lines = [graded("a", "love0001", "pp")]
    table = build_table(class_of(lines), journal(tmp_path / "r.jsonl", lines), Rubric())
    (row,) = table.rows
    cell = replace(row.cells[0], comments=("Well done, Ada.",))
    said = replace(row, cells=(cell,), comments=("Dear Ada,",))
    (shown,) = number(replace(table, rows=(said,)), 1).shown
    assert (shown.comments, shown.cells[0].comments) == ((), ())


def test_a_students_own_words(tmp_path: Path) -> None:
    sign = [{"kind": "sign", "message": "`ada_dz` has the wrong sign.", "hint": "A minus?"}]
    flag = {"kind": "numerical", "line": 1, "message": "`lovelace` looks numerical.", "cell": "c"}
    line = graded("a", "love0001", "ff", flags=[flag, {**flag, "message": "It looks numerical."}])
    line["gradients"] = [
        gradient("dlogits", "f", code="dlogits = -p  # Ada's", piece=[10, 12], note="By itself."),
        gradient("dz", "f", code="dz = ada_dz", piece=[5, 11], diagnosis=sign),
    ]
    report = nameless({"a": as_line(line)}, ADA)["a"].report
    assert report is not None
    first, second = report.verdicts
    assert (first.code, first.piece, first.note) == ("dlogits = -p", (10, 12), "By itself.")
    assert (second.code, second.piece) == ("", None)
    assert "ada" not in second.diagnosis[0].message
    assert second.diagnosis[0].hint == "A minus?"
    assert [flag.kind for flag in report.flags] == ["numerical"] * 2
    assert [flag.message for flag in report.flags][1] == "It looks numerical."
    assert "lovelace" not in report.flags[0].message


def test_a_piece_behind_a_comment_is_still_the_piece() -> None:
    line = graded("a", "love0001", "fp")
    code = "dlogits = (  # one\n    -p)"
    line["gradients"][0] = gradient("dlogits", "f", code=code, piece=[23, 25])
    assert code[23:25] == "-p"
    report = nameless({"a": as_line(line)}, replace(ADA))["a"].report
    assert report is not None
    verdict = report.verdicts[0]
    assert verdict.piece is not None
    assert verdict.code[slice(*verdict.piece)] == "-p"
    assert "one" not in verdict.code
