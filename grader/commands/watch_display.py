"""Where the board of a watched notebook is shown: a terminal, or anything else."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from grader.commands.speech import has_colour, say, terminal_width
from grader.printable import printable
from grader.reports.watch_board import render_block, render_board, render_farewell
from grader.watch import Board


class Display(Protocol):
    """Shows a board again and again, and is left in good order."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def show(self, board: Board) -> None:
        """Show it, if it is another one, or is to be drawn another way."""


def choose_display(board: Board) -> Display:
    """The display for what standard output is connected to."""
    if sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        return Screen(board)
    return Lines(board)


class Screen:
    """A terminal's second screen; the first one comes back as it was, with the last result."""

    def __init__(self, board: Board) -> None:
        colour = has_colour()
        self._console = Console(
            color_system="standard" if colour else None,
            no_color=not colour,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self._board = board
        self._shown: tuple[Board, int, int] | None = None
        self._live = Live(
            console=self._console,
            screen=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        self._live.start()
        self.show(self._board)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):  # the terminal may be closed
            self._live.stop()
            say(render_farewell(self._board, terminal_width()))

    def show(self, board: Board) -> None:
        self._board = board
        width, height = self._console.size
        now = board, width, height
        if now != self._shown:
            lines = render_board(board, width, height)
            self._live.update(Text("\n").join(lines), refresh=True)
            self._shown = now


class Lines:
    """A pipe, a file or a terminal that can do no more: a block of lines for each check."""

    def __init__(self, board: Board) -> None:
        self._board = board

    def __enter__(self) -> Self:
        say(f"watching {printable(str(self._board.path))}: Ctrl-C to stop\n")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    def show(self, board: Board) -> None:
        if board.checking or board == self._board:
            return
        before, self._board = self._board, board
        if board.trouble:
            if board.trouble != before.trouble:
                say(f"\n{printable(board.trouble)}\n")
        else:
            say(f"\n{render_block(board, terminal_width())}")
