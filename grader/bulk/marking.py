"""Grading in a pool's process: a task becomes a line, by way of a worker that stays warm."""

from __future__ import annotations

import gc
import platform
import threading
import time
from dataclasses import dataclass
from pathlib import Path, PurePath

import torch

from grader.answer import AnswerCell
from grader.bulk.failures import CannotGrade
from grader.bulk.line import Line, begin_line, error_line, run_member
from grader.bulk.settings import Settings, installed_versions
from grader.bulk.task import Task
from grader.exercises import FUSED_CROSS_ENTROPY
from grader.grading import grade, grade_exercise
from grader.notebook_file import UnreadableNotebook
from grader.printable import printable
from grader.reports.as_json import Json, report_as_json
from grader.reports.result import quote
from grader.runner import Limits, Reply, Runner, WorkerLost
from grader.sandbox import NoSandbox, Sandbox
from grader.submission import submission_in
from grader.verdict import Outcome, Report
from grader.worker.request import Request, Values

TRIALS = 3
"""How many workers may be lost in a row before there is no point in another."""


class Watched(Runner):
    """A runner that remembers whether its worker was lost."""

    lost = False

    def run(self, request: Request, values: Values) -> Reply:
        try:
            return super().run(request, values)
        except WorkerLost:
            self.lost = True
            raise


@dataclass(frozen=True, slots=True, eq=False)
class Post:
    """A worker, and for which settings it was started."""

    settings: Settings
    runner: Watched


_here = threading.local()  # `post`: with Dask, each thread has a worker of its own


def mark(task: Task, settings: Settings, name: PurePath) -> Line:
    """The line for a task; see `grader.bulk.task.grade_task`."""
    began = time.perf_counter()
    runner = _worker_for(settings)

    def run() -> Line:
        return run_member(settings, time.perf_counter() - began)

    try:
        submission = submission_in(task.data, Path(name))
        report = grade(submission.notebook, submission.cells, runner, settings.seed, wary=True)
        if runner.lost or any(flag.kind == "ended-process" for flag in report.flags):
            # Ended by what the answer did, or by somebody or something else: a second try tells.
            # Should workers be lost whatever they run, nobody is to have bad marks from it.
            _try_out(_here.post)
            report = grade(submission.notebook, submission.cells, runner, settings.seed, wary=True)
    except UnreadableNotebook as error:
        return error_line(task, "unreadable", str(error), run())
    except CannotGrade:
        raise
    except Exception as error:  # the other notebooks are graded all the same
        return error_line(task, "grader-failed", _own_failure(name, error), run())
    report = Report(report.notebook, report.verdicts, (*submission.flags, *report.flags))
    return begin_line(task) | _with_code(report, submission.cells) | {"run": run()}


def get_ready(settings: Settings) -> None:
    """Start this thread's worker; see `grader.bulk.task.get_ready`."""
    _worker_for(settings)


def _worker_for(settings: Settings) -> Watched:
    post: Post | None = getattr(_here, "post", None)
    if post is None or post.settings != settings:
        _dismiss_worker()
        _refuse_other_versions(settings)
        limits = Limits(settings.statement_seconds, settings.total_seconds, settings.memory_bytes)
        torch.set_num_threads(1)  # there are as many of these processes as cores
        try:
            post = _here.post = Post(settings, Watched(limits, Sandbox(settings.sandbox)))
        except NoSandbox as error:
            raise CannotGrade(f"On {platform.node()}: {error}") from None
        _try_out(post)
        # Syntax trees are garbage without cycles, thousands for each notebook; looking for cycles
        # in them, and in all of torch, takes a tenth of the judge's time.
        gc.freeze()
        gc.set_threshold(20_000, 20, 50)
    return post.runner


def _dismiss_worker() -> None:
    post: Post | None = getattr(_here, "post", None)
    if post is not None:
        _here.post = None
        post.runner.close()


def _refuse_other_versions(settings: Settings) -> None:
    expected, found = settings.versions.minor, installed_versions().minor
    if found != expected:
        raise CannotGrade(
            f"The worker on {platform.node()} has {found}, and the machine that asks has "
            f"{expected}: the same notebook could get another verdict there. Install the same "
            "versions on both."
        )


def _try_out(post: Post) -> None:
    """Run a right answer: were the sandbox broken, a class would fail and nobody would notice."""
    formula = FUSED_CROSS_ENTROPY.fused["logits"][0]
    cells = [AnswerCell("ex2-ready", f"dlogits = {formula}")]
    for _ in range(TRIALS):
        post.runner.lost = False
        judged, _ = grade_exercise(FUSED_CROSS_ENTROPY, cells, post.runner, post.settings.seed)
        if all(verdict.outcome is Outcome.PASS for verdict in judged):
            return
        if not post.runner.lost:
            break
    _dismiss_worker()
    raise CannotGrade(
        f"A worker on {platform.node()} does not run a right answer as it should "
        f"({judged[0].outcome}: {judged[0].note}). What is graded so far is kept."
    )


def _with_code(report: Report, cells: tuple[AnswerCell, ...]) -> Json:
    """The contract's JSON, each gradient with the student's own line."""
    document = report_as_json(report)
    gradients = document["gradients"]
    assert isinstance(gradients, list)
    for verdict, gradient in zip(report.verdicts, gradients, strict=True):
        gradient["code"] = quote(verdict.place, cells)
    return document


def _own_failure(name: PurePath, error: Exception) -> str:
    return (
        f"{printable(str(name))} could not be graded, and not through its answers: "
        f"{type(error).__name__}: {printable(str(error))}. This is a mistake in the grader; please "
        "report it."
    )
