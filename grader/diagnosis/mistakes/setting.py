"""The setting of one gradient's mistakes: an instance with its names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from grader.diagnosis.formula.node import DoesNotFit, Environment, Formula
from grader.diagnosis.kinds import Kind


@dataclass(frozen=True, slots=True, eq=False)
class Mistake:
    """A formula with one mistake in it: what kind it is, and a sentence that says what it does."""

    kind: Kind
    formula: Formula
    message: str


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What the mistakes of one gradient are made from.

    `environment` is a hidden instance; `given` are the tensors whose gradients are handed down;
    `sizes` are the lecture's by name; `operand_of` has, for each step that is one elementwise
    function of a tensor, that tensor; `through` is the reader whose branch is looked at, where
    the gradient has several.
    """

    gradient: str
    environment: Environment
    given: frozenset[str]
    sizes: Mapping[str, int]
    operand_of: Mapping[str, str]
    tensors: Sequence[str] = field(default=())
    through: str | None = None

    @property
    def subject(self) -> str:
        """What a sentence is about: the gradient, or the part of it that is looked at."""
        if self.through is None:
            return f"`{self.gradient}`"
        return f"The part of `{self.gradient}` that comes through `{self.through}`"

    def count_name(self, formula: Formula) -> str:
        """What the number of elements is called, where it is one of the sizes."""
        number = self.environment(formula)
        sizes = (name for name in self.sizes if self.environment.values.get(name) == number)
        return next(sizes, "the number of elements")

    @property
    def indices(self) -> list[str]:
        """The names of index vectors, such as the labels."""
        values = self.environment.values
        return [
            name
            for name in self.tensors
            if values[name].dim() == 1 and not values[name].is_floating_point()
        ]

    def shape(self, formula: Formula) -> tuple[int, ...] | None:
        """The shape of a node's value, () for a number, None where it has none."""
        try:
            value = self.environment(formula)
        except DoesNotFit:
            return None
        return tuple(value.shape) if isinstance(value, Tensor) else ()

    def is_constant(self, formula: Formula) -> bool:
        return self.shape(formula) == ()


Edit = tuple[Kind, Formula, str]
