from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.run.line import Line
from grader.platforms.gradescope.submission import (
    Metadata,
    NothingToGrade,
    choose,
    notebooks_in,
    read_metadata,
)
from tests.helpers.lines import BATCHNORM, FUSED, as_line, graded, unreadable

DUE = "2026-11-20T23:59:00.000000-08:00"


def metadata(tmp_path: Path, **members: Any) -> Metadata:
    path = tmp_path / "submission_metadata.json"
    path.write_text(json.dumps(members))
    return read_metadata(path)


@pytest.mark.parametrize(
    ("created", "late"),
    [("2026-11-20T23:58:59-08:00", False), ("2026-11-21T07:59:01.5+00:00", True)],
)
def test_what_comes_after_the_due_date_is_late(tmp_path: Path, created: str, late: bool) -> None:
    found = metadata(tmp_path, id=123456, created_at=created, assignment={"due_date": DUE})
    assert found.late is late
    assert found.id == "123456"


def test_an_extension_is_one_students_due_date(tmp_path: Path) -> None:
    users = [{"assignment": {"due_date": "2026-11-27T23:59:00-08:00"}}, {"name": "no dates"}]
    created = {"created_at": "2026-11-25T10:00:00-08:00", "assignment": {"due_date": DUE}}
    assert metadata(tmp_path, **created).late
    assert not metadata(tmp_path, **created, users=users).late


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "7",
        '{"users": 3, "assignment": [], "id": []}',
        '{"created_at": 3}',
        "[" * 9999,
    ],
)
def test_metadata_that_says_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "submission_metadata.json"
    path.write_text(text)
    assert read_metadata(path) == Metadata()
    assert read_metadata(tmp_path / "no such file") == Metadata()


def test_notebooks_are_found_at_any_depth(tmp_path: Path) -> None:
    for name in ("a.ipynb", "sub/b.ipynb", ".ipynb_checkpoints/a.ipynb", "__MACOSX/._a.ipynb"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    assert ["/".join(parts) for parts in notebooks_in(tmp_path)] == ["a.ipynb", "sub/b.ipynb"]


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ([], "Nothing was handed in that could be graded"),
        (["answer.py", "notes.pdf"], "no notebook in what you handed in (answer.py and notes.pdf)"),
        ([f"{n}.txt" for n in range(9)], "(0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 4 more)"),
        ([f"{n}.ipynb" for n in range(11)], "There are 11 notebooks"),
    ],
)
def test_nothing_to_grade(tmp_path: Path, names: list[str], says: str) -> None:
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(NothingToGrade) as caught:
        notebooks_in(tmp_path)
    assert says in str(caught.value)


def test_no_folder_at_all(tmp_path: Path) -> None:
    with pytest.raises(NothingToGrade, match="Nothing was handed in"):
        notebooks_in(tmp_path / "submission")


def fused(name: str, outcomes: str = "pp", sha256: str = "1") -> Line:
    return as_line(graded(name, "", outcomes, FUSED, sha256=sha256))


def test_the_notebook_that_was_asked_for_is_graded() -> None:
    other = as_line(graded("03.ipynb", "", "pppppp", BATCHNORM))
    broken = as_line(unreadable("x.ipynb", ""))
    line, notes = choose([other, fused("mine.ipynb"), broken], FUSED)
    assert (line.file.path, notes) == ("mine.ipynb", [])


def test_copies_of_one_notebook_are_one() -> None:
    line, notes = choose([fused("a.ipynb"), fused("copy/a.ipynb")], FUSED)
    assert line.file.path == "copy/a.ipynb"
    assert notes == []


def test_of_several_the_one_with_the_courses_name_counts() -> None:
    lines = [fused("draft.ipynb", "ff", "2"), fused(f"sub/{FUSED}.ipynb")]
    line, notes = choose(lines, FUSED)
    assert line.file.path == f"sub/{FUSED}.ipynb"
    assert notes == ["Also there, and not graded: draft.ipynb."]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (
            [fused("a.ipynb"), fused("b.ipynb", "ff", "2")],
            f"a.ipynb and b.ipynb are all {FUSED}, and it is not clear which one",
        ),
        # the solutions of a clone, beside what its owner has written
        (
            [fused(f"{FUSED}.ipynb"), fused(f"solutions/{FUSED}.ipynb", "pp", "2")],
            "hand in one of them alone",
        ),
        (
            [as_line(graded("mine.ipynb", "", "pppppp", BATCHNORM))],
            f"mine.ipynb is {BATCHNORM}; the notebook to hand in here is {FUSED}.",
        ),
        (
            [as_line(unreadable("x.ipynb", "", "x.ipynb is empty."))],
            "x.ipynb is empty.",
        ),
    ],
)
def test_which_notebook_is_not_clear(lines: list[Line], says: str) -> None:
    with pytest.raises(NothingToGrade) as caught:
        choose(lines, FUSED)
    assert says in str(caught.value)
