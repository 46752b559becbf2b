"""results.jsonl: a line for each file handed in, written as soon as it is known."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO

from grader.classroom.intake.class_folder import HandedIn
from grader.classroom.run.journal_index import Entry, Index
from grader.classroom.run.line import Line, head_of, pack_line, read_line, with_file
from grader.classroom.run.settings import Settings
from grader.classroom.run.task import Stamp, Task
from grader.printable import printable
from grader.user_error import UserError
from grader.whole_file import whole_file

SYNC_SECONDS = 2.0
"""How much a power cut may take back: lines of the last two seconds, which are graded again.

Whatever else ends a run takes back nothing, since the system has the line once it is written. To
wait for the disk after each one would cost more than to grade it.
"""

CUT, EARLIER, INDEX = "results.cut", "results.earlier.jsonl", "results.index"

_MADE_WITH = attrgetter("seed", "sandbox", "versions.minor")


class BrokenJournal(UserError):
    """The results are not what a run has written; the message names the line."""


def read_lines(
    path: Path, settings: Settings | None = None, begin: int = 0
) -> Iterator[tuple[int, bytes, Line]]:
    """Every line, with where it begins and its bytes; a last one that was cut off is left out.

    With `begin`, only the lines from there on.

    Raises:
        BrokenJournal: a line is not one of a run's, or not of a run with these settings.
        OSError: the file cannot be read.
    """
    start = begin
    with path.open("rb") as file:
        file.seek(begin)
        for number, data in enumerate(file, start=1):
            try:
                line = read_line(data)
            except ValueError as error:
                if not data.endswith(b"\n"):
                    return
                raise _broken(path, begin, number, str(error)) from error
            if settings is not None and _MADE_WITH(line.run) != _MADE_WITH(settings):
                raise _broken(path, begin, number, "another run with other settings has made it")
            yield start, data, line
            start += len(data)


def _broken(path: Path, begin: int, number: int, why: str) -> BrokenJournal:
    """What is said of a line, `number` lines from where reading began."""
    with path.open("rb") as file:
        while file.tell() < begin and file.readline():
            number += 1
    return BrokenJournal(
        f"Line {number} of {printable(str(path))} is not a result of this grader "
        f"({printable(why)}): was the file edited? Nothing was changed. Restore the file, or "
        "remove that line: its notebook will be graded again."
    )


class Journal:
    """The results of a folder, open for appending.

    Use as a context manager. A last line that was cut off is mended: what there is of it is kept
    in `results.cut`, and its file is graded again. Lines that `results.index` knows are not read.
    """

    def __init__(self, path: Path, settings: Settings | None = None) -> None:
        """Open or create the file, which holds results with these settings.

        Raises:
            BrokenJournal: some line is not one of a run's.
            OSError: it cannot be read or written.
        """
        self.path = path
        self.entries: dict[str, Entry] = {}
        self._superseded: list[Entry] = []
        self._restamped = False
        self._index = Index(path.with_name(INDEX), settings)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            self._end = self._read(settings)
        except BaseException:
            os.close(self._descriptor)
            raise
        self._synced = time.monotonic()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self._index.close()
        os.close(self._descriptor)

    def refuse_strangers(self, keys: Iterable[str]) -> None:
        """Raise BrokenJournal if these are the results of other files altogether."""
        if self.entries and self.entries.keys().isdisjoint(keys):
            raise BrokenJournal(
                f"{printable(str(self.path))} holds the results of another class: none of its "
                f"{len(self.entries):,} files is in this folder. Choose another --out."
            )

    def known(self, task: Task) -> Entry | None:
        """The entry of a task's file, if its line is about what was just read."""
        entry = self.entries.get(task.file.id)
        if entry is None or not entry.is_about(task):
            return None
        if entry.stamp != task.stamp:
            self._restamped = True
            entry = self.entries[task.file.id] = replace(entry, stamp=task.stamp)
        return entry

    def append(self, line: Line, stamp: Stamp | None = None) -> Entry:
        """Write a line: whole, or not at all.

        `stamp` is that of the file from before it was read.

        Raises:
            OSError: there is no room, or the disk fails. The file ends as it did before.
        """
        data = pack_line(line)
        try:
            written = os.write(self._descriptor, data)
            while written < len(data):  # a disk that is almost full takes a part
                written += os.write(self._descriptor, data[written:])
        except OSError:
            with suppress(OSError):  # if not now, the half line is mended at the next start
                os.ftruncate(self._descriptor, self._end)
            raise
        entry = self._note(line.file.id, _entry_of(line, self._end, len(data), stamp))
        self._index.append(line.file.id, entry)
        self._end = entry.end
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()
        return entry

    def sync(self) -> None:
        """Wait until the disk has it all."""
        os.fsync(self._descriptor)
        self._synced = time.monotonic()

    def line(self, key: str) -> Line:
        """The latest line of a file handed in."""
        return read_line(self._bytes(self.entries[key]))

    def finish(self, files: Mapping[str, HandedIn]) -> None:
        """Put the latest lines of these files into the order of their ids, all at once.

        The lines say of each file what the folder says now: if the due date has changed, who is
        late needs no grading. Lines of files that have changed or gone since are moved to
        `results.earlier.jsonl`. Nothing can be appended afterwards.
        """
        gone = [entry for key, entry in self.entries.items() if key not in files]
        if old := [*self._superseded, *gone]:
            with self.path.with_name(EARLIER).open("ab") as file:
                for entry in sorted(old, key=lambda entry: entry.start):
                    file.write(self._bytes(entry))
                file.flush()
                os.fsync(file.fileno())
        kept = {key: self.entries[key] for key in sorted(self.entries.keys() & files.keys())}
        starts = [entry.start for entry in kept.values()]
        if old or starts != sorted(starts) or not all(self._says(files[key]) for key in kept):
            self._index.remove()
            with whole_file(self.path, durable=True) as file:
                kept = {key: self._rewrite(file, files[key]) for key in kept}
        elif not self._restamped:
            return
        self._index.replace(kept.items())

    def _says(self, file: HandedIn) -> bool:
        """True if the line says of the file what the folder says."""
        entry = self.entries[file.id]
        head = head_of(replace(file, sha256=entry.sha256))
        return os.pread(self._descriptor, len(head), entry.start) == head

    def _rewrite(self, results: BinaryIO, file: HandedIn) -> Entry:
        """Write the line behind the others, as the folder is now."""
        entry = self.entries[file.id]
        data = self._bytes(entry)
        if not self._says(file):
            try:
                data = with_file(data, file)
            except ValueError as error:
                raise BrokenJournal(
                    f"The line of {printable(file.id)} in {printable(str(self.path))} was edited. "
                    "Restore the file, or remove that line: its notebook will be graded again."
                ) from error
        start = results.tell()
        results.write(data)
        return replace(entry, start=start, length=len(data))

    def _bytes(self, entry: Entry) -> bytes:
        return os.pread(self._descriptor, entry.length, entry.start)

    def _note(self, key: str, entry: Entry) -> Entry:
        if before := self.entries.get(key):
            self._superseded.append(before)
        self.entries[key] = entry
        return entry

    def _read(self, settings: Settings | None) -> int:
        """Find the lines there are, and mend the last; the length of the file is returned."""
        size = os.fstat(self._descriptor).st_size
        found = [*self._index.read(size)]
        if not self._ends_with(found):
            found = []
        end = found[-1][1].end if found else 0
        indexed = len(found)
        for start, data, line in read_lines(self.path, settings, end):
            length = len(data) + (not data.endswith(b"\n"))
            found.append((line.file.id, _entry_of(line, start, length)))
            end = start + length
        for key, entry in found:
            self._note(key, entry)
        if len(found) > indexed or not found:
            self._index.replace(found)
        if end > size:  # an editor has taken away the end of the last line
            os.write(self._descriptor, b"\n")
        elif cut := os.pread(self._descriptor, size - end, end):
            with self.path.with_name(CUT).open("ab") as file:
                file.write(cut + b"\n")
            os.ftruncate(self._descriptor, end)
        return end

    def _ends_with(self, found: Sequence[tuple[str, Entry]]) -> bool:
        """True if the last of these lines is there, as it would not be had one become longer."""
        if not found:
            return False
        key, entry = found[-1]
        try:
            return read_line(self._bytes(entry)).file.id == key
        except ValueError:
            return False


def _entry_of(line: Line, start: int, length: int, stamp: Stamp | None = None) -> Entry:
    return Entry(start, length, line.file.sha256, line.error, stamp)
