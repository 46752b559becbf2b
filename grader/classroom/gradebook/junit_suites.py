"""The verdicts of a class as JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from xml.etree.ElementTree import Element

from grader.classroom.gradebook.book import Book, Record
from grader.classroom.gradebook.codes import Status
from grader.classroom.gradebook.report.student_page import Lines, lines_of
from grader.classroom.run.results import Results
from grader.reports import junit
from grader.whole_file import whole_file


def write_junit(path: Path, book: Book, results: Results) -> None:
    """Write a suite for each student."""
    with (
        whole_file(path) as file,
        TemporaryFile(dir=path.parent) as waiting,
        junit.suites_in(file, waiting) as add_suite,
    ):
        for row in book.rows():
            flags = [
                f"{kind}: {number}" for kind, number in sorted(Counter[str](row["flags"]).items())
            ]
            cases = _cases(row, lines_of(row, results))
            add_suite(junit.suite(row["student"].id or "(no id)", cases, flags))


def _cases(row: Record, lines: Lines) -> Iterator[Element]:
    """A testcase for each gradient of each file that counts, without times.

    A missing notebook is skipped, and an unreadable one is in error, so that every student has a
    testcase.
    """
    for cell in row["cells"]:
        line = lines[cell["counts"]["id"]] if cell["counts"] else None
        if line and line.report and line.report.verdicts:
            for verdict in line.report.verdicts:
                yield junit.verdict_case(line.report.notebook, verdict)
        else:
            said = cell["unreadable"][0]["error"] if cell["unreadable"] else cell["status"]
            absent = "error" if cell["status"] == Status.UNREADABLE else "skipped"
            yield junit.case(cell["notebook"], "can be graded", absent, said)
    for file in row["elsewhere"]:
        if file["error"]:
            yield junit.case(file["path"], "can be graded", "error", file["error"])
