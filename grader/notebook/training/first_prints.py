"""A student's function that prints at every step: shown at the first steps, then left out."""

from __future__ import annotations

import functools
import io
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import ParamSpec, TextIO, TypeVar

SHOWN = 3
"""After so many calls in a row that printed, no more is shown: a training has 200,000 steps."""

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


class _Ear(io.StringIO):
    """Standard output during a call: hands on what is printed, or not, and knows how it ended."""

    def __init__(self, out: TextIO, is_muted: bool) -> None:
        super().__init__()
        self.out, self.is_muted, self.last = out, is_muted, ""

    def write(self, text: str) -> int:
        self.last = text or self.last
        return len(text) if self.is_muted else self.out.write(text)

    def flush(self) -> None:
        self.out.flush()


def first_prints(function: Callable[Given, Returned], name: str) -> Callable[Given, Returned]:
    """The function; of what it prints call after call only the first is shown.

    What it prints now and then, such as at every thousandth step, is shown always.

    Args:
        function: what a training calls at each step.
        name: what the sentence calls it that says where the rest is.
    """
    in_a_row = 0

    @functools.wraps(function)
    def quieter(*args: Given.args, **kwargs: Given.kwargs) -> Returned:
        nonlocal in_a_row
        # A loop that prints nothing is not to blame for the update that it calls.
        out = sys.stdout.out if isinstance(sys.stdout, _Ear) else sys.stdout
        ear = _Ear(out, is_muted=in_a_row == SHOWN)
        try:
            with redirect_stdout(ear):
                return function(*args, **kwargs)
        finally:
            if in_a_row < SHOWN:
                in_a_row = in_a_row + 1 if ear.last else 0
                if in_a_row == SHOWN:
                    end = "" if ear.last.endswith("\n") else "\n"
                    said = f"{name} prints at every step: from here on that is left out."
                    print(f"{end}{said}", file=out)

    return quieter
