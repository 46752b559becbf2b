"""Replace a student's file, keeping a dated backup beside it."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from grader.submission.notebook_file import shown
from grader.user_error import UserError
from grader.whole_file import whole_file, why

_BACKUP = re.compile(r"(.+)\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(-\d+)?(\.ipynb)")


class WouldLoseWork(UserError):
    """The file was left as it is; the message is a sentence."""


def original_of(name: str) -> str | None:
    """The name of the notebook that a backup of this name was made of; None if it is no backup."""
    match = _BACKUP.fullmatch(name)
    return match[1] + match[3] if match else None


def refuse_unsafe(path: Path) -> None:
    """Raise WouldLoseWork for a file that is not simply there to be replaced."""
    if path.is_symlink():
        raise WouldLoseWork(
            f"{shown(path)} is a link to another file, so nothing was changed: name that file, "
            f"{shown(path.resolve())}."
        )
    if path.exists() and not os.access(path, os.W_OK):
        raise WouldLoseWork(f"{shown(path)} is write-protected, so nothing was changed.")


def back_up(path: Path, data: bytes, now: datetime) -> Path:
    """Write what `path` held beside it, under a name with the time in it.

    Raises:
        WouldLoseWork: it cannot be written.
    """
    stamp = f"{now:%Y-%m-%dT%H-%M-%S}"
    for number in range(1, 1000):
        again = f"-{number}" if number > 1 else ""
        backup = path.with_name(f"{path.stem}.{stamp}{again}{path.suffix}")
        try:
            with backup.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())  # a full disk is sometimes noticed only here
            shutil.copymode(path, backup)
        except FileExistsError:
            continue
        except BaseException as error:
            with suppress(OSError):
                backup.unlink()
            if isinstance(error, OSError):
                raise WouldLoseWork(
                    f"{shown(path)} was not changed, since no backup can be written beside "
                    f"it{why(error)}."
                ) from error
            raise
        return backup
    raise WouldLoseWork(f"{shown(path)} was not changed: this second has a thousand backups.")


def replace_file(path: Path, before: bytes, after: bytes) -> None:
    """Put `after` in the place of `before`, at one stroke.

    Raises:
        WouldLoseWork: it cannot be written, or no longer holds `before`.
    """
    try:
        with whole_file(path) as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())  # before the last look, so that little time passes after it
            if path.read_bytes() != before:
                raise WouldLoseWork(
                    f"{shown(path)} was saved by another program at this very moment, so nothing "
                    "was changed: try again."
                )
    except OSError as error:
        raise WouldLoseWork(f"{shown(path)} cannot be written{why(error)}.") from error
