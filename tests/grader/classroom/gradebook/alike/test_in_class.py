from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.students import course_paper
from corpus.readers.exercise_text import GRADIENTS
from grader.classroom.gradebook.alike.in_class import AlikeNotebook, alike_notebooks
from grader.classroom.gradebook.alike.page import alike_page, write_alike_csv
from grader.classroom.gradebook.make_table import build_table
from grader.classroom.gradebook.rubric import Rubric, parse_rubric
from grader.classroom.gradebook.write import write_gradebook
from grader.classroom.intake.class_folder import ClassFolder
from grader.classroom.intake.class_reader import read_class
from grader.program.course import built_in_course
from tests.helpers.lines import graded, journal

NOTEBOOK = "01_atomic_backprop"
COPIED = "".join(f"{name} = odd(mine, {number})\n" for number, name in enumerate(GRADIENTS))
OTHER_NAMES = "".join(
    f"{name} = (\n    odd( yours , {number})  # mine\n)\n" for number, name in enumerate(GRADIENTS)
)
HOSTILE = "x = '<script>alert(1)</script>\u202e'\n"


@dataclass(frozen=True, slots=True)
class Made:
    """A class on disk with made-up results."""

    folder: ClassFolder
    results: Path


def make_class(folder: Path, answers: Mapping[str, str]) -> Made:
    """A class with these answers and twenty students who wrote lines of their own."""
    texts = {f"other{n:02d}": "".join(f"t = own({n}, {i})\n" for i in range(20)) for n in range(20)}
    paper = course_paper()
    (folder / "in").mkdir()
    for student, text in {**texts, **answers}.items():
        path = folder / "in" / f"{student}.ipynb"
        path.write_text(paper.filled(f"# answer: ex1-loss\n{text}", student), encoding="utf-8")
    found = read_class(folder / "in", built_in_course())
    lines = [graded(f.id, f.student, "p" * 26, NOTEBOOK, file=f.path) for f in found.handed_in]
    return Made(found, journal(folder / "results.jsonl", lines))


def alike(made: Made) -> AlikeNotebook:
    course = built_in_course()
    table = build_table(made.folder, made.results, parse_rubric("", course))
    (notebook,) = alike_notebooks(table, made.folder, course, 9)
    return notebook


def test_a_copy_in_other_names_is_quoted_side_by_side(tmp_path: Path) -> None:
    notebook = alike(make_class(tmp_path, {"ada": COPIED, "bob": OTHER_NAMES}))
    assert notebook.writers == 22
    (group,) = notebook.groups
    assert [row.student.id for row in group.students] == ["ada", "bob"]
    (pair,) = group.pairs
    assert pair.shared > 20
    first = pair.quoted[0]
    assert (first.one, first.other, first.writers) == (
        "dlogprobs = odd(mine, 0)",
        "dlogprobs = (odd(yours , 0)  # mine)",
        2,
    )
    assert len(pair.quoted) + pair.further == len(GRADIENTS)


def test_nobody_who_wrote_alone_is_listed(tmp_path: Path) -> None:
    assert alike(make_class(tmp_path, {"ada": COPIED})).groups == ()


def test_three_who_share_are_one_group(tmp_path: Path) -> None:
    made = make_class(tmp_path, {"ada": COPIED, "bob": OTHER_NAMES, "eve": COPIED})
    (group,) = alike(made).groups
    assert [row.student.id for row in group.students] == ["ada", "bob", "eve"]
    assert len(group.pairs) == 3


def test_the_same_file_of_a_group_is_compared_once(tmp_path: Path) -> None:
    made = make_class(tmp_path, {"ada": COPIED})
    (ada,) = (file for file in made.folder.handed_in if file.student == "ada")
    both = [graded(f"{ada.path} ({who})", who, "p" * 26, NOTEBOOK, file=ada.path) for who in "xy"]
    results = journal(tmp_path / "group.jsonl", both)
    notebook = alike(Made(made.folder, results))
    assert notebook.groups == ()


def test_what_students_wrote_is_shown_as_text(tmp_path: Path) -> None:
    made = make_class(tmp_path, {"=1+1": COPIED + HOSTILE, "<b>bob": COPIED + HOSTILE})
    notebook = alike(made)
    page = alike_page([notebook], "<i>title", 9)
    assert "<script>" not in page
    assert "<b>bob" not in page
    assert "<i>title" not in page
    assert "\u202e" not in page
    assert "&lt;b&gt;bob" in page
    assert "script-src" not in page
    write_alike_csv([notebook], tmp_path / "alike.csv")
    text = (tmp_path / "alike.csv").read_text(encoding="utf-8-sig")
    rows = [*csv.DictReader(text.splitlines())]
    assert [(row["id"], row["other id"], row["group"]) for row in rows] == [
        ("<b>bob", "'=1+1", "1")
    ]


def test_the_list_is_there_only_while_it_is_asked_for(tmp_path: Path) -> None:
    made, out = make_class(tmp_path, {"ada": COPIED, "bob": COPIED}), tmp_path / "out"
    for threshold, there, words in (
        *((None, False, ""), (9.0, True, "alike.html lists"), (None, False, "alike.html are gone")),
        (None, False, ""),
    ):
        said = list[str]()
        about = made.folder, made.results, Rubric(), out
        book = write_gradebook(*about, similarity=threshold, tell=said.append)
        assert any(words in one for one in said) if words else not said
        assert ("alike.html" in book.index.read_text(encoding="utf-8")) == there
        assert (out / "report" / "alike.html").exists() == there
        assert (out / "alike.csv").exists() == there


def test_where_nobody_wrote_alike_no_list_is_named(tmp_path: Path) -> None:
    made, said = make_class(tmp_path, {"ada": COPIED, "bob": COPIED}), list[str]()
    for threshold in (9.0, 1e6):
        write_gradebook(
            made.folder,
            made.results,
            Rubric(),
            tmp_path / "o",
            similarity=threshold,
            tell=said.append,
        )
    assert said == [
        "1 pair of students: they share lines that few others wrote, which "
        "report/alike.html lists.",
        "No two students share many lines that few others wrote.",
    ]
    page = (tmp_path / "o/report/index.html").read_text(encoding="utf-8")
    assert "No two students share enough lines" in page


def test_of_a_large_group_the_page_says_how_many_pairs_it_has(tmp_path: Path) -> None:
    made = make_class(tmp_path, dict.fromkeys(["ada", "bob", "eve", "kay"], COPIED))
    page = alike_page([alike(made)], "Course", 9.0)
    assert page.count("<summary>") == 3
    assert "3 pairs of 6 are here" in page


def test_a_file_that_is_gone_is_left_out(tmp_path: Path) -> None:
    made = make_class(tmp_path, {"ada": COPIED, "bob": COPIED})
    (tmp_path / "in" / "ada.ipynb").unlink()
    notebook = alike(made)
    assert notebook.writers == 21
    assert notebook.groups == ()


def test_without_names_the_page_has_none(tmp_path: Path) -> None:
    signed = COPIED.replace("mine", "zenobia")
    made = make_class(tmp_path, {"zenobia": signed + "x = 1  # by zenobia\n", "quentin": signed})
    write_gradebook(
        made.folder, made.results, Rubric(), tmp_path / "out", similarity=9, anonymous=True
    )
    page = (tmp_path / "out/report/alike.html").read_text(encoding="utf-8")
    assert "zenobia" not in page
    assert "quentin" not in page
    assert "student-0" in page
    assert "(a line with a name in it)" in page
    assert "zenobia" in (tmp_path / "out/alike.csv").read_text(encoding="utf-8-sig")
