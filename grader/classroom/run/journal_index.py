"""`results.index`: where each line of the results stands, so that nobody reads them to go on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from grader.classroom.run.settings import Settings
from grader.classroom.run.task import Stamp, Task
from grader.whole_file import whole_file

FORMAT_VERSION = 2


@dataclass(frozen=True, slots=True)
class Entry:
    """Where the latest line of a file handed in stands, and what is to be known of it.

    `stamp` is how the file looked when it was read, None where that says nothing.
    """

    start: int
    length: int
    sha256: str | None
    error: str | None
    stamp: Stamp | None = None

    @property
    def end(self) -> int:
        """Where the next line begins."""
        return self.start + self.length

    def is_about(self, task: Task) -> bool:
        """True if the line belongs to the file with this hash, or to the same refusal."""
        sha256 = task.file.sha256
        return self.sha256 == sha256 and (sha256 is not None or self.error == task.refusal)


class Index:
    """The entries of a journal in a file of their own, in the order of its lines.

    It is never needed: what it does not tell, the journal reads from the results. So nobody waits
    until the disk has it, and a disk that is full ends no run.
    """

    def __init__(self, path: Path, settings: Settings | None) -> None:
        self._path = path
        made_with = settings and [settings.seed, settings.sandbox, str(settings.versions.minor)]
        self._header = _packed((FORMAT_VERSION, made_with))
        self._descriptor: int | None = None

    def read(self, size: int) -> Iterator[tuple[str, Entry]]:
        """The entries of results of that size, up to the first that cannot be right.

        Nothing comes from the index of results with other settings.
        """
        if not self._path.is_file():
            return
        with self._path.open("rb") as file:
            if file.readline() != self._header:
                return
            end = 0
            for data in file:
                try:
                    key, members, stamp = json.loads(data)
                    entry = replace(Entry(*members), stamp=stamp and Stamp(*stamp))
                except (ValueError, TypeError):  # a power cut has taken a part
                    return
                if entry.start != end or entry.end > size:
                    return
                end = entry.end
                yield key, entry

    def append(self, key: str, entry: Entry) -> None:
        """Write an entry behind the others."""
        with suppress(OSError):
            if self._descriptor is None:
                self._descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND)
            os.write(self._descriptor, _line(key, entry))

    def replace(self, entries: Iterable[tuple[str, Entry]]) -> None:
        """Write all entries anew."""
        self.close()
        with suppress(OSError), whole_file(self._path) as file:
            file.write(self._header)
            file.writelines(_line(key, entry) for key, entry in entries)

    def remove(self) -> None:
        """Delete the file, for its entries are about to be wrong."""
        self.close()
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file, if it is open."""
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._descriptor = None


def _line(key: str, entry: Entry) -> bytes:
    members = (entry.start, entry.length, entry.sha256, entry.error)
    return _packed((key, members, entry.stamp))


def _packed(items: Sequence[object]) -> bytes:
    return f"{json.dumps(items, separators=(',', ':'))}\n".encode("ascii")
