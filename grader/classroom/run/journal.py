"""results.jsonl: a line for each file handed in, written as soon as it is known."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from grader.classroom.intake.class_folder import HandedIn
from grader.classroom.run.line import Line, pack_line, read_line, with_file
from grader.classroom.run.settings import Settings
from grader.classroom.run.task import Task
from grader.printable import printable
from grader.user_error import UserError
from grader.whole_file import whole_file

SYNC_SECONDS = 2.0
"""How much a power cut may take back: lines of the last two seconds, which are graded again.

Whatever else ends a run takes back nothing, since the system has the line once it is written. To
wait for the disk after each one would cost more than to grade it.
"""

CUT, EARLIER = "results.cut", "results.earlier.jsonl"

_MADE_WITH = attrgetter("seed", "sandbox", "versions.minor")


class BrokenJournal(UserError):
    """The results are not what a run has written; the message names the line."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Where the latest line of a file handed in stands, and what is to be known of it."""

    start: int
    length: int
    sha256: str | None
    error: str | None
    passed: bool
    flagged: bool

    def is_about(self, task: Task) -> bool:
        """True if the line belongs to the file with this hash, or to the same refusal."""
        sha256 = task.file.sha256
        return self.sha256 == sha256 and (sha256 is not None or self.error == task.refusal)


def read_lines(path: Path, settings: Settings | None = None) -> Iterator[tuple[int, bytes, Line]]:
    """Every line, with where it begins and its bytes; a last one that was cut off is left out.

    Raises:
        BrokenJournal: a line is not one of a run's, or not of a run with these settings.
        OSError: the file cannot be read.
    """
    start = 0
    with path.open("rb") as file:
        for number, data in enumerate(file, start=1):
            try:
                line = read_line(data)
                if settings is not None and _MADE_WITH(line.run) != _MADE_WITH(settings):
                    raise ValueError("another run with other settings has made it")
            except ValueError as error:
                if not data.endswith(b"\n"):
                    return
                raise BrokenJournal(
                    f"Line {number} of {printable(str(path))} is not a result of this grader "
                    f"({printable(str(error))}): was the file edited? Nothing was changed. Restore "
                    "the file, or remove that line: its notebook will be graded again."
                ) from error
            yield start, data, line
            start += len(data)


class Journal:
    """The results of a folder, open for appending.

    Use as a context manager. A last line that was cut off is mended: what there is of it is kept
    in `results.cut`, and its file is graded again.
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
        os.close(self._descriptor)

    def refuse_strangers(self, keys: Iterable[str]) -> None:
        """Raise BrokenJournal if these are the results of other files altogether."""
        if self.entries and self.entries.keys().isdisjoint(keys):
            raise BrokenJournal(
                f"{printable(str(self.path))} holds the results of another class: none of its "
                f"{len(self.entries):,} files is in this folder. Choose another --out."
            )

    def append(self, line: Line) -> Entry:
        """Write a line: whole, or not at all.

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
        entry = self._note(line, self._end, len(data))
        self._end += len(data)
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
        kept = sorted(self.entries.keys() & files.keys())
        with whole_file(self.path, durable=True) as file:
            file.writelines(with_file(self._bytes(self.entries[key]), files[key]) for key in kept)

    def _bytes(self, entry: Entry) -> bytes:
        return os.pread(self._descriptor, entry.length, entry.start)

    def _note(self, line: Line, start: int, length: int) -> Entry:
        key, report = line.file.id, line.report
        if before := self.entries.get(key):
            self._superseded.append(before)
        entry = self.entries[key] = Entry(
            start,
            length,
            line.file.sha256,
            line.error,
            passed=report is not None and report.score == report.max_score,
            flagged=bool(line.flags),
        )
        return entry

    def _read(self, settings: Settings | None) -> int:
        """Find the lines there are, and mend the last; the length of the file is returned."""
        end = 0
        for start, data, line in read_lines(self.path, settings):
            length = len(data) + (not data.endswith(b"\n"))
            self._note(line, start, length)
            end = start + length
        size = os.fstat(self._descriptor).st_size
        if end > size:  # an editor has taken away the end of the last line
            os.write(self._descriptor, b"\n")
        elif cut := os.pread(self._descriptor, size - end, end):
            with self.path.with_name(CUT).open("ab") as file:
                file.write(cut + b"\n")
            os.ftruncate(self._descriptor, end)
        return end
