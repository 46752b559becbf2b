"""What the exit status of `grader` means."""

PASSED = 0
"""Every gradient of every notebook passes; or a command that gives no verdict has done its work."""
NOT_PASSED = 1
"""Something is to do, carried, fails, errs or is refused; or was left undone."""
UNREADABLE = 2
"""A file could not be read as one of the course's notebooks, or a report could not be written."""
INTERRUPTED = 130
"""Ctrl-C, as shells report it."""
