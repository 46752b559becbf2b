"""Formulas as trees: nodes that have a value, the walk over them, the editing of them."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

from torch import Tensor

Put = Callable[["Formula"], "Formula"]
"""Puts another node in some node's place; the whole formula comes back anew."""


UNFIT = (
    *(RuntimeError, LookupError, TypeError, ValueError, NameError, AttributeError),
    ArithmeticError,
)
"""What Python and torch raise where a tensor's shape, or a number in its place, goes nowhere."""


class DoesNotFit(Exception):
    """A formula has no value: the shapes of its parts do not go together."""


@dataclass(frozen=True, eq=False)
class Formula:
    """A node of a formula; equal only to itself, so that values can be remembered by node."""

    parts: ClassVar[tuple[str, ...]] = ()
    """The fields that hold what the value is computed from; others give a shape or places."""

    def children(self) -> Iterator[tuple[Formula, Put]]:
        """The formulas directly inside, each with what puts another in its place."""
        for name in self.parts:
            value = getattr(self, name)
            if isinstance(value, Formula):
                yield value, partial(self._with, name)
            else:
                for number, part in enumerate(value):
                    yield part, partial(self._with_item, name, number)

    def _with(self, name: str, new: Formula) -> Formula:
        return replace(self, **{name: new})

    def _with_item(self, name: str, number: int, new: Formula) -> Formula:
        items = getattr(self, name)
        return replace(self, **{name: (*items[:number], new, *items[number + 1 :])})

    def compute(self, environment: Environment) -> Any:
        """This node's value; those of its children come from `environment`."""
        raise NotImplementedError


@dataclass(slots=True, eq=False)
class Environment:
    """What formulas are evaluated on: forward values and upstream gradients by tensor."""

    values: Mapping[str, Any]
    upstreams: Mapping[str, Tensor]
    known: MutableMapping[Formula, Any] = field(default_factory=dict)

    def __call__(self, formula: Formula) -> Any:
        """The value of a formula: a tensor, or a number.

        Raises:
            DoesNotFit: its parts do not go together, as those of a mistake may not.
        """
        if formula not in self.known:
            try:
                self.known[formula] = formula.compute(self)
            except UNFIT as error:
                raise DoesNotFit(f"{type(formula).__name__}: {error}") from error
        return self.known[formula]

    def aside(self) -> Environment:
        """The same for formulas that are made for one answer: what is new to it, it forgets."""
        return Environment(self.values, self.upstreams, ChainMap({}, self.known))


def walk(formula: Formula) -> Iterator[tuple[Formula, Put]]:
    """Every node, outermost first, with the function that puts another in its place.

    The function returns the whole formula anew; nodes beside the way to the root are shared.
    """
    yield formula, _itself
    for child, put in formula.children():
        for inner, put_inside in walk(child):
            yield inner, partial(_put_deeper, put, put_inside)


def _itself(new: Formula) -> Formula:
    return new


def _put_deeper(put: Put, put_inside: Put, new: Formula) -> Formula:
    return put(put_inside(new))


def size(formula: Formula) -> int:
    """How many nodes a formula has."""
    return 1 + sum(size(child) for child, _ in formula.children())
