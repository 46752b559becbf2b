"""Points as text."""

from __future__ import annotations

from fractions import Fraction

PLACES = 6
"""A rubric rounds to no finer step."""


def points_text(points: Fraction) -> str:
    """Exact where a decimal can be, without needless zeros.

    >>> points_text(Fraction(47, 2)), points_text(Fraction(26))
    ('23.5', '26')
    """
    if points.denominator == 1:
        return str(points.numerator)
    text = f"{float(round(points, PLACES)):.{PLACES}f}"
    return text.rstrip("0").rstrip(".")
