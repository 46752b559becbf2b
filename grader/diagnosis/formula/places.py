"""Formulas about places: where numbers are put, and which of them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.diagnosis.formula.node import Environment, Formula


@dataclass(frozen=True, eq=False)
class Scatter(Formula):
    """Numbers added up at the places of `like` from which `index` took them."""

    parts = ("body",)
    body: Formula
    index: Formula
    like: Formula

    def compute(self, environment: Environment) -> Tensor:
        like, index = environment(self.like), environment(self.index)
        # Places as numbers: an index may have slices, None and masks in it, too.
        places = torch.arange(like.numel()).view(like.shape)[index]
        taken = torch.as_tensor(environment(self.body), dtype=like.dtype).expand(places.shape)
        put = torch.zeros_like(like).flatten()
        put = put.index_put((places.flatten(),), taken.flatten(), accumulate=True)
        return put.view(like.shape)


@dataclass(frozen=True, eq=False)
class Route(Formula):
    """Numbers put where the largest of `chosen_from` stands along an axis, zeros elsewhere."""

    parts = ("body",)
    body: Formula
    chosen_from: Formula
    axis: int

    def compute(self, environment: Environment) -> Tensor:
        chosen_from = environment(self.chosen_from)
        body = torch.as_tensor(environment(self.body), dtype=chosen_from.dtype)
        places = chosen_from.argmax(self.axis, keepdim=True)
        return torch.zeros_like(chosen_from).scatter(self.axis, places, body.expand(places.shape))


@dataclass(frozen=True, eq=False)
class OneHot(Formula):
    """Rows like those of `like` with a one at the index, zeros elsewhere."""

    index: Formula
    like: Formula

    def compute(self, environment: Environment) -> Tensor:
        like, index = environment(self.like), environment(self.index)
        return F.one_hot(index, like.shape[-1]).to(like.dtype)


@dataclass(frozen=True, eq=False)
class Overwritten(Formula):
    """What stands under a sparse term, and at the places of that term the term alone."""

    parts = ("under", "over")
    under: Formula
    over: Formula

    def compute(self, environment: Environment) -> Tensor:
        over: Tensor = environment(self.over)
        return torch.where(over != 0, over, environment(self.under))


@dataclass(frozen=True, eq=False)
class Holds(Formula):
    """1 where a condition holds, or where it does not, else 0."""

    condition: Formula
    negated: bool = False

    def compute(self, environment: Environment) -> Tensor:
        condition: Tensor = environment(self.condition)
        return (~condition if self.negated else condition).double()


@dataclass(frozen=True, eq=False)
class Part(Formula):
    """Some of the body along one axis: where `start` and `stop` count from the end if negative."""

    parts = ("body",)
    body: Formula
    axis: int
    start: int | None
    stop: int | None

    def compute(self, environment: Environment) -> Tensor:
        body: Tensor = environment(self.body)
        part = torch.zeros_like(body)
        chosen = (slice(None),) * self.axis + (slice(self.start, self.stop),)
        part[chosen] = body[chosen]
        return part


@dataclass(frozen=True, eq=False)
class Permuted(Formula):
    """A wrong way back from a reshape: the axes of `like` taken in another order."""

    parts = ("body",)
    body: Formula
    like: Formula
    order: tuple[int, ...]

    def compute(self, environment: Environment) -> Tensor:
        shape = environment(self.like).shape
        body: Tensor = environment(self.body).reshape([shape[axis] for axis in self.order])
        return body.permute([self.order.index(axis) for axis in range(len(shape))])
