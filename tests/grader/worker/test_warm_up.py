"""The warm-up calls what answers call, and fails aloud where one of them fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
import torch

from grader.worker import main as module
from grader.worker.job import Group, Job
from grader.worker.main import OPERATORS, warm_up
from grader.worker.results import Result
from grader.worker.run_job import run_job


def test_every_line_runs_at_both_precisions_and_leaves_no_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Job] = []

    def watched(request: Job, groups: Mapping[str, Group]) -> Iterator[Result]:
        asked.append(request)
        return run_job(request, groups)

    monkeypatch.setattr(module, "run_job", watched)
    warm_up()
    (request,) = asked
    assert [(run.double, bool(run.upstreams)) for run in request.runs] == [
        *((False, False), (True, False), (True, True)),
    ]
    assert torch.get_default_dtype() is torch.float32


@pytest.mark.parametrize("line", ["t = x @ torch.ones(3, 3)", "t = torch.no_such_operator(x)"])
def test_a_line_that_does_not_run_is_said(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or a PyTorch that has lost an operator would leave the warm-up half done, unseen."""
    monkeypatch.setattr(module, "OPERATORS", f"{OPERATORS}{line}\n")
    with pytest.raises(RuntimeError, match="the warm-up does not run: "):
        warm_up()
