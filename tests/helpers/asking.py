"""Requests to a worker, made from the text of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.answer.parse import AnswerCell, parse_answer
from grader.execution.runs import RunPlan
from grader.worker.request import Group, Request, RunOrder, Values
from grader.worker.terms import Limits

CELL = "ex0-cell"

LIMITS = Limits(statement_seconds=5.0, total_seconds=20.0, memory_bytes=2**30)

VALUES = Values("values", {"values": {"x": torch.ones(3), "n": 3}})
"""What the statements of most tests run on."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of some of an answer's statements; None keeps all that are no blank."""

    want: tuple[str, ...] = ("a",)
    groups: tuple[str, ...] = ("values",)
    keep: frozenset[int] | None = None
    fixed: tuple[str, ...] = ()
    double: bool = False
    brief: bool = False


def request(
    source: str,
    *runs: Run,
    values: Values = VALUES,
    limits: Limits = LIMITS,
    extra: Mapping[str, Group] | None = None,
) -> Request:
    """The request to make runs of an answer of one cell; two runs where none are named."""
    answer = parse_answer([AnswerCell(CELL, source)])
    assert not answer.broken
    plan = RunPlan(answer)
    for run in runs or (Run(), Run()):
        keep = answer.live if run.keep is None else run.keep
        statements, (double, brief) = plan.compiled(keep), (run.double, run.brief)
        order = RunOrder(run.groups, statements, run.want, run.fixed, double, brief=brief)
        plan.runs.append(order)
    return replace(plan.request(values, limits), extra=extra or {})


def given(**groups: Mapping[str, Tensor]) -> dict[str, Group]:
    """Groups of tensors, beside those that most tests run on."""
    return {**VALUES.groups, **groups}
