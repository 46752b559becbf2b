"""results.sqlite: the result of each submitted file, which is safe as soon as it is known."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from grader.classroom.intake.class_folder import HandedIn
from grader.classroom.run.line import Brief, Line, file_text, grading_text, read_brief, read_line
from grader.classroom.run.settings import Settings, as_text, reconciled
from grader.submission.notebook_file import shown
from grader.user_error import UserError
from grader.whole_file import whole_file

RESULTS, EXPORT, EARLIER = "results.sqlite", "results.jsonl", "results.earlier.jsonl"
UNFINISHED = ".unfinished"
"""This file exists while tables and pages lack a result, or are being written."""

L = TypeVar("L", Line, Brief)

FORMAT_VERSION = 1

_BOOK = {
    "person": "id TEXT, name TEXT, email TEXT, page TEXT, adjusted INTEGER",
    "grade": "student TEXT, notebook TEXT, status TEXT, points TEXT, most TEXT, file TEXT",
    "award": "change TEXT, most TEXT",
}
"""The gradebook as it was last written: its students, a row for each student's notebook with the
file that counts, and the maximum out of which the instructor's points were given."""

_TABLES = "".join(f"CREATE TABLE IF NOT EXISTS {name} ({row});\n" for name, row in _BOOK.items())
_SCHEMA = f"""
BEGIN;
CREATE TABLE run (settings TEXT NOT NULL, convention TEXT NOT NULL);
CREATE TABLE result (
    id TEXT PRIMARY KEY, file TEXT NOT NULL, sha256 TEXT, stamp TEXT, error TEXT, line TEXT NOT NULL
);
CREATE TABLE earlier AS SELECT * FROM result;
PRAGMA user_version = {FORMAT_VERSION};
COMMIT;
"""


class BrokenResults(UserError):
    """The results were not written by a run, or belong to another one."""


class Results:
    """The results in a gradebook's folder; use it as a context manager.

    A killed process loses no result. A power cut may lose the last results, whose files are then
    graded again, because waiting for the disk after each result would cost more than grading it.
    """

    def __init__(self, path: Path, *, change: bool = False) -> None:
        """Open the file; to `change` it, create it if it is missing.

        Raises:
            BrokenResults: the file does not hold results, or those of another version.
            OSError: the file cannot be opened.
        """
        self.path = path
        if not change:
            os.stat(path)  # noqa: PTH116  says why it cannot be opened, which SQLite does not
        with self._explained():
            address = f"{path.absolute().as_uri()}?mode={'rwc' if change else 'ro'}"
            self._db = sqlite3.connect(address, uri=True, isolation_level=None)
        try:
            with self._explained():
                if change:
                    self._db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;")
                    if not self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
                        self._db.executescript(_SCHEMA)
                    self._db.executescript(_TABLES)
                (found,) = self._db.execute("PRAGMA user_version").fetchone()
            if found != FORMAT_VERSION:
                raise BrokenResults(
                    f"{shown(path)} was begun by another version of the grader (format {found}, "
                    f"here {FORMAT_VERSION}): choose another --out."
                )
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(sqlite3.Error):  # one file, which a folder that is read-only can hold
            self._db.execute("PRAGMA journal_mode=DELETE")
        self._db.close()

    def begin(self, wanted: Settings, given: Collection[str], convention: str) -> Settings:
        """Choose the settings of this run: those of existing results, or else `wanted`.

        Lines that say why a file could not be graded do not count as results and are deleted,
        because another course may be meant.

        Args:
            wanted: the settings for new results.
            given: which of "seed" and "timeout" the instructor gave. For the others, the existing
                results decide.
            convention: the layout of the graded folder.

        Raises:
            OtherSettings: the settings of the results differ from the requested ones.
        """
        with self._transaction():
            if self._db.execute("SELECT 1 FROM result WHERE error IS NULL").fetchone():
                (had,) = self._db.execute("SELECT settings FROM run").fetchone()
                return reconciled(had, wanted, given, shown(self.path.parent))
            self._db.execute("DELETE FROM result")
            self._db.execute("DELETE FROM run")
            self._db.execute("INSERT INTO run VALUES (?, ?)", (as_text(wanted), convention))
        return wanted

    @property
    def convention(self) -> str:
        """The layout of the folder that was graded."""
        with self._explained():
            return str(self._db.execute("SELECT convention FROM run").fetchone()[0])

    def refuse_strangers(self, ids: Iterable[str]) -> None:
        """Raise BrokenResults if the results belong to entirely different files."""
        with self._explained():
            known = {id_ for (id_,) in self._db.execute("SELECT id FROM result")}
        if known and known.isdisjoint(ids):
            raise BrokenResults(
                f"{shown(self.path)} holds the results of another class: none of its "
                f"{len(known):,} files is in this folder. Choose another --out."
            )

    def unchanged(self, id_: str, stamp: str | None) -> tuple[str | None] | None:
        """The error, if any, of a file that seems unchanged since it was read; None if unknown."""
        query = "SELECT error FROM result WHERE id = ? AND stamp = ?"
        return self._first(query, _plain(id_), stamp)

    def known(self, file: HandedIn) -> tuple[str | None] | None:
        """The error, if any, of a file whose result is for the data just read; None if unknown."""
        query = (
            "SELECT error FROM result WHERE id = ? AND sha256 IS ? "
            "AND (sha256 IS NOT NULL OR error = ?)"
        )
        found = self._first(query, _plain(file.id), file.sha256, _plain(file.reason))
        if found is not None and self.unchanged(file.id, file.stamp) is None:
            with self._transaction():
                values = file.stamp, _plain(file.id)
                self._db.execute("UPDATE result SET stamp = ? WHERE id = ?", values)
        return found

    def add(self, line: Line, stamp: str | None = None) -> None:
        """Write a line. An earlier line of the same file is set aside.

        `stamp` is the file's stamp from before it was read.

        Raises:
            OSError: the disk is full or fails; the results are unchanged.
        """
        file = line.file
        id_, error = _plain(file.id), line.error and _plain(line.error)
        row = (id_, file_text(file), file.sha256, stamp, error, grading_text(line))
        with self._transaction():
            self._set_aside(id_)
            self._db.execute("INSERT INTO result VALUES (?, ?, ?, ?, ?, ?)", row)

    def keep(self, files: Mapping[str, HandedIn]) -> list[str]:
        """Keep only the lines of these files, and update what they say about the folder.

        A new due date thus changes who is late without any grading. The ids of the other lines are
        returned.
        """
        gone = []
        with self._transaction():
            known = self._db.execute("SELECT id, sha256, file FROM result ORDER BY id").fetchall()
            for id_, sha256, text in known:
                if id_ not in files:
                    gone.append(id_)
                    self._set_aside(id_)
                elif (now := file_text(replace(files[id_], sha256=sha256))) != text:
                    self.path.with_name(UNFINISHED).touch()
                    self._db.execute("UPDATE result SET file = ? WHERE id = ?", (now, id_))
        return gone

    def line(self, id_: str) -> Line:
        """The line of a submitted file."""
        return next(self._lines(read_line, "result WHERE id = ?", _plain(id_)))

    def lines(self) -> Iterator[Line]:
        """The lines, in the order of the files' ids.

        Raises:
            BrokenResults: a line cannot be read.
        """
        return self._lines(read_line, "result ORDER BY id")

    def write_book(self, **tables: Iterable[Sequence[object]]) -> None:
        """Replace the tables `person`, `grade` and `award` of the last gradebook."""
        with self._transaction():
            for name, rows in tables.items():
                self._db.execute(f"DELETE FROM {name}")
                places = ", ".join("?" * len(_BOOK[name].split(",")))
                for row in rows:
                    values = [_plain(each) if isinstance(each, str) else each for each in row]
                    self._db.execute(f"INSERT INTO {name} VALUES ({places})", values)

    def book(self, table: str) -> Iterator[Any]:
        """The rows of `person`, `grade` or `award`; none if no gradebook has been written."""
        if self._first("SELECT 1 FROM sqlite_master WHERE name = ?", table):
            with self._explained():
                yield from self._db.execute(f"SELECT * FROM {table} ORDER BY rowid")

    def briefs(self) -> Iterator[Brief]:
        """The lines without the reasons for their gradients; for errors see `lines`."""
        return self._lines(read_brief, "result ORDER BY id")

    def export(self) -> None:
        """Write `results.jsonl`, and lines since replaced or removed to `results.earlier.jsonl`."""
        for name, table in ((EXPORT, "result"), (EARLIER, "earlier")):
            if table == "result" or self._first("SELECT 1 FROM earlier"):
                with whole_file(self.path.with_name(name)) as file:
                    for text in self._texts(f"{table} ORDER BY id, rowid"):
                        file.write(f"{text}\n".encode("ascii"))

    def _lines(self, read: Callable[[str], L], which: str, *values: object) -> Iterator[L]:
        for text in self._texts(which, *values):
            try:
                yield read(text)
            except ValueError as error:
                raise BrokenResults(
                    f"A row of {shown(self.path)} is not a result of this grader ({error}): was "
                    "the file edited? Restore it, or choose another --out."
                ) from error

    def _texts(self, which: str, *values: object) -> Iterator[str]:
        with self._explained():
            for file, line in self._db.execute(f"SELECT file, line FROM {which}", values):
                yield f"{file[:-1]},{line[1:]}"

    def _first(self, query: str, *values: object) -> tuple[str | None] | None:
        with self._explained():
            found: tuple[str | None] | None = self._db.execute(query, values).fetchone()
        return found

    def _set_aside(self, id_: str) -> None:
        self.path.with_name(UNFINISHED).touch()
        self._db.execute("INSERT INTO earlier SELECT * FROM result WHERE id = ?", (id_,))
        self._db.execute("DELETE FROM result WHERE id = ?", (id_,))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._explained(), self._db:
            self._db.execute("BEGIN")
            yield

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise OSError(0, str(error), str(self.path)) from error
        except sqlite3.DatabaseError as error:
            raise BrokenResults(
                f"{shown(self.path)} is not what a run has written ({error}): restore it, or "
                "choose another --out."
            ) from error


def _plain(text: str) -> str:
    """The text with lone surrogates spelled out, which SQLite cannot store."""
    return text.encode("utf-8", "backslashreplace").decode()
