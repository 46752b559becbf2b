"""Jobs for a worker, made from the text of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.answer.parse import AnswerCell, parse_answer
from grader.answer.script import Trial
from grader.worker.job import Group, Job, JobRun, Values
from grader.worker.terms import Limits

CELL = "ex0-cell"

LIMITS = Limits(statement_seconds=5.0, total_seconds=20.0, memory_bytes=2**30)

VALUES = Values("values", {"values": {"x": torch.ones(3), "n": 3}})
"""What the statements of most tests run on."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of some of an answer's statements; None keeps all that are not blank."""

    want: tuple[str, ...] = ("a",)
    groups: tuple[str, ...] = ("values",)
    keep: frozenset[int] | None = None
    double: bool = False
    brief: bool = False
    upstreams: str = ""


def request(
    source: str,
    *runs: Run,
    values: Values = VALUES,
    limits: Limits = LIMITS,
    extra: Mapping[str, Group] | None = None,
) -> Job:
    """The job to make runs of an answer of one cell; two runs where none are named."""
    answer = parse_answer([AnswerCell(CELL, source)])
    assert not answer.broken
    runs = runs or (Run(), Run())
    wanted = {name for run in runs for name in run.want}
    every = frozenset[int]().union(*(run.keep or answer.live for run in runs))
    trial = Trial(answer, every, wanted)
    tops = {answer.number[top] for top in answer.top}
    orders = []
    for run in runs:
        left_out = dict.fromkeys(tops - (run.keep or answer.live), ())
        indices = trial.with_texts(left_out, lambda statement: statement)
        order = JobRun(run.groups, indices, run.want, run.double, run.upstreams, brief=run.brief)
        orders.append(order)
    above = dict.fromkeys(wanted, frozenset[str]())
    statements = tuple(trial.statements)
    return Job(values.key, statements, tuple(orders), above, limits, extra=extra or {})


def given(**groups: Mapping[str, Tensor]) -> dict[str, Group]:
    """Groups of tensors, beside those that most tests run on."""
    return {**VALUES.groups, **groups}
