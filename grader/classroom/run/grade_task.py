"""The task of a pool's processes."""

# `warm_worker` is imported where it is needed, so that the process that hands out tasks does not
# wait for torch.

from __future__ import annotations

import gc
import threading
from functools import partial
from typing import TYPE_CHECKING

from grader.classroom.intake.class_folder import HandedIn
from grader.classroom.run.line import Line
from grader.classroom.run.local_pool import LocalPool
from grader.classroom.run.settings import Settings, task_seconds

if TYPE_CHECKING:
    from grader.classroom.run.warm_worker import WarmWorker

_here = threading.local()  # `worker`: with Dask, each thread has a worker of its own


def grade_task(file: HandedIn, settings: Settings) -> Line:
    """Grade one file in this process, with the warm worker of this thread.

    Raises:
        CannotGrade: this process cannot grade any notebook, so it is not this one's fault.
    """
    return get_ready(settings).grade(file)


def local_pool(settings: Settings, width: int) -> LocalPool:
    """Start a pool of at most `width` processes on this machine, which grade with these settings.

    Raises:
        CannotGrade: no process can be started here.
    """
    return LocalPool(
        width,
        ready=partial(get_ready, settings),
        patience=task_seconds(settings.limits),
        preload="grader.classroom.run.warm_worker",
    )


def get_ready(settings: Settings) -> WarmWorker:
    """Start this thread's worker, unless it has one for these settings.

    Raises:
        CannotGrade: no notebook can be graded here.
    """
    from grader.classroom.run.warm_worker import WarmWorker

    worker: WarmWorker | None = getattr(_here, "worker", None)
    if worker is None or worker.closed or worker.settings != settings:
        if worker is not None:
            worker.close()
        worker = _here.worker = WarmWorker(settings)
        # Syntax trees are garbage without cycles, thousands for each notebook; looking for cycles
        # in them, and in all of torch, takes a tenth of the judge's time.
        gc.freeze()
        gc.set_threshold(20_000, 20, 50)
    return worker
