"""Grading that needs no torch, for the tests of what is around it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from grader.classroom.intake.class_folder import ClassFolder, HandedIn, Student
from grader.classroom.run.class_run import Run
from grader.classroom.run.line import Line, Provenance, provenance
from grader.classroom.run.local_pool import LocalPool
from grader.classroom.run.pool import CannotGrade
from grader.classroom.run.results import Results
from grader.classroom.run.settings import Settings
from grader.verdict import Check, Comparison, Outcome, Report, Verdict
from tests.helpers.lines import SETTINGS

AT_WORK = 2
"""Tasks that are under way at once in `make_pool()`."""

SUBMITTED = "2026-11-20T00:00:00+00:00"

LOG = "FAKE_GRADING_LOG"
"""The environment variable that names a file: each task graded adds a line to it."""


def fake_grade(notebook: HandedIn, settings: Settings) -> Line:
    """What the file's first word says: a number of points, or something worse."""
    word, *rest = notebook.data.decode().split()
    if word == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif word == "die-once" and not Path(rest[0]).exists():
        Path(rest[0]).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    elif word == "hang":
        time.sleep(1000)
    elif word == "unable":
        raise CannotGrade("There is no torch on this machine.")
    elif word == "break":
        raise RuntimeError("a mistake of the grader's own")
    elif word == "slow":
        time.sleep(0.01)
    if log := os.environ.get(LOG):
        with Path(log).open("a") as file:
            file.write(f"{notebook.id}\n")
    return fake_line(notebook, int(word) if word.isdigit() else 0, provenance(settings, 0.5))


def fake_line(file: HandedIn, score: int, run: Provenance) -> Line:
    """A line with so many of two gradients right."""
    verdicts = tuple(
        Verdict(
            name,
            Outcome.PASS if number < score else Outcome.FAIL,
            Comparison(name.removeprefix("d"), None, None, None, None, None),
            Check.NOT_RUN,
            Check.NOT_RUN,
        )
        for number, name in enumerate(("da", "db"))
    )
    return Line(file, run, (), Report("fake", verdicts))


class InlinePool:
    """Grades a file when it is given, but answers in another order."""

    def __init__(self, script: dict[str, list[BaseException]] | None = None) -> None:
        self.script = script or {}
        self.capacity = 2
        self.seen: list[str] = []
        self.most = 0
        self.closed = False
        self._waiting: list[tuple[Future[Line], HandedIn, Settings]] = []

    def submit(
        self, fn: Callable[[HandedIn, Settings], Line], file: HandedIn, settings: Settings, /
    ) -> Future[Line]:
        future: Future[Line] = Future()
        self.seen.append(file.id)
        self._waiting.append((future, file, settings))
        self.most = max(self.most, len(self._waiting))
        return future

    def look_after(self) -> None:
        if self._waiting:
            future, file, settings = self._waiting.pop()
            errors = self.script.get(file.id)
            if errors:
                future.set_exception(errors.pop(0))
            else:
                future.set_result(fake_grade(file, settings))

    def shutdown(self, *, cancel_futures: bool) -> None:
        self.closed = True


def at_once() -> None:
    """Be ready."""


def refuse() -> None:
    raise CannotGrade("No sandbox here.")


def drop_dead() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def make_pool(width: int = 2, patience: float = 60.0) -> LocalPool:
    return LocalPool(width, at_once, patience, preload=__name__)


def make_class(root: Path, words: dict[str, str]) -> ClassFolder:
    """A class whose files hold these words; a student for each."""
    root.mkdir(exist_ok=True)
    for name, text in words.items():
        (root / name).write_text(text)
    return class_in(root)


def class_in(root: Path) -> ClassFolder:
    handed_in = tuple(
        HandedIn(path.name, path.stem, path.name, submitted=SUBMITTED, parts=(path.name,))
        for path in sorted(root.iterdir())
    )
    return ClassFolder(root, "plain", tuple(Student(h.student) for h in handed_in), handed_in)


def main() -> None:
    """Grade a class as the command does: FOLDER RESULTS."""
    folder = class_in(Path(sys.argv[1]))
    with Results(Path(sys.argv[2]), change=True) as results:
        run = Run(folder, SETTINGS, results, fake_grade)
        run.grade_all(make_pool, lambda tally: None)
        results.export()


if __name__ == "__main__":
    # Under its own name, so that the pool's processes find `fake_grade`.
    from tests.helpers import fake_grading

    fake_grading.main()
