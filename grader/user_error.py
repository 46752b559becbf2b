"""The error that a command tells in one sentence."""

from __future__ import annotations

from grader.printable import printable


class SpokenError(Exception):
    """A notebook shows its message, a sentence, in place of a traceback."""

    def _render_traceback_(self) -> list[str]:  # what IPython shows, nbval and nbgrader with it
        return [str(self)]


class UserError(SpokenError):
    """What was asked for cannot be done; the message is one sentence that says why."""


class BadInput(UserError, ValueError):
    """A function that cannot be read or run as it has to be; the message names the line."""


def reason(error: OSError | ValueError) -> str:
    """Why the system refused, as the end of a sentence: "permission denied"."""
    said = error.strerror if isinstance(error, OSError) else None
    return printable(said or str(error)).lower()


def needs_memory(error: Exception) -> bool:
    """True for what Python or PyTorch raises where memory runs out: no mistake of the grader's."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and "allocate memory" in str(error)
    )
