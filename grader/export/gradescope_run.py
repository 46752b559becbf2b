"""What `run_autograder` does in Gradescope's container: grade one submission, as `grade` does.

Three kinds of process: this one, root's, which alone can write the results and never reads a
student's file; a judge, which reads them; and a worker that runs answers in the sandbox, from
where neither the results nor the judge can be reached.
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
from functools import partial
from pathlib import Path

from grader.bulk.failures import CannotGrade
from grader.bulk.journal import Journal
from grader.bulk.line import Line
from grader.bulk.local_pool import LocalPool
from grader.bulk.run import Run
from grader.bulk.settings import Settings, installed_versions
from grader.bulk.task import get_ready, grade_task
from grader.export.gradescope_results import (
    Circumstances,
    Results,
    not_graded,
    own_failure,
    results_of,
    staff_lines,
)
from grader.export.gradescope_settings import (
    RUBRIC,
    SETTINGS,
    ExportSettings,
    Visibility,
    read_settings,
)
from grader.export.gradescope_submission import (
    Metadata,
    NothingToGrade,
    choose,
    notebooks_in,
    read_metadata,
)
from grader.gradebook.rubric import Rubric, read_rubric
from grader.intake import ClassFolder, HandedIn
from grader.intake.walk import Found, as_text
from grader.sandbox import Sandbox, find_bwrap, require
from grader.whole_file import whole_file

STATEMENT_SECONDS, TOTAL_SECONDS = 10.0, 30.0
"""Limits of an answer. What hangs the judge as well is given up and tried again, alone: with these
that ends before the ten minutes after which Gradescope ends everything."""

LEAST_MEMORY, MOST_MEMORY = 2**29, 2**31
"""Bytes for an answer, beyond what Python and PyTorch take."""

MEMORY_FILES = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def main(root: Path) -> None:
    """Grade what lies in `root`, which is /autograder, and write its results.json."""
    lock_up(root)
    settings, rubric = _read_orders(root / "source")
    results, said = grade_submission(root, settings, rubric)
    write_results(root / "results" / "results.json", results)
    if settings.stdout_visibility is Visibility.HIDDEN:
        print("\n".join(said))  # noqa: T201  Gradescope shows it to the staff


def lock_up(root: Path) -> None:
    """Let nobody but root look into the folders; answers run as somebody else."""
    for name in ("source", "submission", "results", "submission_metadata.json"):
        with contextlib.suppress(FileNotFoundError, PermissionError):
            path = root / name
            path.chmod(0o700 if path.is_dir() else 0o600)


def write_results(path: Path, results: Results) -> None:
    """Put the results in the place of those that stood there for the case of a failure."""
    path.parent.mkdir(exist_ok=True)
    with whole_file(path) as file:
        file.write(json.dumps(results, indent=2, allow_nan=False).encode("ascii") + b"\n")


def grade_submission(
    root: Path, settings: ExportSettings, rubric: Rubric
) -> tuple[Results, list[str]]:
    """The results of a submission, whatever it is, with what the staff should know."""
    began = time.monotonic()
    metadata = read_metadata(root / "submission_metadata.json")
    about = Circumstances(submitted=metadata.submitted, late=metadata.late)
    line: Line = {}
    try:
        found = notebooks_in(root / "submission")
        sandbox, why = _sandbox(settings)
        orders = _settings(settings, metadata, sandbox)
        about = replace(about, staff=[*_record(orders, metadata), *why])
        line, notes = choose(_grade_all(root / "submission", found, orders), settings.notebook)
        about = replace(about, notes=notes, seconds=time.monotonic() - began)
        results = results_of(line, settings, rubric, about)
    except NothingToGrade as error:
        about = replace(
            about, seconds=time.monotonic() - began, staff=[*about.staff, f"not graded: {error}"]
        )
        results = not_graded(str(error), settings, rubric, about)
    except Exception as error:  # whatever it is, the student is to read a sentence
        said = str(error) if isinstance(error, CannotGrade) else traceback.format_exc()
        about = replace(about, staff=[*about.staff, *said.splitlines()])
        results = own_failure(settings, rubric, about)
    return results, staff_lines(line, about)


def _read_orders(source: Path) -> tuple[ExportSettings, Rubric]:
    rubric = source / RUBRIC
    return read_settings(source / SETTINGS), read_rubric(rubric) if rubric.exists() else Rubric()


def _sandbox(settings: ExportSettings) -> tuple[Sandbox, list[str]]:
    """Where answers run, with a sentence if that is not the strongest.

    Raises:
        NoSandbox: there is none that the settings allow.
    """
    bwrap = find_bwrap()
    if bwrap.path is not None or settings.sandbox != Sandbox.ACCOUNT:
        sandbox = Sandbox.BWRAP if settings.sandbox == Sandbox.ACCOUNT else settings.sandbox
        require(Sandbox(sandbox))
        return Sandbox(sandbox), []
    require(Sandbox.ACCOUNT)
    return Sandbox.ACCOUNT, [
        f"Answers ran under an account that owns nothing, not in bubblewrap. {bwrap.trouble}"
    ]


def _settings(settings: ExportSettings, metadata: Metadata, sandbox: Sandbox) -> Settings:
    return Settings(
        seed=settings.seed(metadata.id),
        statement_seconds=STATEMENT_SECONDS,
        total_seconds=TOTAL_SECONDS,
        memory_bytes=answers_memory(_container_memory()),
        sandbox=str(sandbox),
        versions=installed_versions(),
    )


def answers_memory(container: int | None) -> int:
    """What an answer may take of a container's memory, for the judge not to be killed for it."""
    return MOST_MEMORY if container is None else min(MOST_MEMORY, max(LEAST_MEMORY, container // 3))


def _container_memory() -> int | None:
    for name in MEMORY_FILES:
        with contextlib.suppress(OSError, ValueError):  # "max" is no number: no limit
            return int(Path(name).read_text())
    return None


def _record(orders: Settings, metadata: Metadata) -> Iterator[str]:
    yield (
        f"sandbox {orders.sandbox}, seed {orders.seed}, {orders.versions}, {platform.platform()}, "
        f"{orders.memory_bytes // 2**20} MB for an answer"
    )
    if metadata.late:
        yield f"late: submitted {metadata.submitted}, due {metadata.due}"


def _grade_all(folder: Path, found: Sequence[Found], orders: Settings) -> list[Line]:
    """The line of each file, graded as `grader grade` does it, in processes of their own."""
    handed_in = tuple(
        HandedIn(as_text(file.parts), "", folder.joinpath(*file.parts)) for file in found
    )
    with tempfile.TemporaryDirectory() as name, Journal(Path(name) / "results.jsonl") as journal:
        run = Run(ClassFolder(folder, "Gradescope", (), handed_in), orders, journal, grade_task)
        run.grade_all(partial(_pool, orders), lambda _: None)
        return [journal.line(item.id) for item in handed_in]


def _pool(orders: Settings) -> LocalPool:
    return LocalPool(
        1,
        ready=partial(get_ready, orders),
        patience=orders.task_seconds,
        preload="grader.bulk.marking",
    )


if __name__ == "__main__":
    # The judge's own process must not become an answer's by a variable of its environment.
    for variable in [name for name in os.environ if name.startswith("PYTHON")]:
        del os.environ[variable]
    main(Path(sys.argv[1]))
