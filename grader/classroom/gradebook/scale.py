"""The number that a class's points are scaled to."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from grader.classroom.gradebook.rubric import MOST, number_in, points_text
from grader.printable import printable


@dataclass(frozen=True, slots=True)
class Scale:
    """To `to` points; or, where that is None, to the most that the platform's own column takes.

    `keeps` is true where points stay as they are, whatever a platform takes.
    """

    to: Fraction | None = None
    keeps: bool = False

    def target(self, platform: Fraction | None) -> Fraction | None:
        """What all points become, given the platform's maximum; None where points stay points."""
        return None if self.keeps else self.to if self.to is not None else platform


def factor(target: Fraction | None, most: Fraction) -> Fraction:
    """What points are multiplied with, of which `most` can be earned."""
    return Fraction(1) if target is None or not most else target / most


SCALE_TO_PLATFORM = Scale()


def read_scale(text: str) -> Scale:
    """The scale that is written "platform", "none" or as a number.

    Raises:
        ValueError: it is none of these; the message is a sentence.
    """
    if text in ("platform", "none"):
        return Scale(keeps=text == "none")
    if (number := maximum_in(text)) is not None and number <= MOST:
        return Scale(number)
    raise ValueError(f"{printable(text)!r} is no scale: write platform, none, or a number above 0.")


def maximum_in(text: str) -> Fraction | None:
    """The number above 0 that a platform, or a person, has written; None if there is none."""
    number = number_in(text)
    return number if number is not None and number > 0 else None


def graded_text(points: Fraction, factor: Fraction) -> str:
    """The grade that points become; whole where they are not scaled."""
    return points_text(points if factor == 1 else round(points * factor, 2))
