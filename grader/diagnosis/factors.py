"""Factors: numbers that depend on an instance's sizes, written as a student would."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

SAME = 1e-9
"""Largest relative difference of two float64 numbers that are the same."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A number times an expression of sizes, such as 2 * n/(n - 1)."""

    number: float
    sizes: str = ""
    value_at: Callable[[Mapping[str, int]], float] = field(default=lambda _: 1.0)

    @property
    def is_bessel(self) -> bool:
        return "- 1)" in self.sizes and "/" in self.sizes and not self.sizes.startswith("1/")

    @property
    def text(self) -> str:
        number = f"{round(self.number, 9):g}"
        if not self.sizes:
            return number
        return {"1": self.sizes, "-1": f"-{self.sizes}"}.get(number, f"{number} * {self.sizes}")

    def at(self, lecture: Mapping[str, int]) -> str:
        """The factor at the lecture's sizes, and how it is made."""
        value = f"{self.number * self.value_at(lecture):.6g}"
        text = self.text
        if text.startswith("(") and text.find(")") == len(text) - 1:
            text = text[1:-1]
        return f"{value} ({text})" if self.sizes and self._is_simple else value

    @property
    def _is_simple(self) -> bool:
        """True where the number is a whole one or one part of a few."""
        return any(abs(x - round(x)) < SAME for x in (self.number, 1 / (self.number or 1)))

    def written_out(self, lecture: Mapping[str, int]) -> str | None:
        """The size that stands in the code as the lecture's number, if the factor gives it away.

        With 32 in the place of n, what comes out is n/32 or 32/n times what it should be.
        """
        if not self.sizes or abs(self.number * self.value_at(lecture) - 1) > SAME:
            return None
        return next((name for name in lecture if name in self.sizes), None)


def name_factor(scales: Sequence[float], sizes: Sequence[Mapping[str, int]]) -> Factor | None:
    """How a factor is written that has these values on instances of these sizes.

    None where it is no number times a short expression of sizes.
    """
    if all(abs(scale - scales[0]) <= SAME * abs(scales[0]) for scale in scales):
        return Factor(scales[0])
    for text, value_at in _expressions(sizes[0]):
        numbers = [
            scale / at if (at := value_at(size)) else math.nan
            for scale, size in zip(scales, sizes, strict=True)
        ]
        if all(abs(number - numbers[0]) <= SAME * abs(numbers[0]) for number in numbers):
            return Factor(numbers[0], text, value_at)
    return None


Sizes = Mapping[str, int]

_OF_ONE: tuple[tuple[str, Callable[[float], float]], ...] = (
    ("{n}", lambda n: n),
    ("1/{n}", lambda n: 1 / n),
    ("{n}/({n} - 1)", lambda n: n / (n - 1)),
    ("({n} - 1)/{n}", lambda n: (n - 1) / n),
    ("({n} - 1)", lambda n: n - 1),
    ("1/({n} - 1)", lambda n: 1 / (n - 1)),
    ("({n} - 2)", lambda n: n - 2),
    ("{n} * ({n} - 1)", lambda n: n * (n - 1)),
    ("({n} - 1)**2", lambda n: (n - 1) ** 2),
    ("{n}**2", lambda n: n * n),
    ("1/{n}**2", lambda n: 1 / n**2),
    ("sqrt({n})", math.sqrt),
    ("1/sqrt({n})", lambda n: 1 / math.sqrt(n)),
)
_OF_TWO: tuple[tuple[str, Callable[[float, float], float]], ...] = (
    ("{a}/{b}", lambda a, b: a / b),
    ("{a} * {b}", lambda a, b: a * b),
    ("1/({a} * {b})", lambda a, b: 1 / (a * b)),
)


def _expressions(names: Iterable[str]) -> Iterator[tuple[str, Callable[[Sizes], float]]]:
    """Expressions of one size or of two, the likeliest first."""
    names = list(names)
    for name in names:
        for form, of in _OF_ONE:
            yield form.format(n=name), partial(_of_sizes, of, (name,))
    for one, other in itertools.permutations(names, 2):
        for form, of_two in _OF_TWO:
            yield form.format(a=one, b=other), partial(_of_sizes, of_two, (one, other))


def _of_sizes(of: Callable[..., float], names: Sequence[str], sizes: Sizes) -> float:
    return of(*(sizes[name] for name in names))
