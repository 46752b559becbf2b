"""What `run_autograder` does in Gradescope's container: grade one submission, as `grade` does.

There are three kinds of processes. This one is root's: it alone can write the results, and it
never reads a student's file. A judge reads the files. A worker runs the answers in the sandbox,
from which it can reach neither the results nor the judge.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from grader.classroom.gradebook.rubric import Rubric, read_rubric
from grader.classroom.intake.class_folder import ClassFolder, HandedIn
from grader.classroom.intake.walk import Parts, as_text
from grader.classroom.run import results
from grader.classroom.run.class_run import Run
from grader.classroom.run.grade_task import grade_task, local_pool
from grader.classroom.run.line import Line
from grader.classroom.run.pool import CannotGrade
from grader.classroom.run.settings import Settings, installed_versions
from grader.execution.sandbox import Sandbox, require, why_not
from grader.platforms.gradescope.results import (
    Circumstances,
    Results,
    not_graded,
    own_failure,
    results_of,
    staff_lines,
)
from grader.platforms.gradescope.settings import (
    COURSE,
    RUBRIC,
    SETTINGS,
    ExportSettings,
    Visibility,
    read_settings,
)
from grader.platforms.gradescope.submission import (
    Metadata,
    NothingToGrade,
    choose,
    notebooks_in,
    read_metadata,
)
from grader.program.course import built_in_course, read_course
from grader.whole_file import write_whole
from grader.worker.terms import Limits

STATEMENT_SECONDS, TOTAL_SECONDS = 10.0, 30.0
"""The limits of an answer. If an answer hangs the judge as well, it is given up and tried once
more, alone. With these limits, this ends before Gradescope ends everything after ten minutes."""

LEAST_MEMORY, MOST_MEMORY = 2**29, 2**31
"""The bytes for an answer, in addition to what Python and PyTorch take."""

MEMORY_FILES = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def main(root: Path) -> None:
    """Grade the submission in `root`, which is /autograder, and write its results.json."""
    lock_up(root)
    source = root / "source"
    settings, own = read_settings(source / SETTINGS), source / COURSE
    course = read_course(own) if own.is_dir() else built_in_course()
    rubric = read_rubric(source / RUBRIC if (source / RUBRIC).exists() else None, course)
    results, said = grade_submission(root, settings, rubric)
    path = root / "results" / "results.json"  # there is one already, in case this fails
    path.parent.mkdir(exist_ok=True)
    write_whole(path, json.dumps(results, indent=2, allow_nan=False) + "\n")
    if settings.stdout_visibility is Visibility.HIDDEN:
        print("\n".join(said))  # noqa: T201  Gradescope shows it to the staff


def lock_up(root: Path) -> None:
    """Let only root look into the folders; answers run under another account."""
    locked = ("source", "submission", "results", "submission_metadata.json", "run_autograder")
    # The account that runs answers has to pass through the root to the packages below it.
    for name, mode in {"": 0o711, **dict.fromkeys(locked, 0o700)}.items():
        with contextlib.suppress(FileNotFoundError, PermissionError):
            (root / name).chmod(mode)


def grade_submission(
    root: Path, settings: ExportSettings, rubric: Rubric
) -> tuple[Results, list[str]]:
    """The results of any submission, with what the staff should know."""
    began = time.monotonic()
    metadata = read_metadata(root / "submission_metadata.json")
    about = Circumstances(
        settings, rubric, submitted=metadata.submitted, late=metadata.late, due=metadata.due
    )
    line: Line | None = None
    try:
        found = notebooks_in(root / "submission")
        sandbox, why = _sandbox(settings)
        orders = Settings(
            seed=settings.seed(metadata.id),
            limits=Limits(STATEMENT_SECONDS, TOTAL_SECONDS, answers_memory(_container_memory())),
            sandbox=str(sandbox),
            versions=installed_versions(),
            course=rubric.course,
        )
        about = replace(about, staff=[*_record(orders, metadata), *why])
        line, notes = choose(_grade_all(root / "submission", found, orders), settings.notebook)
        about = replace(about, notes=notes, seconds=time.monotonic() - began)
        results = results_of(line, about)
    except NothingToGrade as error:
        about = replace(
            about, seconds=time.monotonic() - began, staff=[*about.staff, f"not graded: {error}"]
        )
        results = not_graded(str(error), about)
    except Exception as error:  # whatever it is, the student reads a sentence
        said = str(error) if isinstance(error, CannotGrade) else traceback.format_exc()
        about = replace(about, staff=[*about.staff, *said.splitlines()])
        results = own_failure(about)
    return results, staff_lines(line, about)


def _sandbox(settings: ExportSettings) -> tuple[Sandbox, list[str]]:
    """Choose the sandbox, with a sentence if it is not the strongest one.

    Raises:
        NoSandbox: no sandbox that the settings allow works here.
    """
    trouble = why_not(Sandbox.BWRAP)
    if trouble and settings.sandbox == Sandbox.ACCOUNT:
        require(Sandbox.ACCOUNT)
        return Sandbox.ACCOUNT, [
            f"Answers ran under an account that owns nothing, not in bubblewrap. {trouble}"
        ]
    require(Sandbox.BWRAP)
    return Sandbox.BWRAP, []


def answers_memory(container: int | None) -> int:
    """The bytes of a container's memory that an answer may take without endangering the judge."""
    return MOST_MEMORY if container is None else min(MOST_MEMORY, max(LEAST_MEMORY, container // 3))


def _container_memory() -> int | None:
    for name in MEMORY_FILES:
        with contextlib.suppress(OSError, ValueError):  # "max" is not a number: no limit
            return int(Path(name).read_text())
    return None


def _record(orders: Settings, metadata: Metadata) -> Iterator[str]:
    yield (
        f"sandbox {orders.sandbox}, seed {orders.seed}, {orders.versions}, {platform.platform()}, "
        f"{orders.limits.memory_bytes // 2**20} MB for an answer"
    )
    if metadata.late:
        yield f"late: submitted {metadata.submitted}, due {metadata.due}"


def _grade_all(folder: Path, found: Sequence[Parts], orders: Settings) -> list[Line]:
    """Grade each file in processes of its own, as `grader grade` does; return their lines."""
    handed_in = tuple(HandedIn(as_text(parts), "", as_text(parts), parts=parts) for parts in found)
    class_folder = ClassFolder(folder, "Gradescope", (), handed_in)
    with (
        tempfile.TemporaryDirectory() as name,
        results.Results(Path(name) / results.RESULTS, change=True) as opened,
    ):
        run = Run(class_folder, orders, opened, grade_task)
        run.grade_all(lambda: local_pool(orders, 1), lambda _: None)
        return [opened.line(item.id) for item in handed_in]


if __name__ == "__main__":
    # An environment variable must not turn the judge's process into one that runs answers.
    for variable in [name for name in os.environ if name.startswith("PYTHON")]:
        del os.environ[variable]
    main(Path(sys.argv[1]))
