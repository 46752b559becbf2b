"""The comparison: what the lecture's line says of one gradient."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Comparison:
    """A gradient compared with a reference, as the lecture's line shows it.

    `exact`, `approximate` and `maxdiff` are None where there is nothing to compare (`problem`
    says why); `shape` is None where the student's value is not a tensor. `maxdiff` is in the
    units of the gradient (nats per unit of the tensor), `relative` in those of the reference's
    largest value.
    """

    name: str
    exact: bool | None
    approximate: bool | None
    maxdiff: float | None
    shape: tuple[int, ...] | None
    expected_shape: tuple[int, ...] | None
    problem: str = ""
    relative: float | None = None

    @property
    def line(self) -> str:
        """The lecture's line, `name | exact: True | approximate: True | maxdiff: 0.0`."""
        if self.exact is None:
            return f"{self.name:15s} | {self.problem}"
        maxdiff = "-" if self.maxdiff is None else self.maxdiff
        return (
            f"{self.name:15s} | exact: {self.exact!s:5s} | approximate: {self.approximate!s:5s}"
            f" | maxdiff: {maxdiff}"
        )

    def _ipython_display_(self) -> None:
        """Show nothing below a cell that ends in `cmp(...)`: the line has been printed."""

    def __str__(self) -> str:
        if self.exact is None or not self.problem:
            return self.line
        return f"{self.line}\n{'':15s} | {self.problem}"
