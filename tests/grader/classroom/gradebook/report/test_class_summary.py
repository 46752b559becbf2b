"""What is said of a class: mistakes gradient by gradient, wrong apart from not yet done."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.report.class_summary import (
    ClassSummary,
    distribution,
    figures,
    round_width,
)
from grader.classroom.gradebook.report.mistakes import MOST_LINES, MOST_LINKS, Mistake
from grader.classroom.gradebook.report.student_page import student_page
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.gradebook.write import lost_in
from grader.classroom.intake.class_folder import Student
from grader.reports.templates import marked
from grader.verdict import pack_map
from tests.helpers.lines import (
    BATCHNORM,
    FUSED,
    Document,
    as_line,
    class_of,
    graded,
    gradient,
    journal,
    unreadable,
)

DZ = (FUSED, "dz")


def summary_of(tmp_path: Path, lines: list[Document], *students: Student) -> ClassSummary:
    results = journal(tmp_path / "results.sqlite", lines)
    book = make_book(class_of(lines, students), results, Rubric())
    read = {line["id"]: as_line(line) for line in lines}
    summary = ClassSummary()
    for row in book.rows():
        summary.add(row, read)
    return summary


def student(number: int, **changes: Any) -> Document:
    """A student with `dz` wrong, and what the results say of it."""
    line = graded(f"{number:03}", f"s{number:03}", "pf")
    line["gradients"][1] = gradient("dz", changes.pop("letter", "f"), **changes)
    return line


def value(digest: str, map_: str = "") -> dict[str, str]:
    return {"digest": digest, "map": map_}


def sign(message: str = "`dz` has the wrong sign.") -> list[dict[str, str]]:
    return [{"kind": "sign", "message": message, "hint": "A minus?"}]


def dz(summary: ClassSummary) -> list[tuple[str, int]]:
    return [(mistake.title, mistake.students) for mistake in summary.mistakes.of(DZ)]


def test_wrong_is_not_what_is_not_yet_done(tmp_path: Path) -> None:
    letters = ["pp", "pc", "pf", "pe", "pr", "pt", "pt", "tt"]
    lines = [graded(f"{n}", f"s{n}", outcomes) for n, outcomes in enumerate(letters)]
    summary = summary_of(tmp_path, lines, Student("handed in nothing"))
    assert summary.wrong(DZ) == Fraction(3, 8)
    assert summary.todo(DZ) == Fraction(3, 8)
    assert summary.wrong((FUSED, "dlogits")) == 0
    assert summary.todo((FUSED, "dlogits")) == Fraction(1, 8)
    assert summary.most_wrong() == [DZ, (FUSED, "dlogits")]


def test_what_nobody_has_wrong_comes_last_even_if_most_have_not_begun(tmp_path: Path) -> None:
    summary = summary_of(tmp_path, [graded("a", "a", "ft"), graded("b", "b", "pt")])
    assert summary.most_wrong() == [(FUSED, "dlogits"), DZ]


def test_equal_values_of_different_code_are_one_mistake(tmp_path: Path) -> None:
    reasons = [["not-the-gradient", {"tensor": "z"}]]
    lines = [
        student(1, wrong=value("value:aaa"), code="dz = -p", reasons=reasons),
        student(2, wrong=value("value:aaa"), code="dz = 0 - p", reasons=reasons),
        student(3, wrong=value("value:bbb"), code="dz = p / 2", reasons=reasons),
        student(4, wrong=value("nan"), code="dz = p / 0"),
        student(5, wrong=value("shape:32x1"), code="dz = p.sum(1)"),
        student(6, letter="e", wrong=value("missing"), code="dz = None"),
        student(7, letter="e", wrong=value("type:list"), code="dz = []"),
    ]
    summary = summary_of(tmp_path, lines)
    assert dz(summary) == [
        ("the same wrong value", 2),
        ("no value", 1),
        ("NaN or infinite", 1),
        ("shape (32, 1)", 1),
        ("type list", 1),
        ("a wrong value", 1),
    ]
    first = summary.mistakes.of(DZ)[0]
    assert first.shown == {"": ["dz = -p", "dz = 0 - p"]}  # that it is wrong is known
    assert [who.id for who in first.named] == ["s001", "s002"]


def test_results_of_an_earlier_version_are_grouped_by_what_was_said(tmp_path: Path) -> None:
    note = "This is not the gradient of the loss with respect to z."
    lines = [student(n, note=note, code=f"dz = {n}") for n in range(3)]
    lines.append(student(3, letter="e", note="NameError: name 'q' is not defined"))
    assert dz(summary_of(tmp_path, lines)) == [
        (note, 3),
        ("NameError: name 'q' is not defined", 1),
    ]


def test_a_diagnosis_comes_before_the_value_and_explains_equal_ones(tmp_path: Path) -> None:
    rare = [{**sign()[0], "kind": "brackets"}]
    lines = [
        student(0, diagnosis=rare, wrong=value("value:aaa")),
        student(1, diagnosis=sign(), wrong=value("value:aaa")),
        student(2, diagnosis=sign(), wrong=value("value:aaa")),
        student(3, wrong=value("value:aaa")),
        student(4, wrong=value("value:bbb")),
    ]
    summary = summary_of(tmp_path, lines)
    assert [(m.key, m.students) for m in summary.mistakes.of(DZ)] == [
        ("sign", 2),
        ("brackets", 1),
        ("value:aaa", 1),
        ("value:bbb", 1),
    ]
    kinds = [summary.mistakes.kind_of_same_value(m) for m in summary.mistakes.of(DZ)]
    assert kinds == ["", "", "sign", ""]


def test_lines_are_counted_without_layout_comments_and_names(tmp_path: Path) -> None:
    codes = ["dz = a", "dz = b", "dz  =  b  # Zoe's", "dz = c", "dz = d", "dz = c", "zoe = e"]
    lines = [student(n, diagnosis=sign(), code=code) for n, code in enumerate(codes)]
    zoe = Student("s006", "Zoe")
    (mistake,) = summary_of(tmp_path, lines, zoe).mistakes.of(DZ)
    (shown,) = mistake.shown.values()
    assert shown == ["dz = b", "dz = c", "dz = a"]
    assert len(shown) == MOST_LINES
    assert mistake.students == 7


def test_a_line_stands_with_what_was_said_of_it(tmp_path: Path) -> None:
    said = {"dz = a": "`a` is wrong.", "dz = b": "`b` is wrong.", "dz = 2 * b": "`b` is wrong."}
    codes = ["dz = b", "dz = b", "dz = 2 * b", "dz = a", "dz = a", "dz = a"]
    lines = [student(n, diagnosis=sign(said[c]), code=c) for n, c in enumerate(codes)]
    (mistake,) = summary_of(tmp_path, lines).mistakes.of(DZ)
    assert mistake.shown == {"`a` is wrong.": ["dz = a"], "`b` is wrong.": ["dz = b", "dz = 2 * b"]}


def test_what_is_said_has_no_name_in_it(tmp_path: Path) -> None:
    lines = [student(n, diagnosis=sign(f"`zoe{n}` is wrong."), code=f"zoe = {n}") for n in (6, 7)]
    (mistake,) = summary_of(tmp_path, lines, Student("s006", "Zoe")).mistakes.of(DZ)
    assert mistake.shown == {"`zoe7` is wrong.": ["zoe = 7"]}


def test_links_are_few_and_students_are_all_counted(tmp_path: Path) -> None:
    lines = [student(n, diagnosis=sign()) for n in range(MOST_LINKS + 5)]
    (mistake,) = summary_of(tmp_path, lines).mistakes.of(DZ)
    assert (len(mistake.named), mistake.students) == (MOST_LINKS, MOST_LINKS + 5)


def test_the_map_is_that_of_a_student_with_nothing_else_wrong(tmp_path: Path) -> None:
    two_wrong = student(1, diagnosis=sign(), wrong=value("value:a", pack_map(["80"])))
    two_wrong["gradients"][0] = gradient("dlogits", "f")
    lines = [two_wrong, student(2, diagnosis=sign(), wrong=value("value:a", pack_map(["44"])))]

    def specimen(of: list[Document]) -> tuple[int, str]:
        found: Mistake = summary_of(tmp_path, of).mistakes.of(DZ)[0]
        assert found.specimen is not None
        assert found.specimen.wrong is not None
        return found.others, found.specimen.wrong.map

    assert specimen(lines) == (0, pack_map(["44"]))
    assert specimen(lines[:1]) == (1, pack_map(["80"]))


@pytest.mark.parametrize(("students", "title"), [(1, "a wrong value"), (2, "the same wrong value")])
def test_one_student_has_no_company(tmp_path: Path, students: int, title: str) -> None:
    lines = [student(n, wrong=value("value:a")) for n in range(students)]
    assert dz(summary_of(tmp_path, lines)) == [(title, students)]


def test_where_points_are_few_each_number_of_them_has_a_bin(tmp_path: Path) -> None:
    letters = ["ff", "pf", "pf", "pp", "pp", "pp"]
    lines = [graded(f"{n}", f"s{n}", outcomes) for n, outcomes in enumerate(letters)]
    results = journal(tmp_path / "results.sqlite", lines)
    book = make_book(class_of(lines, [Student("handed in nothing")]), results, Rubric())
    assert distribution(book) == (1, [1, 2, 3])


def test_who_handed_in_what_is_not_due_did_not_hand_in_nothing(tmp_path: Path) -> None:
    lines = [graded("a", "ada", "pp"), graded("b", "bob", "pppppp", BATCHNORM)]
    results = journal(tmp_path / "results.sqlite", lines)
    due = Rubric(notebooks=(FUSED,))
    counted = dict(figures(make_book(class_of(lines, [Student("zoe")]), results, due)))
    assert counted["handed in nothing"] == counted["handed in nothing that is due"] == "1"


def test_a_file_that_is_no_notebook_is_noted_and_not_suspicious(tmp_path: Path) -> None:
    flag = {"kind": "unreadable", "line": None, "message": "It is a document.", "cell": None}
    lines = [unreadable("essay.pdf", "bob", "It is a document.", flags=[flag])]
    found = summary_of(tmp_path, lines)
    assert found.suspicious == []
    assert [who.id for who, _ in found.noted] == ["bob"]
    assert [(who.id, said) for who, said in found.lost] == [
        ("bob", [("essay.pdf", "It is a document.")])
    ]


@pytest.mark.parametrize(
    ("code", "said", "sentence"),
    [
        (
            "in-another-cell",
            {"cell": "cell 9"},
            "2 of 2 gradients stand in cells that are not answ",
        ),
        ("mistyped", {"cell": "ex2-fused", "meant": "x"}, "ex2-fused assigns `grad`, but `x` is"),
    ],
)
def test_work_that_earned_nothing(
    tmp_path: Path, code: str, said: dict[str, str], sentence: str
) -> None:
    lost = graded("a.ipynb", "ada", "tt")
    for each in lost["gradients"]:
        each["reasons"] = [(code, {"name": "grad", **said})]
    blank, right = graded("b.ipynb", "bob", "tt"), graded("c.ipynb", "cyd", "pt")
    right["gradients"][1]["reasons"] = lost["gradients"][1]["reasons"]
    right["gradients"][1]["verdict"] = "todo"
    stopped = graded("d.ipynb", "dan", "et", FUSED)
    stopped["gradients"][0]["reasons"] = [("stopped", {"message": "It did not end."})]
    lines = [lost, blank, stopped]
    found = summary_of(tmp_path, lines)
    assert [who.id for who, _ in found.lost] == ["ada", "dan"]
    ((_, [(_, first)]), (_, [(_, second)])) = found.lost
    assert sentence in first
    assert second == "Nothing that was written could run: It did not end."
    book = make_book(
        class_of(lines, [Student("ada", "Ada L")]), tmp_path / "results.sqlite", Rubric()
    )
    assert lost_in(book) == ("Ada L", "dan")
    row = next(book.rows())
    page = student_page(row, {"a.ipynb": as_line(lost)}, Rubric())
    assert str(marked(first)) in page


def test_of_nobody_and_of_no_points_there_are_no_bins(tmp_path: Path) -> None:
    results = journal(tmp_path / "results.sqlite", [])
    book = make_book(class_of([], [Student("handed in nothing")]), results, Rubric())
    assert distribution(book)[1] == []


@pytest.mark.parametrize(
    ("most", "width"), [("1/2", 1), ("20", 1), ("20.9", 1), ("21", 2), ("47", 5), ("2000", 100)]
)
def test_bins_are_as_wide_as_a_round_number(most: str, width: int) -> None:
    assert round_width(Fraction(most), 20) == width
