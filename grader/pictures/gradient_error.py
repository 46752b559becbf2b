"""The error of a gradient: student minus reference, with its largest entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from grader.program.compare import RELATIVE_TOLERANCE, ROUNDING_NOISE

if TYPE_CHECKING:
    from torch import Tensor

Index = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class GradientError:
    """A student's gradient beside the reference, both as float64 arrays of the gradient's shape.

    `error` is NaN where one of them is NaN or infinite; `worst` is the index of the largest
    absolute error, None where no entry is finite.
    """

    student: NDArray[np.float64]
    reference: NDArray[np.float64]
    error: NDArray[np.float64]
    worst: Index | None

    @property
    def largest(self) -> float:
        """The largest absolute error among the finite entries."""
        return 0.0 if self.worst is None else abs(float(self.error[self.worst]))

    @property
    def broken(self) -> int:
        """The number of entries that are NaN or infinite."""
        return int(np.isnan(self.error).sum())

    @property
    def tolerance(self) -> float:
        """The largest error that counts as rounding, as in `grader.program.compare`."""
        finite = self.reference[np.isfinite(self.reference)]
        return RELATIVE_TOLERANCE * float(np.abs(finite).max(initial=0.0)) + ROUNDING_NOISE

    @property
    def is_right(self) -> bool:
        """True if every entry is finite and right up to rounding."""
        return not self.broken and self.largest <= self.tolerance

    def in_words(self, name: str, whose: str = "your") -> tuple[str, list[str]]:
        """A title, and the sentences that belong below it; `name` is the gradient's."""
        if self.is_right:
            right = "right, up to rounding" if self.largest else "equal to the reference"
            return f"{name}: {right}", []
        if self.broken:
            verb = "is" if self.broken == 1 else "are"
            title = f"{name}: ✕ {self.broken} of {self.error.size} entries {verb} NaN or inf"
        if self.worst is None:
            return title, []
        if self.largest <= self.tolerance:
            return title, ["The others are right."]
        where = f" at [{', '.join(map(str, self.worst))}]" if self.worst else ""
        largest = f"{in_digits(self.largest)}{where}"
        there = " there" if where else ""
        ours, theirs = in_digits(self.student[self.worst]), in_digits(self.reference[self.worst])
        values = f"{whose.capitalize()} value{there} is {ours}, autograd's is {theirs}."
        if self.broken:
            return title, [f"Largest error {largest}.", values]
        return f"{name}: largest error {largest}", [values]


def measure_error(student: Tensor, reference: Tensor) -> GradientError:
    """Compare two real tensors of one non-empty shape and any dtype, in float64."""
    ours, theirs = (tensor.detach().cpu().double().numpy() for tensor in (student, reference))
    error = np.full(ours.shape, np.nan)
    finite = np.isfinite(ours) & np.isfinite(theirs)
    np.subtract(ours, theirs, out=error, where=finite)
    if not finite.any():
        return GradientError(ours, theirs, error, None)
    flat = int(np.nanargmax(np.abs(error)))
    worst = tuple(int(place) for place in np.unravel_index(flat, error.shape))
    return GradientError(ours, theirs, error, worst)


def in_digits(value: float, digits: int = 3) -> str:
    """Write a number with so many significant digits and a true minus sign."""
    return f"{value:.{digits}g}".replace("-", "−")
