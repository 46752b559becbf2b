from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from corpus.readers.lecture_course import COURSE
from grader.classroom.gradebook.book import Record
from grader.classroom.gradebook.codes import Attempts
from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.rubric import Rubric, parse_rubric
from tests.helpers.lines import Document, class_of, graded, journal

OLD, NEW = "2026-11-01T10:00:00+00:00", "2026-11-01T15:00:00+00:00"

Times = dict[str, float]


def cell_of(
    tmp_path: Path,
    lines: list[Document],
    which: Attempts = Attempts.LATEST,
    modified: Times | None = None,
    rubric: Rubric | None = None,
) -> Record:
    folder = class_of(lines)
    times = modified or {}
    files = tuple(replace(file, modified=times.get(file.id)) for file in folder.handed_in)
    path = journal(tmp_path / "results.sqlite", lines)
    book = make_book(replace(folder, handed_in=files), path, rubric or Rubric(), which)
    ((cell,),) = (row["cells"] for row in book.rows())
    found: Record = cell
    return found


def two(
    first: dict[str, Any] | None = None, second: dict[str, Any] | None = None
) -> list[Document]:
    """A right file, and a wrong one of which the name says that it is newer."""
    return [
        graded("hw.ipynb", "ada", "pp", **(first or {})),
        graded("hw (1).ipynb", "ada", "pf", **({"attempt": 1} | (second or {}))),
    ]


def stamp(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


@pytest.mark.parametrize(
    ("lines", "modified", "taken", "why"),
    [
        # The platform's time decides, whatever names and the files' own times say.
        (
            two({"submitted": NEW}, {"submitted": OLD}),
            {"hw.ipynb": 1e9, "hw (1).ipynb": 2e9},
            "hw.ipynb",
            "the latest by the time it was handed in",
        ),
        (two(), {"hw.ipynb": 2e9, "hw (1).ipynb": 1e9}, "hw.ipynb", "by the file's own time"),
        (two(), {"hw.ipynb": 1e9, "hw (1).ipynb": 2e9}, "hw (1).ipynb", "by the file's own time"),
        # A copied folder has the times of the copy, in whatever order.
        (two(), {"hw.ipynb": 2.5, "hw (1).ipynb": 1.0}, "hw (1).ipynb", "the latest by its name"),
        (two(), {"hw.ipynb": 2e9}, "hw (1).ipynb", "the latest by its name"),
        (
            two({"submitted": NEW}, {"submitted": NEW}),
            {"hw.ipynb": 2e9, "hw (1).ipynb": 1e9},
            "hw.ipynb",
            "by the file's own time",
        ),
        # As --file-times has it: what stands for the platform's time is the file's own.
        (
            two({"submitted": NEW}, {"submitted": OLD}),
            {"hw.ipynb": stamp(NEW), "hw (1).ipynb": stamp(OLD)},
            "hw.ipynb",
            "the latest by the file's own time",
        ),
        (
            two({"submitted": NEW}, {"submitted": NEW}),
            {"hw.ipynb": stamp(NEW), "hw (1).ipynb": stamp(NEW)},
            "hw (1).ipynb",
            "the latest by its name",
        ),
    ],
)
def test_the_latest_by_what_tells(
    tmp_path: Path, lines: list[Document], modified: Times, taken: str, why: str
) -> None:
    for order in (lines, lines[::-1]):
        cell = cell_of(tmp_path, order, modified=modified)
        assert cell["counts"]
        assert cell["counts"]["id"] == taken
        assert cell["why"].endswith(why)
        files = [cell["counts"], *cell["superseded"]]
        assert {file["id"]: float(file["earns"]) for file in files} == {
            "hw.ipynb": 2,
            "hw (1).ipynb": 1,
        }


@pytest.mark.parametrize(
    ("which", "outcomes", "taken", "why"),
    [
        (Attempts.LATEST, ("ff", "pp", "pf"), "c", "the latest by its name"),
        (Attempts.FIRST, ("ff", "pp", "pf"), "a", "the first by its name"),
        (Attempts.BEST, ("ff", "pp", "pf"), "b", "the one with the most points"),
        (Attempts.BEST, ("pp", "pp", "pf"), "b", "the latest (by its name) of several that share"),
    ],
)
def test_latest_best_or_first(
    tmp_path: Path, which: Attempts, outcomes: tuple[str, ...], taken: str, why: str
) -> None:
    lines = [graded(id_, "ada", letters) for id_, letters in zip("abc", outcomes, strict=True)]
    cell = cell_of(tmp_path, lines, which)
    assert cell["counts"]
    assert cell["counts"]["id"] == taken
    assert cell["why"].startswith(why)
    assert {file["id"] for file in cell["superseded"]} == {*"abc"} - {taken}
    assert cell["points"] == cell["counts"]["earns"]


def test_the_best_minds_what_a_late_one_keeps(tmp_path: Path) -> None:
    lines = [graded("a", "ada", "pf"), graded("b", "ada", "pp", late=True)]
    rubric = parse_rubric("late = 0.25", COURSE)
    assert cell_of(tmp_path, lines, Attempts.BEST, rubric=rubric)["points"] == 1
    assert cell_of(tmp_path, lines, Attempts.LATEST, rubric=rubric)["points"] == 0.5


def test_a_single_file_needs_no_reason(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, [graded("a", "ada", "pf")])
    assert cell["superseded"] == []


@pytest.mark.parametrize(
    "text",
    [
        "default = 0.333333333\nlate = 0.7\nround = 0.000001",
        "default = 9999.999999999\ncarried = 0.1\nlate = 0.999999999\nround = 0.07",
        "carried = 0.5\nlate = { per_day = 0.3, most = 2 }\nround = 2.5",
    ],
)
def test_points_are_what_the_rubric_says_to_the_last_digit(tmp_path: Path, text: str) -> None:
    rubric = parse_rubric(text, COURSE)
    worth = rubric.worth("ex2", "dz")
    exact = rubric.total(worth * (1 + rubric.carried), rubric.kept(None, None))
    cell = cell_of(tmp_path, [graded("a", "ada", "pc", late=True)], rubric=rubric)
    assert (cell["points"], cell["max_points"]) == (exact, rubric.total(2 * worth))
