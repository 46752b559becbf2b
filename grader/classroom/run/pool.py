"""The interface of a pool of processes, and its exceptions."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Protocol

from grader.user_error import UserError

if TYPE_CHECKING:
    from grader.classroom.intake.class_folder import HandedIn
    from grader.classroom.run.line import Line
    from grader.classroom.run.settings import Settings

Grade = Callable[["HandedIn", "Settings"], "Line"]


class Pool(Protocol):
    """The pool that a run needs: a `concurrent.futures.Executor` that can be looked after."""

    @property
    def capacity(self) -> int:
        """The number of files that keep it busy. It is never given more."""

    def look_after(self) -> None:
        """Repair what can be repaired; raise CannotGrade for the rest."""

    def submit(self, fn: Grade, file: HandedIn, settings: Settings, /) -> Future[Line]:
        """As in an Executor. The future raises Died or Displaced if a process is lost."""

    def shutdown(self, *, cancel_futures: bool) -> None:
        """End all running tasks."""


class CannotGrade(UserError):
    """No notebook, or no further one, can be graded; the message is for the instructor.

    It has only one argument, so that it can be passed from one process to another.
    """


class Died(Exception):
    """The process that graded a notebook ended or was given up before it was done.

    `times` is the number of times that this is known to have happened.
    """

    def __init__(self, times: int = 1) -> None:
        super().__init__(times)
        self.times = times


class Displaced(Exception):
    """A notebook's process was lost before its turn came, so another process can take it."""
