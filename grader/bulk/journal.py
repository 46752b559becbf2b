"""results.jsonl: a line for each file handed in, written as soon as it is known."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.bulk.line import WHOSE, Line, pack_line
from grader.printable import printable
from grader.whole_file import whole_file

SYNC_SECONDS = 2.0
"""How much a power cut may take back: lines of the last two seconds, which are graded again.

Whatever else ends a run takes back nothing, since the system has the line once it is written. To
wait for the disk after each one would cost more than to grade it.
"""

CUT, EARLIER = "results.cut", "results.earlier.jsonl"


class BrokenJournal(Exception):
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

    def speaks_of(self, sha256: str | None, refusal: str) -> bool:
        """Whether the line is about a file with this hash; or about one refused so, without."""
        return self.sha256 == sha256 and (sha256 is not None or self.error == refusal)


class Journal:
    """The results of a folder, open for appending.

    Use as a context manager. A last line that was cut off is mended: what there is of it is kept
    in `results.cut`, and its file is graded again.
    """

    def __init__(self, path: Path) -> None:
        """Open or create the file.

        Raises:
            BrokenJournal: some line is not one of a run's.
            OSError: it cannot be read or written.
        """
        self.path = path
        self.entries: dict[str, Entry] = {}
        self._superseded: list[tuple[int, int]] = []
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            self._end = self._read()
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
        line: Line = json.loads(self._bytes(self.entries[key].start, self.entries[key].length))
        return line

    def settle(self, keys: Iterable[str], whose: Callable[[str], Line]) -> None:
        """Put the latest lines of these files into the order of their ids, at one stroke.

        `whose` gives the members of a line that come from the folder, as it is now: who is late,
        when the due date has changed, needs no grading. Lines of files that have changed or gone
        since are moved to `results.earlier.jsonl`. Nothing can be appended afterwards.
        """
        kept = {key for key in keys if key in self.entries}
        gone = [entry for key, entry in self.entries.items() if key not in kept]
        old = [*self._superseded, *((entry.start, entry.length) for entry in gone)]
        if old:
            with self.path.with_name(EARLIER).open("ab") as file:
                for start, length in sorted(old):
                    file.write(self._bytes(start, length))
                file.flush()
                os.fsync(file.fileno())
        with whole_file(self.path, durable=True) as file:
            file.writelines(pack_line(self.line(key) | whose(key)) for key in sorted(kept))

    def _bytes(self, start: int, length: int) -> bytes:
        return os.pread(self._descriptor, length, start)

    def _note(self, line: Line, start: int, length: int) -> Entry:
        before = self.entries.get(line["id"])
        if before is not None:
            self._superseded.append((before.start, before.length))
        entry = self.entries[line["id"]] = Entry(
            start,
            length,
            line["sha256"],
            line.get("error"),
            passed="error" not in line and line["score"] == line["max_score"],
            flagged=bool(line["flags"]),
        )
        return entry

    def _read(self) -> int:
        """Find the lines there are; the length of the file, once mended, is returned."""
        start = 0
        with self.path.open("rb") as file:
            for number, data in enumerate(file, start=1):
                line = _parse(data)
                if not data.endswith(b"\n"):
                    return self._mend(data, start, line)
                if line is None:
                    raise BrokenJournal(
                        f"Line {number} of {printable(str(self.path))} is not a result of this "
                        "grader: was the file edited? Nothing was changed. Restore the file, or "
                        "remove that line: its notebook will be graded again."
                    )
                self._note(line, start, len(data))
                start += len(data)
        return start

    def _mend(self, data: bytes, start: int, line: Line | None) -> int:
        if line is not None:  # an editor has taken away the end of the last line
            os.write(self._descriptor, b"\n")
            self._note(line, start, len(data) + 1)
            return start + len(data) + 1
        with self.path.with_name(CUT).open("ab") as file:
            file.write(data + b"\n")
        os.ftruncate(self._descriptor, start)
        return start


def _parse(data: bytes) -> Line | None:
    """The line as an object, or None if it is none of a run's."""
    try:
        line: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict) or not line.keys() >= {*WHOSE, "format", "flags", "run"}:
        return None
    if not isinstance(line["id"], str) or not isinstance(line["flags"], list):
        return None
    graded = all(isinstance(line.get(key), int) for key in ("score", "max_score"))
    return line if graded or isinstance(line.get("error"), str) else None
