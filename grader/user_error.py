"""Errors that a command reports in one sentence."""

from __future__ import annotations

from grader.printable import printable


class SpokenError(Exception):
    """A notebook shows its message, which is a sentence, instead of a traceback."""

    def _render_traceback_(self) -> list[str]:  # what IPython shows, nbval and nbgrader with it
        return [str(self)]


class UserError(SpokenError):
    """A request cannot be fulfilled; the message is one sentence that says why."""


class BadInput(UserError, ValueError):
    """A function cannot be read or run as required; the message names the line."""


def reason(error: OSError | ValueError) -> str:
    """Why the system refused a request, as the end of a sentence: "permission denied"."""
    said = error.strerror if isinstance(error, OSError) else None
    return printable(said or str(error)).lower()


def needs_memory(error: Exception) -> bool:
    """True if Python or PyTorch ran out of memory, which is not an error in the grader."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and "allocate memory" in str(error)
    )
