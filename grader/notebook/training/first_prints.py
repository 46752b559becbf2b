"""A student's function that prints at every step: shown at the first steps, then left out."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import ParamSpec, TypeVar

SHOWN = 3
"""After so many calls in a row that printed, no more is shown: a training has 200,000 steps."""

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def first_prints(function: Callable[Given, Returned], name: str) -> Callable[Given, Returned]:
    """Show what a function prints, but no longer once it has printed at several calls in a row.

    What it prints only now and then, such as at every thousandth step, is always shown.

    Args:
        function: what a training calls at each step.
        name: what the last sentence calls it, which says that the rest is left out.
    """
    in_a_row = 0

    @functools.wraps(function)
    def quieter(*args: Given.args, **kwargs: Given.kwargs) -> Returned:
        nonlocal in_a_row
        printed = io.StringIO()
        try:
            with redirect_stdout(printed):
                return function(*args, **kwargs)
        finally:
            text = printed.getvalue()
            if in_a_row < SHOWN:
                print(text, end="")
                in_a_row = in_a_row + 1 if text else 0
                if in_a_row == SHOWN:
                    end = "" if text.endswith("\n") else "\n"
                    print(f"{end}{name} prints at every step: from here on that is left out.")

    return quieter
