"""The folder of a gradebook: where it may be, and which run is using it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from grader.classroom.class_settings import SETTINGS
from grader.classroom.run.results import RESULTS, Results
from grader.printable import printable
from grader.submission.notebook_file import shown
from grader.user_error import UserError, reason
from grader.whole_file import is_left_over

LOCK = ".lock"


class UnfitFolder(UserError):
    """The gradebook cannot be written there, or not in this way; the message is a sentence."""


def refuse_misplaced(folder: Path, out: Path) -> None:
    """Raise UnfitFolder if the gradebook would be among the students' submissions."""
    inside, outside = out.resolve(), folder.resolve()
    if inside == outside or outside in inside.parents:
        raise UnfitFolder(
            f"{shown(out)} is {'' if inside == outside else 'in '}the folder that is graded: "
            "choose a gradebook's folder elsewhere."
        )
    if inside in outside.parents:
        raise UnfitFolder(
            f"{shown(out)} holds the folder that is graded: choose a gradebook's folder elsewhere."
        )


@contextmanager
def claimed(out: Path) -> Iterator[None]:
    """Make the folder if there is none, and keep other runs out of it.

    Raises:
        UnfitFolder: another run has it, it holds something else, it cannot be written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        refuse_foreign(out)
        # The system's own lock: it is gone with the process that holds it, however that ended.
        lock = filelock.FileLock(out / LOCK, timeout=0)
        lock.acquire()
        for path in filter(is_left_over, out.iterdir()):
            path.unlink()
    except filelock.Timeout:
        raise UnfitFolder(
            f"Another `grader grade` is at work on {shown(out)}: wait until it has finished, or "
            "stop it."
        ) from None
    except FileExistsError:
        raise UnfitFolder(f"{shown(out)} is a file: a gradebook needs a folder.") from None
    except OSError as error:
        raise UnfitFolder(f"{shown(out)} cannot be written: {reason(error)}.") from None
    try:
        yield
    finally:
        lock.release()


def refuse_foreign(out: Path) -> None:
    """Raise UnfitFolder if the folder holds something, but not a gradebook."""
    if not out.is_dir():
        return
    names = {path.name for path in out.iterdir() if not is_left_over(path)} - {LOCK, SETTINGS}
    if names and RESULTS not in names:
        raise UnfitFolder(
            f"{shown(out)} holds something else than a gradebook ({printable(min(names))}, for "
            "one): choose an empty folder, or one that is not there yet."
        )


def convention_of(out: Path) -> str:
    """The layout of the folder from which the gradebook was made.

    Raises:
        UnfitFolder: there is no gradebook.
    """
    if not (out / RESULTS).is_file():
        raise UnfitFolder(
            f"{shown(out)} is not a gradebook: name the folder that `grader grade` has written."
        )
    with Results(out / RESULTS) as results:
        return results.convention
