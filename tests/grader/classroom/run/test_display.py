from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from grader.classroom.run.class_run import Tally
from grader.classroom.run.display import as_clock, bar_on, lines_to, pace_by

HALF = Tally(10_000, kept=1_000, graded=4_990, unreadable=10)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (59.6, "1:00"), (61, "1:01"), (3600, "1:00:00")]
)
def test_clock(seconds: float, text: str) -> None:
    assert as_clock(seconds) == text


def test_the_rate_is_that_of_this_run_and_of_late() -> None:
    clock = Clock()
    pace, tally = pace_by(clock), Tally(1_000, kept=500, graded=500)
    assert pace(tally) is None
    for second in range(100):
        clock.now = 10.0 + second
        tally.graded += 1 if second < 50 else 4
        now = pace(tally)
    assert now is not None
    rate, left = now
    assert rate == pytest.approx(4.0)
    assert left == as_clock((1_000 - tally.done) / 4)


@pytest.mark.slow
def test_lines_come_by_time_not_by_file() -> None:
    said: list[str] = []
    clock = Clock()
    show, tally = lines_to(said.append, clock), Tally(100_000)
    for tick in range(0, 36_000):  # an hour, ten files a second
        clock.now = tick / 10
        tally.graded += 1
        show(tally)
    assert 60 <= len(said) <= 70
    assert said[0] == "101 of 100,000 done (10.0/s, about 2:46:30 left)"
    clock.now += 3_600
    show(Tally(100_000, graded=39_990, unreadable=10))
    assert said[-1].startswith("40,000 of 100,000 done, 10 unreadable")


def test_no_line_comes_twice() -> None:
    said: list[str] = []
    clock = Clock()
    show, tally = lines_to(said.append, clock), Tally(3)
    for second in range(100):
        clock.now = float(second)
        tally.graded = second // 60
        show(tally)
    assert [line.partition(" done")[0] for line in said] == ["0 of 3", "1 of 3"]


def test_what_still_runs_is_named_once_nothing_waits() -> None:
    said: list[str] = []
    clock = Clock()
    show, tally = lines_to(said.append, clock), Tally(10, graded=6, running=("eve/x", "bob/x"))
    for clock.now in (0.0, 1.0, 12.0):
        show(tally)
    tally.graded, clock.now = 8, 23.0
    show(tally)
    tally.graded, tally.running, clock.now = 9, ("eve/\x1bx",), 60.0
    show(tally)
    assert "still running" not in said[0]
    assert said[1] == "8 of 10 done (still running: eve/x and bob/x)"
    assert said[2] == r"9 of 10 done (still running: eve/\x1bx)"
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=60, height=20, color_system=None)
    with bar_on(console) as show:
        show(tally)
    assert r"still running: eve/\x1bx" in file.getvalue()
    assert "left" not in file.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_the_bar_fits_the_terminal(width: int) -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=width, height=20, color_system=None)
    with bar_on(console) as show:
        show(replace(HALF))
    bar, words = file.getvalue().split("\n")[:2]
    assert bar.endswith("5,000/10,000")
    assert words.startswith("10 unreadable")
