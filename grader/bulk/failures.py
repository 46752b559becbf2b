"""What can go wrong in a run, apart from what students hand in."""

from __future__ import annotations


class CannotGrade(Exception):
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
