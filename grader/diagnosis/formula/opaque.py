"""Formulas that cannot be taken apart: Python's own expressions with autograd's VJPs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch
from torch import Tensor

from grader.diagnosis.formula.node import Environment, Formula


@dataclass(frozen=True, eq=False)
class Python(Formula):
    """An expression that formulas cannot take apart; it is evaluated as Python."""

    expression: str
    code: CodeType = field(repr=False)
    scope: Mapping[str, Any] = field(repr=False)
    reads: tuple[str, ...] = ()

    def compute(self, environment: Environment) -> Any:
        return eval(self.code, {**self.scope, **environment.values})


@dataclass(frozen=True, eq=False)
class PythonVjp(Formula):
    """Autograd's VJP of an expression that formulas cannot take apart, for one of its tensors."""

    parts = ("body",)
    body: Formula
    of: Python
    name: str

    @torch.enable_grad()
    def compute(self, environment: Environment) -> Tensor:
        leaf = environment.values[self.name].detach().clone().requires_grad_()
        value = eval(self.of.code, {**self.of.scope, **environment.values, self.name: leaf})
        cotangent = torch.as_tensor(environment(self.body), dtype=value.dtype)
        if not value.requires_grad:  # `x.detach()`
            return torch.zeros_like(leaf)
        gradients: tuple[Tensor, ...] = torch.autograd.grad((value * cotangent).sum(), leaf)
        return gradients[0]
