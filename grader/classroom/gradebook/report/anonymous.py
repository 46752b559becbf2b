"""A report without names: students are numbered, and what says who they are is left out."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePath

from grader.classroom.gradebook.grades_csv import id_cell, text_cell, write_csv
from grader.classroom.gradebook.report.own_lines import names_author, without_comments
from grader.classroom.gradebook.report.pages import page_name
from grader.classroom.gradebook.report.student_page import Lines
from grader.classroom.gradebook.table import Cell, FileResult, Row, Table
from grader.classroom.intake.class_folder import Student
from grader.classroom.run.line import Line
from grader.verdict import Verdict

WHO = "anonymous.csv"
"""The file that says who is who, beside the report."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """The class in another order: the n-th of `rows` is shown as the n-th of `shown`."""

    rows: tuple[Row, ...]
    shown: tuple[Row, ...]


def number(table: Table, seed: int) -> Numbered:
    """Number the students in an order that says nothing of their names.

    It depends on the seed of the hidden networks, which nobody but the instructor knows: with the
    class list alone, the order cannot be found. Another class list gives other numbers.
    """
    rows = sorted(table.rows, key=lambda row: _shuffled(row.student.id, seed))
    digits = max(3, len(str(len(rows))))
    shown = (_nameless_row(row, f"student-{n:0{digits}}") for n, row in enumerate(rows, 1))
    return Numbered(tuple(rows), tuple(shown))


def write_who(numbered: Numbered, path: Path) -> None:
    """Write who is who, for the instructor alone."""
    pairs = zip(numbered.rows, numbered.shown, strict=True)
    who = (
        (shown.student.id, id_cell(row.student.id), text_cell(row.student.name))
        for row, shown in pairs
    )
    write_csv(path, [("report", "id", "name"), *who])


def nameless(lines: Lines, author: Student) -> Lines:
    """A student's lines without comments, and without what holds a part of the author's name."""
    return {id_: _nameless_line(line, author) for id_, line in lines.items()}


def _shuffled(student: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed} {student}".encode("utf-8", "surrogatepass")).digest()


def _nameless_row(row: Row, pseudonym: str) -> Row:
    return replace(
        row,
        student=Student(pseudonym),
        page=page_name(pseudonym),
        comments=(),  # an instructor addresses students by name
        cells=tuple(map(_nameless_cell, row.cells)),
        elsewhere=_nameless_files(row.elsewhere),
    )


def _nameless_cell(cell: Cell) -> Cell:
    return replace(
        cell,
        comments=(),
        counts=_nameless_file(cell.counts) if cell.counts else None,
        superseded=_nameless_files(cell.superseded),
        unreadable=_nameless_files(cell.unreadable),
    )


def _nameless_files(files: Sequence[FileResult]) -> tuple[FileResult, ...]:
    return tuple(map(_nameless_file, files))


def _nameless_file(file: FileResult) -> FileResult:
    """The file under its notebook's name, without its time."""
    name = f"{file.notebook}.ipynb" if file.notebook else "a file"
    error = _called(name, file.error, file.path, file.name)
    return replace(file, path=name, submitted=None, modified=None, error=error)


def _called(name: str, text: str, *said: str) -> str:
    """The text with another name for what it says of a file."""
    for one in said:
        text = re.sub(rf"(?<!\w){re.escape(one)}(?!\w)", name, text)
    return text


def _nameless_line(line: Line, author: Student) -> Line:
    path = line.file.path
    said = (_called("a file", flag.message, path, PurePath(path).name) for flag in line.flags)
    flags = tuple(
        replace(flag, message=_nameless_text(message, author))
        for flag, message in zip(line.flags, said, strict=True)
    )
    if line.report is None:
        return replace(line, flags=flags)
    verdicts = tuple(map(partial(_nameless_verdict, author=author), line.report.verdicts))
    report = replace(line.report, verdicts=verdicts, flags=flags)
    return replace(line, flags=flags, report=report)


def _nameless_text(text: str, author: Student) -> str:
    return "(a sentence with a name in it)" if names_author(text, author) else text


def _nameless_verdict(verdict: Verdict, author: Student) -> Verdict:
    code, piece = without_comments(verdict.code), verdict.piece
    if names_author(code, author):
        code, piece = "", None
    elif code != verdict.code and piece is not None:
        marked = verdict.code[slice(*piece)]
        start = code.find(marked) if code.count(marked) == 1 else -1
        piece = (start, start + len(marked)) if start >= 0 else None
    return replace(
        verdict,
        code=code,
        piece=piece,
        note=_nameless_text(verdict.note, author),
        diagnosis=tuple(
            replace(said, message=_nameless_text(said.message, author))
            for said in verdict.diagnosis
        ),
    )
