"""Factors: numbers that depend on an instance's sizes, written as a student would write them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import CodeType

SAME = 1e-9
"""The largest relative difference of two float64 numbers that count as equal."""

Sizes = Mapping[str, int]

_FORMS = (
    *("{n}", "1/{n}", "{n}/({n} - 1)", "({n} - 1)/{n}", "({n} - 1)", "1/({n} - 1)", "({n} - 2)"),
    *("{n} * ({n} - 1)", "({n} - 1)**2", "{n}**2", "1/{n}**2", "{n}**0.5", "1/{n}**0.5"),
)
_FORMS_OF_TWO = ("{a}/{b}", "{a} * {b}", "1/({a} * {b})")
"""Expressions of one and of two sizes, the likeliest first."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A number times an expression of sizes, such as 2 * n/(n - 1)."""

    number: float
    sizes: str = ""

    @property
    def is_bessel(self) -> bool:
        return "- 1)" in self.sizes and "/" in self.sizes and not self.sizes.startswith("1/")

    @property
    def text(self) -> str:
        number = f"{round(self.number, 9):g}"
        if not self.sizes:
            return number
        return {"1": self.sizes, "-1": f"-{self.sizes}"}.get(number, f"{number} * {self.sizes}")

    def at(self, lecture: Sizes) -> str:
        """The factor at the lecture's sizes, and how it comes about."""
        value = f"{self.number * _value(self.sizes, lecture):.6g}"
        text = self.text
        if text.startswith("(") and text.find(")") == len(text) - 1:
            text = text[1:-1]
        # A number that is neither an integer nor 1 over a small one explains nothing.
        return f"{value} ({text})" if self.sizes and _is_simple(self.number) else value

    def written_out(self, lecture: Sizes) -> str | None:
        """The size that the code has as the lecture's number, if the factor gives it away.

        With 32 instead of n, the result is n/32 or 32/n times what it should be.
        """
        if not self.sizes or abs(self.number * _value(self.sizes, lecture) - 1) > SAME:
            return None
        return next((name for name in lecture if name in self.sizes), None)


def _is_simple(number: float) -> bool:
    """True for an integer, and for 1 over a small one."""
    return any(abs(x - round(x)) < SAME for x in (number, 1 / (number or 1)))


def name_factor(scales: Sequence[float], sizes: Sequence[Sizes]) -> Factor | None:
    """Find the expression of a factor that has these values on instances of these sizes.

    The result is None if the factor is not a number times a short expression of sizes.
    """
    for text in ("", *_expressions(list(sizes[0]))):
        numbers = [
            scale / value if (value := _value(text, size)) else math.nan
            for scale, size in zip(scales, sizes, strict=True)
        ]
        if all(abs(number - numbers[0]) <= SAME * abs(numbers[0]) for number in numbers):
            return Factor(numbers[0], text)
    return None


def _expressions(names: Sequence[str]) -> Iterator[str]:
    for name, form in itertools.product(names, _FORMS):
        yield form.format(n=name)
    for (one, other), form in itertools.product(itertools.permutations(names, 2), _FORMS_OF_TWO):
        yield form.format(a=one, b=other)


def _value(text: str, sizes: Sizes) -> float:
    """Evaluate an expression of sizes; an empty one is 1."""
    return float(eval(_compiled(text or "1"), {}, dict(sizes)))


@cache
def _compiled(text: str) -> CodeType:
    return compile(text, "<sizes>", "eval")
