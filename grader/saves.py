"""The saves of one file, as they happen."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import watchfiles

STEP_MILLISECONDS = 15
"""How long a file is to be left alone before it is read: an editor writes in several steps."""
DEBOUNCE_MILLISECONDS = 100
"""How long to wait at most while it goes on changing."""
TICK_MILLISECONDS = 500
"""How often to look where no change is announced, as on some network drives."""


def saves(path: Path, stop: threading.Event | None = None) -> Iterator[bool]:
    """Yield True after each change of the file, and False every half second.

    The folder is watched, not the file: many programs save by putting a new file in the place of
    the old one. The file, even the folder, may go and come back.
    """
    stop = stop or threading.Event()
    names = {path.name, path.resolve().name}
    while not stop.is_set():
        folders = {path.parent, path.resolve().parent}  # another one where the path is a link
        before = _identities(folders)
        # No folder at the moment; or the system cannot watch one more, or not this one.
        with suppress(OSError):
            for changes in watchfiles.watch(
                *folders,
                watch_filter=lambda _, changed: Path(changed).name in names,
                debounce=DEBOUNCE_MILLISECONDS,
                step=STEP_MILLISECONDS,
                rust_timeout=TICK_MILLISECONDS,
                yield_on_timeout=True,
                recursive=False,
                stop_event=stop,
            ):
                yield bool(changes)
                if _identities(folders) != before:
                    break
        time.sleep(STEP_MILLISECONDS / 1000)
        yield False


def _identities(folders: set[Path]) -> list[tuple[int, int] | None]:
    return [_identity(folder) for folder in sorted(folders)]


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
