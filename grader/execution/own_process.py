"""Jobs that run in the caller's own process, with the caller's own names."""

from __future__ import annotations

import math
import signal
import threading
import warnings
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager, nullcontext
from types import MappingProxyType
from typing import Any

import torch
import torch.nn.functional as F

from grader.verdict import because
from grader.worker.execution import TimeLimit, interrupt
from grader.worker.frames import Reply
from grader.worker.job import Job, JobRun, Values
from grader.worker.results import pack_results
from grader.worker.run_job import JobRunner
from grader.worker.terms import Limits

HOUR = 3600.0
"""Limits for the caller's code, which may take its time; edits of it have their own limits."""


class OwnProcess:
    """Runs trusted code where it is called, with neither a process nor a sandbox.

    Args:
        scope: the globals of the caller's code, which statements find beside the values they run
            on, and in place of them.
        beside: more values for some groups, of any type.
        own: names that statements do not find in a group, but have to bind themselves.
    """

    unbound = because("unbound-parameter")
    slowness = 6  # somebody waits for it

    def __init__(
        self,
        scope: Mapping[str, Any],
        beside: Mapping[str, Mapping[str, Any]],
        own: Set[str] = frozenset(),
    ) -> None:
        self.limits = Limits(HOUR, HOUR)
        self._scope = scope
        self._beside = beside
        self._own = own

    def run(self, job: Job, values: Values) -> Reply:
        """Make the runs of a job, and put back what it changes of PyTorch's state."""
        groups = {
            name: {**group, **self._beside.get(name, {})}
            for name, group in {**values.groups, **job.extra}.items()
        }
        runner = _OwnRunner(job, groups, MappingProxyType({}), math.inf)
        runner.scope, runner.own = self._scope, self._own
        default = torch.get_default_dtype()
        try:
            with (
                alarm_if_free() as runner.has_alarm,
                torch.random.fork_rng([]),
                torch.no_grad(),
                warnings.catch_warnings(),
            ):
                # An edit that is only tried may do what PyTorch warns of.
                warnings.simplefilter("ignore")
                results = list(runner.run_all(lambda _: None))
        finally:
            torch.set_default_dtype(default)
        return Reply(pack_results(results))

    def end_answer(self) -> None:
        """Do nothing, because there is no process to end."""


class _OwnRunner(JobRunner):
    """An executor whose caller may interrupt it, and may use the alarm for something else."""

    given: Mapping[str, Any] = MappingProxyType({"torch": torch, "F": F})
    precision = nullcontext  # the caller sees to it
    caught = (Exception, TimeLimit)
    scope: Mapping[str, Any]
    own: Set[str]
    has_alarm = False

    def set_alarm(self, seconds: float) -> None:
        if self.has_alarm:
            super().set_alarm(seconds)

    def namespace(self, run: JobRun) -> dict[str, Any]:
        found = super().namespace(run)
        return {name: found[name] for name in found.keys() - self.own} | {**self.scope}


@contextmanager
def alarm_if_free() -> Iterator[bool]:
    """Let alarms raise `TimeLimit`, if this thread may set them and no other code does."""
    may_set = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    if (
        not may_set
        or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL
        or any(signal.getitimer(signal.ITIMER_REAL))
    ):
        yield False
        return
    signal.signal(signal.SIGALRM, interrupt)
    try:
        yield True
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
