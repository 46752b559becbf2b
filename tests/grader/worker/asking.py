"""Requests to a worker, made from the text of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.answer import AnswerCell, parse_answer
from grader.run_plan import RunPlan
from grader.runner import Limits
from grader.worker.request import Group, Request, RunOrder, Values

CELL = "ex0-cell"

LIMITS = Limits(statement_seconds=5.0, total_seconds=20.0, memory_bytes=2**30)

VALUES = Values("values", {"values": Group({"x": torch.ones(3)}, {"n": 3})})
"""What the statements of most tests run on."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of some of an answer's statements; None keeps all that are no blank."""

    want: tuple[str, ...] = ("a",)
    groups: tuple[str, ...] = ("values",)
    keep: frozenset[int] | None = None
    fixed: tuple[str, ...] = ()
    double: bool = False


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
    plan = RunPlan(answer, 0)
    for run in runs or (Run(), Run()):
        keep = answer.live if run.keep is None else run.keep
        plan.add(RunOrder(run.groups, plan.compiled(keep), run.want, run.fixed, run.double))
    made = plan.request(values, limits)
    return Request(
        made.values,
        made.statements,
        made.runs,
        made.statement_seconds,
        made.total_seconds,
        made.memory_bytes,
        extra or {},
    )


def given(**groups: Mapping[str, Tensor]) -> dict[str, Group]:
    """Groups of tensors, beside those that most tests run on."""
    return {**VALUES.groups, **{name: Group(tensors) for name, tensors in groups.items()}}
