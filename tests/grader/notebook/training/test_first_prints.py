"""A function that prints at every step falls silent, and says so."""

from __future__ import annotations

import sys

import pytest

from grader.notebook.training.first_prints import SHOWN, first_prints

Capture = pytest.CaptureFixture[str]
SAID = "Mine prints at every step: from here on that is left out.\n"


def test_only_the_first_of_many_prints_is_shown(capsys: Capture) -> None:
    def mine(step: int, end: str = "\n") -> int:
        sys.stdout.write(f"step {step}{end}")
        return step

    quieter = first_prints(mine, "Mine")
    assert [quieter(step) for step in range(9)] == [*range(9)]
    shown = "".join(f"step {step}\n" for step in range(SHOWN))
    assert capsys.readouterr().out == shown + SAID
    assert sys.stdout.write("") == 0  # and nothing else falls silent
    on_one_line = first_prints(mine, "Mine")
    for step in range(9):
        on_one_line(step, end=" ")
    assert capsys.readouterr().out == f"step 0 step 1 step 2 \n{SAID}"


def test_what_is_printed_now_and_then_is_shown_always(capsys: Capture) -> None:
    def mine(step: int) -> None:
        if step % 4 < 2:
            sys.stdout.write(f"{step}\n")

    quieter = first_prints(mine, "Mine")
    for step in range(12):
        quieter(step)
    assert capsys.readouterr().out.split() == ["0", "1", "4", "5", "8", "9"]


def test_what_a_call_printed_before_it_raised_is_shown(capsys: Capture) -> None:
    def mine() -> None:
        sys.stdout.write("here\n")
        raise ValueError("there")

    quieter = first_prints(mine, "Mine")
    with pytest.raises(ValueError, match="there"):
        quieter()
    assert capsys.readouterr().out == "here\n"
