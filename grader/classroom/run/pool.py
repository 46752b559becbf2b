"""What a run needs of a pool of processes, and what can go wrong in one."""

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
    """What a run needs of a pool: a `concurrent.futures.Executor` that can be looked after."""

    @property
    def capacity(self) -> int:
        """So many files keep it busy; it is never given more."""

    def look_after(self) -> None:
        """Mend what can be mended; raises CannotGrade for the rest."""

    def submit(self, fn: Grade, file: HandedIn, settings: Settings, /) -> Future[Line]:
        """As an Executor does; the future raises Died or Displaced when a process is lost."""

    def shutdown(self, *, cancel_futures: bool) -> None:
        """End what is under way."""


class CannotGrade(UserError):
    """No notebook can be graded, or no more of them; the message is for the instructor.

    It has one argument, so that it survives the way from one process to another.
    """


class Died(Exception):
    """The process that graded a notebook ended, or was given up, before it was done.

    `times` is how often that is known to have happened.
    """

    def __init__(self, times: int = 1) -> None:
        super().__init__(times)
        self.times = times


class Displaced(Exception):
    """A notebook's turn never came in the process it was given to: it can be given to another."""
