"""A task: one file handed in, on its way to the process that grades it."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from grader.bulk.handed_file import read_handed_in
from grader.notebook_file import UnreadableNotebook

if TYPE_CHECKING:
    from grader.bulk.line import Line
    from grader.bulk.settings import Settings
    from grader.intake import HandedIn


@dataclass(frozen=True, slots=True)
class Task:
    """A file's bytes with what the folder says about it: no other machine need see the folder.

    A file that could not be read has no bytes and no hash, but a sentence: `refusal`.
    """

    id: str
    student: str
    file: str
    sha256: str | None
    late: bool
    submitted: str | None
    attempt: int
    data: bytes = b""
    refusal: str = ""


def make_task(handed_in: HandedIn, root: Path) -> Task:
    """Read a file handed in; whatever it is, there is a task."""
    whose = whose_of(handed_in, root)
    data, sha256, refusal = b"", None, ""
    try:
        data = read_handed_in(root, handed_in.path, Path(whose["file"]))
        sha256 = hashlib.sha256(data).hexdigest()
    except UnreadableNotebook as error:
        refusal = str(error)
    return Task(**whose, sha256=sha256, data=data, refusal=refusal)


def whose_of(handed_in: HandedIn, root: Path) -> Line:
    """The members of a line that come from the folder, not from the file in it."""
    path = handed_in.path
    inside = path.relative_to(root) if path.is_relative_to(root) else Path(path.name)
    return {
        "id": handed_in.id,
        "student": handed_in.student,
        "file": os.fsencode(inside.as_posix()).decode("utf-8", "backslashreplace"),
        "late": handed_in.late,
        "submitted": handed_in.submitted.isoformat() if handed_in.submitted else None,
        "attempt": handed_in.attempt,
    }


def grade_task(task: Task, settings: Settings) -> Line:
    """Grade one file, here in this process, with the warm worker of this thread.

    Raises:
        CannotGrade: through no fault of the notebook: this process is not fit to grade any.
    """
    # Here, not above: whoever hands out tasks need not wait for torch.
    from grader.bulk import marking

    return marking.mark(task, settings, PurePosixPath(task.file))


def get_ready(settings: Settings) -> None:
    """Start this thread's worker and see that it runs answers.

    Raises:
        CannotGrade: no notebook can be graded here.
    """
    from grader.bulk import marking

    marking.get_ready(settings)
