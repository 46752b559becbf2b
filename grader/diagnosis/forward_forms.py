"""The forms of expression that only forward passes have."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.diagnosis.formula.node import Environment, Formula


@dataclass(frozen=True, eq=False)
class Taken(Formula):
    """`body[index]`."""

    parts = ("body",)
    body: Formula
    index: Formula

    def compute(self, environment: Environment) -> Tensor:
        taken: Tensor = environment(self.body)[environment(self.index)]
        return taken


@dataclass(frozen=True, eq=False)
class Copied(Formula):
    """`body.expand(...)`: the body in the shape of `like`, by broadcasting."""

    parts = ("body",)
    body: Formula
    like: Formula

    def compute(self, environment: Environment) -> Tensor:
        copied: Tensor = environment(self.body).expand(environment(self.like).shape)
        return copied


@dataclass(frozen=True, eq=False)
class Largest(Formula):
    """`body.max(axis, keepdim=True).values`, or `amax`."""

    parts = ("body",)
    body: Formula
    axis: int
    keepdim: bool

    def compute(self, environment: Environment) -> Tensor:
        body: Tensor = environment(self.body)
        return body.amax(self.axis, keepdim=self.keepdim)


@dataclass(frozen=True, eq=False)
class Variance(Formula):
    """`body.var(axes, keepdim=...)`, in which n - correction stands below."""

    parts = ("body",)
    body: Formula
    axes: tuple[int, ...]
    keepdim: bool
    correction: int

    def compute(self, environment: Environment) -> Tensor:
        body: Tensor = environment(self.body)
        axes = self.axes or tuple(range(body.dim()))
        return body.var(axes, correction=self.correction, keepdim=self.keepdim)


@dataclass(frozen=True, eq=False)
class LogSoftmax(Formula):
    """`F.log_softmax(body, axis)`."""

    parts = ("body",)
    body: Formula
    axis: int

    def compute(self, environment: Environment) -> Tensor:
        return F.log_softmax(environment(self.body), self.axis)


@dataclass(frozen=True, eq=False)
class LogSumExp(Formula):
    """`body.logsumexp(axis, keepdim=...)`."""

    parts = ("body",)
    body: Formula
    axis: int
    keepdim: bool

    def compute(self, environment: Environment) -> Tensor:
        body: Tensor = environment(self.body)
        return body.logsumexp(self.axis, self.keepdim)


@dataclass(frozen=True, eq=False)
class Chosen(Formula):
    """`torch.where(condition, one, other)`, or `other.masked_fill(condition, one)`."""

    parts = ("one", "other")
    condition: Formula
    one: Formula
    other: Formula

    def compute(self, environment: Environment) -> Tensor:
        return torch.where(
            environment(self.condition), environment(self.one), environment(self.other)
        )


@dataclass(frozen=True, eq=False)
class CrossEntropy(Formula):
    """`F.cross_entropy(logits, target, label_smoothing=...)`, the mean over the rows."""

    parts = ("logits",)
    logits: Formula
    target: Formula
    smoothing: Formula | None

    def compute(self, environment: Environment) -> Tensor:
        smoothing = 0.0 if self.smoothing is None else environment(self.smoothing)
        return F.cross_entropy(
            environment(self.logits), environment(self.target), label_smoothing=smoothing
        )
