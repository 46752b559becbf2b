"""What the statements of an answer do, as its recorded run sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from torch import Tensor

from grader.answer.parse import Answer, AnswerCell, parse_answer
from grader.execution.runs import RunPlan
from grader.worker.execution import run_request
from grader.worker.request import Group, Request, Values
from grader.worker.results import Seen, pack_results, unpack_results
from tests.helpers.asking import LIMITS


def recorded(
    source: str,
    given: Mapping[str, Tensor],
    sizes: Mapping[str, float] | None = None,
    want: tuple[str, ...] = (),
) -> tuple[Answer, Mapping[int, Seen]]:
    """An answer of one cell, and what its statements did when they ran on `given`, plain or not.

    `want` are the gradients among its names.
    """
    answer = parse_answer([AnswerCell("ex0-cell", source)])
    plan = RunPlan(answer)
    plan.add_recorded(want)
    groups: dict[str, Group] = {"hidden0": {**(sizes or {}), **given}, "upstream0": given}
    asked = plan.request(Values("values", groups), LIMITS)
    every = tuple(replace(statement, plain=False) for statement in asked.statements)
    asked = replace(asked, statements=every)
    asked = Request.unpack([memoryview(part) for part in asked.pack()])
    results = list(run_request(asked, groups))
    (result,) = unpack_results(pack_results(results), 1)
    return answer, result.seen
