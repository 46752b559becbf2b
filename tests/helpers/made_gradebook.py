"""A gradebook of a folder of submissions, without grading them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from corpus.readers.lecture_course import COURSE
from grader.classroom.gradebook.adjustments import NONE, Adjustments
from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.gradebook.write import render
from grader.classroom.intake.class_reader import read_class
from grader.classroom.run.results import RESULTS
from tests.helpers.lines import graded, journal
from tests.helpers.trees import make

RIGHT = "pp"


def gradebook_of(
    root: Path,
    *names: str,
    roster: str = "",
    outcomes: Mapping[str, str] | None = None,
    adjustments: Adjustments = NONE,
) -> Path:
    """Files of these names, handed in, and their gradebook.

    Each is notebook 2, and right but for those with other `outcomes`; `roster` is the text of a
    class list.
    """
    folder, out, path = make(root / "submitted", *names), root / "gradebook", None
    if roster:
        path = root / "roster.csv"
        path.write_text(roster, encoding="utf-8")
    found = read_class(folder, COURSE, path)
    out.mkdir()
    lines = [
        graded(
            item.id,
            item.student,
            (outcomes or {}).get(item.id, RIGHT),
            file=item.path,
            attempt=item.attempt,
        )
        for item in found.handed_in
    ]
    results = journal(out / RESULTS, lines, found.convention)
    render(make_book(found, results, Rubric(), adjustments=adjustments), out)
    return out
