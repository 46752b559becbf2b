"""`grader watch`: a board that follows a notebook from save to save."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from types import FrameType

import click

from grader.answer_cells import find_claims, which_notebook
from grader.blank_cells import notebook_of_prefix, read_blank_cells
from grader.commands import exit_codes
from grader.commands.speech import complain, own_failure, waiting_for
from grader.commands.timeout import limits, timeout_option
from grader.notebook_file import UnreadableNotebook, read_cells


@click.command()
@click.argument("notebook", metavar="NOTEBOOK", type=click.Path(path_type=Path))
@timeout_option
def watch(notebook: Path, timeout: float | None) -> int:
    """Check NOTEBOOK again whenever it is saved, until Ctrl-C.

    On a terminal this is a board that shows what passes, what does not and why, and what the last
    save changed. Elsewhere it is a few lines for each check. Only saved files can be seen: save
    after each answer, from JupyterLab, VS Code or any editor.

    The exit code is 0 once you stop it, and 2 if the file cannot be read as one of the course's
    notebooks to begin with.
    """
    try:
        cells = read_cells(notebook)
        which_notebook(notebook, cells, find_claims(cells), notebook_of_prefix(read_blank_cells()))
    except UnreadableNotebook as error:
        complain(str(error))
        return exit_codes.UNREADABLE
    told = Told()
    with _until_told(told):
        _follow(notebook, timeout, told)
    return told.exit_code or exit_codes.PASSED


class Told:
    """Whether, and by what, this program was told to end; Ctrl-C is how it ends well."""

    exit_code: int | None = None
    _not_now = False

    def end(self, number: int, _: FrameType | None) -> None:
        """Handle a signal: once, and not amid something that must not be left half done."""
        if self.exit_code is None:
            self.exit_code = exit_codes.PASSED if number == signal.SIGINT else 128 + number
            if not self._not_now:
                raise KeyboardInterrupt

    @contextmanager
    def not_now(self) -> Iterator[None]:
        """Do not end within this block, but after it."""
        self._not_now = True
        try:
            yield
        finally:
            self._not_now = False
        if self.exit_code is not None:
            raise KeyboardInterrupt


@contextmanager
def _until_told(told: Told) -> Iterator[None]:
    """Let Ctrl-C, a closed terminal and a polite kill end the block, all in good order."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = [signal.signal(number, told.end) for number in signals]
    try:
        yield
    except KeyboardInterrupt:
        pass
    except Exception:
        # An interrupt amid an import, or in a callback, arrives here as another exception.
        if told.exit_code is None:
            raise
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)


def _follow(notebook: Path, timeout: float | None, told: Told) -> None:
    from grader.runner import Runner
    from grader.sandbox import best_sandbox

    with Runner(limits(timeout), best_sandbox()) as runner:
        with waiting_for(notebook):  # the worker imports torch meanwhile, and so does this process
            from grader.commands.watch_display import choose_display
            from grader.regrading import Regrader
            from grader.saves import saves
            from grader.watch import Watch

        watched = Watch(
            notebook,
            Regrader(runner).grade,
            datetime.now,
            lambda error: own_failure(str(notebook), error),
        )
        with ExitStack() as stack:
            with told.not_now():  # half a change of screens could not be taken back
                display = stack.enter_context(choose_display(watched.board))
            for saved in itertools.chain([True], saves(notebook.absolute())):
                if watched.look(saved):
                    display.show(watched.board)
                    watched.check()
                if told.exit_code is not None:  # the exception was taken for another one
                    return
                display.show(watched.board)
