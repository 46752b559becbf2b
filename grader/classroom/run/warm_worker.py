"""A worker that stays warm, so that a pool's process can grade one file after another."""

from __future__ import annotations

import platform
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import torch
from torch import Tensor

from grader.answer.parse import AnswerCell
from grader.classroom.intake.class_folder import HandedIn
from grader.classroom.run.line import Line, error_line, provenance
from grader.classroom.run.pool import CannotGrade
from grader.classroom.run.settings import Settings, installed_versions
from grader.execution.runner import Runner
from grader.execution.sandbox import NoSandbox, Sandbox
from grader.grading.grade import grade, grade_exercise
from grader.printable import printable
from grader.program.course import BadCourse
from grader.program.exercises import Exercise, exercises_of, load_exercises
from grader.reports import wording
from grader.reports.result import complete
from grader.submission.notebook_file import UnreadableNotebook
from grader.submission.read import submission_in
from grader.user_error import needs_memory
from grader.verdict import Outcome

TRIALS = 3
"""The number of workers in a row that may be lost before the process gives up."""


def _square(x: Annotated[Tensor, "n"]) -> Tensor:
    loss = (x**2).sum()
    return loss


TRIAL = Exercise("ready", "", _square, ("dx",), {"n": 3})
"""The exercise that a worker has to get right before it is trusted with a student's answer."""


class WarmWorker:
    """A worker for some settings, which grades one file after another.

    `closed` is True once the worker can no longer be relied on.
    """

    def __init__(self, settings: Settings, runner: Runner | None = None) -> None:
        """Start a worker and make sure that it runs answers. Tests give their own `runner`.

        Raises:
            CannotGrade: no notebook can be graded here.
        """
        _refuse_other_versions(settings)
        try:
            load_exercises(settings.course)
        except BadCourse as error:
            raise CannotGrade(str(error)) from None
        self.settings, self.closed = settings, False
        torch.set_num_threads(1)  # there are as many of these processes as cores
        try:
            self._runner = runner or Runner(settings.limits, Sandbox(settings.sandbox))
        except NoSandbox as error:
            raise CannotGrade(f"On {platform.node()}: {error}") from None
        self._try_out()

    def grade(self, file: HandedIn) -> Line:
        """Grade one file; for errors see `grader.classroom.run.grade_task`."""
        began = time.perf_counter()
        data, file = file.data, replace(file, data=b"")
        settings, runner = self.settings, self._runner

        def failed(kind: str, sentence: str) -> Line:
            run = provenance(settings, time.perf_counter() - began)
            return error_line(file, kind, sentence, run)

        try:
            submission = submission_in(data, Path(file.path), settings.course, solved=False)
            exercises = exercises_of(settings.course, submission.notebook)
            asked = exercises, submission.cells, runner, settings.seed
            report = grade(*asked, wary=True)
            if runner.lost or any(flag.kind == "ended-process" for flag in report.flags):
                # Ended by what the answer did, or by something else: a second try tells. Should
                # workers be lost whatever they run, nobody is to have bad marks from it.
                self._try_out()
                report = grade(*asked, wary=True)
        except UnreadableNotebook as error:
            return failed("unreadable", str(error))
        except BadCourse as error:  # no notebook of it can be graded
            raise CannotGrade(str(error)) from None
        except CannotGrade:
            raise
        except Exception as error:  # the other notebooks are graded all the same
            return failed(*_own_failure(file.path, error))
        report = complete(submission, report, exercises)
        run = provenance(settings, time.perf_counter() - began)
        return Line(file, run, report.flags, report)

    def close(self) -> None:
        """End the worker."""
        self.closed = True
        self._runner.close()

    def _try_out(self) -> None:
        """Run a right answer, because with a broken sandbox a whole class would fail unnoticed."""
        cells = [AnswerCell(f"{TRIAL.prefix}-ready", "dx = 2 * x")]
        for _ in range(TRIALS):
            self._runner.lost = False
            judged, _ = grade_exercise(TRIAL, cells, self._runner, self.settings.seed)
            if all(verdict.outcome is Outcome.PASS for verdict in judged):
                return
            if not self._runner.lost:
                break
        self.close()
        raise CannotGrade(
            f"A worker on {platform.node()} does not run a right answer as it should "
            f"({judged[0].outcome}: {wording.note(judged[0])}). What is graded so far is kept."
        )


def _refuse_other_versions(settings: Settings) -> None:
    expected, found = settings.versions.minor, installed_versions().minor
    if found != expected:
        raise CannotGrade(
            f"The worker on {platform.node()} has {found}, and the machine that asks has "
            f"{expected}: the same notebook could get another verdict there. Install the same "
            "versions on both."
        )


def _own_failure(name: str, error: Exception) -> tuple[str, str]:
    """The kind of the flag, and its sentence."""
    name = printable(name)
    if needs_memory(error):
        sentence = f"{name} could not be graded: it needs more memory than its judge may use."
        return "memory-limit", sentence
    return "grader-failed", (
        f"{name} could not be graded, and not through its answers: "
        f"{type(error).__name__}: {printable(str(error))}. This is a mistake in the grader; please "
        "report it."
    )
