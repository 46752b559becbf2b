"""The display of progress while a class is graded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from grader.printable import listed, printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from grader.classroom.run.class_run import Tally

Show: TypeAlias = "Callable[[Tally], None]"
Clock = Callable[[], float]

REFRESH_SECONDS = 0.2
WINDOW_SECONDS = 30.0
"""The seconds over which the rate is measured, as the rest may be slower than the beginning."""

MOST_NAMED = 3
"""The most running files that are named."""

PLAIN_SECONDS = (10.0, 60.0)
"""How often, in seconds, a line is printed without a terminal: in the first minute, and later."""


def pace_by(clock: Clock) -> Callable[[Tally], tuple[float, str] | None]:
    """Make a function that tells a run's files per second and the time left, or None if unknown.

    Files that were graded by an earlier run do not count.
    """
    from rich.progress import Progress

    progress = Progress(get_time=clock, speed_estimate_period=WINDOW_SECONDS)
    task = progress.add_task("", total=None)

    def pace(tally: Tally) -> tuple[float, str] | None:
        progress.update(task, completed=tally.fresh)
        rate = progress.tasks[0].speed
        return (rate, as_clock((tally.total - tally.done) / rate)) if rate else None

    return pace


def as_clock(seconds: float) -> str:
    """
    >>> as_clock(3725.2)
    '1:02:05'
    """
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


@contextmanager
def bar_on(console: Console) -> Iterator[Show]:
    """A progress bar on a terminal."""
    from rich.live import Live

    pace, shown = pace_by(time.monotonic), 0.0
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def show(tally: Tally) -> None:
            nonlocal shown
            now = pace(tally)
            if time.monotonic() - shown >= REFRESH_SECONDS:
                shown = time.monotonic()
                live.update(_bar(tally, now), refresh=True)

        yield show


def _bar(tally: Tally, pace: tuple[float, str] | None) -> RenderableType:
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    words = [f"{tally.done:,}/{tally.total:,}"]
    if tally.last:
        words.append("the last ones")
    elif pace:
        rate, left = pace
        words += [f"{rate:.1f}/s", f"{left} left"]
    elif not tally.fresh:
        words.append("starting")
    row = Table.grid(padding=(0, 1), expand=True)
    row.add_column(ratio=1)
    row.add_column(no_wrap=True)
    row.add_row(
        ProgressBar(total=max(tally.total, 1), completed=tally.done), Text("  ".join(words))
    )
    below = [f"{tally.unreadable:,} unreadable"] if tally.unreadable else []
    return Group(row, Text("  ".join([*below, *still_running(tally)]), overflow="ellipsis"))


def still_running(tally: Tally) -> Iterator[str]:
    """Name the running files, once no others are left."""
    if tally.last:
        yield f"still running: {listed(map(printable, tally.last), most=MOST_NAMED)}"


def lines_to(say: Callable[[str], None], clock: Clock = time.monotonic) -> Show:
    """Print a line now and then to a file or a pipe, unless it would repeat the last one."""
    pace, began = pace_by(clock), clock()
    shown, said = began, tuple[object, ...]()

    def show(tally: Tally) -> None:
        nonlocal shown, said
        found, now = pace(tally), clock()
        first, later = PLAIN_SECONDS
        news = tally.done, tally.last
        if news != said and now - shown >= (first if now - began <= later else later):
            shown, said = now, news
            speed = " ({:.1f}/s, about {} left)".format(*found) if found else ""
            speed = "".join(f" ({each})" for each in still_running(tally)) or speed
            unreadable = f", {tally.unreadable:,} unreadable" if tally.unreadable else ""
            say(f"{tally.done:,} of {tally.total:,} done{unreadable}{speed}")

    return show
