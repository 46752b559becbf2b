"""Students whose answers other graders are tried on, each a way to fill in a cell.

A way takes an answer cell with its solutions between their markers, below what a student begins
with, and the cell's number in its notebook.
"""

from __future__ import annotations

import re
from collections.abc import Callable

FULL = {
    "01_atomic_backprop": 26,
    "02_fused_cross_entropy": 2,
    "03_fused_batchnorm": 6,
    "04_manual_training": 13,
}
"""The points of a right answer to each notebook."""

SOLUTION = re.compile(
    r"(?P<blanks>(?:^d\w+ = \.\.\.  # your turn\n)+)### BEGIN SOLUTION\n(?P<lines>.*?)"
    r"^### END SOLUTION",
    re.MULTILINE | re.DOTALL,
)


def full(cell: str, _number: int) -> str:
    return cell


def blank(cell: str, _number: int) -> str:
    return SOLUTION.sub(lambda solution: solution["blanks"], cell)


def half(cell: str, number: int) -> str:
    """Every other solution: those below a gap are handed `...` from above."""
    kept = [number % 2 == 0]

    def choose(solution: re.Match[str]) -> str:
        chosen = solution["lines"] if kept[0] else solution["blanks"]
        kept[0] = not kept[0]
        return chosen

    return SOLUTION.sub(choose, cell)


def wrong(cell: str, _number: int) -> str:
    """Every gradient twice as large as its own line should make it."""

    def double(solution: re.Match[str]) -> str:
        gradients = re.findall(r"^(d\w+)", solution["blanks"], re.MULTILINE)
        doubled = "".join(f"{name} = 2 * {name} + 1\n" for name in gradients)
        return solution["lines"] + doubled

    return SOLUTION.sub(double, cell)


def stumbling(cell: str, number: int) -> str:
    """Right, but for a line that raises and one that is not Python; noisy, with own names."""
    match number % 4:
        case 0:
            return cell + "\nimport warnings\nwarnings.warn('look out')"
        case 1:
            return cell + "\n1 / 0"
        case 2:
            return cell + "\nif True"
        case _:
            return cell + "\ncheck = points = 3"


STUDENTS: dict[str, Callable[[str, int], str]] = {
    "blank": blank,
    "full": full,
    "half": half,
    "stumbling": stumbling,
    "wrong": wrong,
}
