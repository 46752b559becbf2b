"""Whether a figure is what the project promises, in the words of the other benchmarks."""

from __future__ import annotations


def at_most(value: float, bound: float, unit: str = "") -> str:
    """The end of a line about a figure that is to be small."""
    return _said(value <= bound, f"at most {bound:,g}{unit}")


def at_least(value: float, bound: float, unit: str = "") -> str:
    """The end of a line about a figure that is to be large."""
    return _said(value >= bound, f"at least {bound:,g}{unit}")


def _said(reached: bool, goal: str) -> str:
    return f"(goal: {goal}: {'reached' if reached else 'MISSED'})"
