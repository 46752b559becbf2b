"""How all commands print to a terminal, a pipe or a file."""

from __future__ import annotations

import os
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import TextWrapper
from typing import TextIO

import click

from grader.printable import printable, without_commands
from grader.user_error import needs_memory

NO_TERMINAL = (100, 24)
"""The columns and rows to assume if there is no terminal to ask."""


def complain(sentence: str) -> None:
    """Print a sentence to standard error."""
    click.echo(without_commands(_in_lines(sentence, sys.stderr)), err=True)


def say_sentences(text: str) -> None:
    """Print sentences to standard output."""
    say(_in_lines(text, sys.stdout))


def _in_lines(text: str, stream: TextIO) -> str:
    """Break text for a terminal between words, since a terminal breaks it anywhere."""
    if not stream.isatty():
        return text
    lines = TextWrapper(terminal_width(), break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines.fill(line) for line in text.split("\n"))


def say(text: str) -> None:
    """Print to standard output, whatever it is connected to, without commands to a workflow."""
    _say(text, without_commands)


def say_commands(text: str) -> None:
    """Print commands to GitHub's workflow. They must not contain a student's words."""
    _say(text, str)


def _say(text: str, finished: Callable[[str], str]) -> None:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        from grader.reports.terminal import in_ascii

        text = in_ascii(text)
    try:
        # The text has escape sequences only if they are wanted.
        click.echo(finished(text), nl=False, color=True)
    except OSError as error:
        # Otherwise the rest of the buffer would raise again when the interpreter exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # `| head` has simply seen enough
            raise click.ClickException(f"The output cannot be written: {error.strerror}.") from None


def terminal_width() -> int:
    """The columns of the terminal, or of an imagined one."""
    return shutil.get_terminal_size(NO_TERMINAL).columns


def has_colour() -> bool:
    """True if the terminal has colours, and the user's environment allows them (no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def waiting_for(path: Path) -> Iterator[None]:
    """Show a word on the terminal until there is something to show."""
    if not sys.stderr.isatty():
        yield
        return
    columns = terminal_width()
    click.echo(f"grading {printable(path.name)} ..."[: columns - 1], nl=False, err=True)
    try:
        yield
    finally:
        click.echo("\r" + " " * (columns - 1) + "\r", nl=False, err=True)


def own_failure(what: str, error: Exception) -> str:
    """The sentence for an error in the grader itself; developers can see the traceback."""
    if os.environ.get("GRADER_DEBUG"):
        traceback.print_exc()
    if needs_memory(error):
        return f"{printable(what)} needs more memory than this process may use."
    return (
        f"{printable(what)} failed, and not through your answers: {type(error).__name__}: "
        f"{printable(str(error))}. This is a mistake in the grader; please report it, with what "
        "GRADER_DEBUG=1 shows."
    )


def told(what: str, complaints: Sequence[str]) -> bool:
    """Print a line about something and the complaints below it; return True if there are none."""
    say(f"{what}: {'to mend' if complaints else 'in order'}\n")
    for sentence in complaints:
        say(f"  {sentence}\n")
    return not complaints
