"""Formulas along axes: reductions, copies, matrix products, other orders of the same numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.diagnosis.formula.node import Environment, Formula


@dataclass(frozen=True, eq=False)
class Reduce(Formula):
    """A sum or a mean over axes; over all of them where `axes` is empty."""

    parts = ("body",)
    body: Formula
    axes: tuple[int, ...]
    keepdim: bool
    mean: bool = False

    def compute(self, environment: Environment) -> Tensor:
        body: Tensor = environment(self.body)
        axes = self.axes or tuple(range(body.dim()))
        return body.mean(axes, self.keepdim) if self.mean else body.sum(axes, self.keepdim)


@dataclass(frozen=True, eq=False)
class Count(Formula):
    """How many numbers of the body one of its reduction's results is made of."""

    body: Formula
    axes: tuple[int, ...]

    def compute(self, environment: Environment) -> int:
        shape = environment(self.body).shape
        count = 1
        for axis in self.axes or range(len(shape)):
            count *= shape[axis]
        return count


@dataclass(frozen=True, eq=False)
class Expand(Formula):
    """Copies along the axes that a reduction of `like` removed."""

    parts = ("body",)
    body: Formula
    like: Formula
    axes: tuple[int, ...]
    keepdim: bool

    def compute(self, environment: Environment) -> Tensor:
        like = environment(self.like)
        body = torch.as_tensor(environment(self.body), dtype=like.dtype)
        if body.dim() and not self.keepdim:
            for axis in sorted(axis % like.dim() for axis in self.axes):
                body = body.unsqueeze(axis)
        return body.expand(like.shape)


@dataclass(frozen=True, eq=False)
class Softmax(Formula):
    """The softmax along an axis; the shape is that of `body`."""

    parts = ("body",)
    body: Formula
    axis: int

    def compute(self, environment: Environment) -> Tensor:
        return F.softmax(environment(self.body), self.axis)


@dataclass(frozen=True, eq=False)
class Matmul(Formula):
    """A matrix product: shapes (..., n, k) and (..., k, m) give (..., n, m)."""

    parts = ("left", "right")
    left: Formula
    right: Formula

    def compute(self, environment: Environment) -> Tensor:
        product: Tensor = environment(self.left) @ environment(self.right)
        return product


@dataclass(frozen=True, eq=False)
class Transpose(Formula):
    """Two axes exchanged, the last two unless others are given; `batched` if there are more."""

    parts = ("body",)
    body: Formula
    axes: tuple[int, int] = (-2, -1)
    batched: bool = False

    def compute(self, environment: Environment) -> Tensor:
        transposed: Tensor = environment(self.body).transpose(*self.axes)
        return transposed


@dataclass(frozen=True, eq=False)
class Permute(Formula):
    """The axes in another order."""

    parts = ("body",)
    body: Formula
    order: tuple[int, ...]

    def compute(self, environment: Environment) -> Tensor:
        permuted: Tensor = environment(self.body).permute(self.order)
        return permuted


@dataclass(frozen=True, eq=False)
class Reshape(Formula):
    """The same numbers in the same order, in the shape of `like`."""

    parts = ("body",)
    body: Formula
    like: Formula

    def compute(self, environment: Environment) -> Tensor:
        reshaped: Tensor = environment(self.body).reshape(environment(self.like).shape)
        return reshaped


def orders(dimensions: int) -> Iterator[tuple[int, ...]]:
    """Every order of axes but the usual one."""
    usual = tuple(range(dimensions))
    return (order for order in itertools.permutations(usual) if order != usual)
