"""One forced run: what each gradient's own lines make of random upstreams, and what they read."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from torch import Tensor

from grader.answer.parse import AnswerCell, parse_answer
from grader.answer.script import read_script
from grader.worker.job import Group, Job, JobRun
from grader.worker.results import Result
from grader.worker.run_job import run_job
from grader.worker.terms import Limits

ABOVE = {"dy": frozenset[str](), "ds": frozenset({"dy"}), "dx": frozenset({"dy", "ds"})}
"""The forward pass is s = 2x, y = 3s; a loss reads y alone."""

UPSTREAMS = {"dy": torch.tensor([10.0, 20.0]), "ds": torch.tensor([1.0, -1.0])}

GROUPS: Mapping[str, Group] = {
    "values": {"x": torch.tensor([1.0, 2.0]), "n": 2},
    "upstreams": UPSTREAMS,
    "given": {"ds": torch.tensor([5.0, 6.0])},
}

DY, DS = "dy = torch.ones(n)", "ds = 3 * dy"


def forced(source: str, given: str = "") -> Result:
    answer = parse_answer([AnswerCell("ex0-cell", source)])
    script = read_script(answer, ABOVE.keys())
    every = tuple(range(len(script.statements)))
    run = JobRun(("values",), every, tuple(ABOVE), False, "upstreams", given)
    job = Job("", script.statements, (run,), ABOVE, Limits(), script.uncounted)
    (result,) = run_job(Job.unpack(job.pack()[1]), GROUPS)
    assert result.trace is not None
    return result


def local(source: str, name: str = "dx") -> list[float]:
    value: Tensor = forced(source).tensors[name]
    return value.tolist()


@pytest.mark.parametrize(
    "lines",
    [
        f"{DY}\n{DS}\ndx = 2 * ds",
        f"{DY}\n{DS}\nt = ds\ndx = 2 * t",
        f"{DY}\n{DS}\ndef double(): return 2 * ds\ndx = double()",
        f"{DY}\n{DS}\ndx = torch.zeros(n)\nfor i in range(n):\n    dx[i] += 2 * ds[i]",
        f"{DY}\n{DS}\nif n:\n    dx = ds.clone()\n    dx.mul_(2)",
        f"{DY}\n{DS}\nparts = []\nfor g in ds:\n    parts.append(2 * g)\ndx = torch.stack(parts)",
        f"{DY}\nds, dx = 3 * dy, 2 * (3 * dy)\ndx = 2 * ds",
        f"{DY}\nds = 3 * dy\nsame = ds\ndx = 2 * same",
        f"{DY}\n{DS}\nglobals()['dx'] = 2 * globals()['ds']",
        f"{DY}\n{DS}\ndx = await twice(ds)".replace("dx", "async def twice(t): return 2 * t\ndx"),
        # Wrong, missing or raising above: what is handed down is the upstream all the same.
        f"{DY}\nds = -7 * dy\ndx = 2 * ds",
        "dx = 2 * ds",
        f"{DY}\nds = dy @ nothing\ndx = 2 * ds",
    ],
)
def test_a_right_line_is_right_by_itself_however_it_is_written(lines: str) -> None:
    assert local(lines) == [2.0, -2.0]


def test_a_wrong_line_is_wrong_by_itself_alone() -> None:
    source = f"{DY}\nds = 4 * dy\ndx = 2 * ds"
    assert local(source, "ds") == [40.0, 80.0]
    assert local(source) == [2.0, -2.0]


def test_it_is_known_what_each_gradient_was_made_from() -> None:
    trace = forced(f"{DY}\n{DS}\nt = dy + 1\ndx = 2 * ds + 0 * t").trace
    assert trace is not None
    assert trace.lent == {"ds": {"dy"}, "dx": {"ds", "dy"}}
    assert trace.siblings == {}


def test_what_is_no_upstream_reads_as_the_answer_has_it() -> None:
    source = f"{DY}\ndx = torch.ones(n)\nds = 3 * dy + dx"
    result = forced(source)
    assert result.tensors["ds"].tolist() == [31.0, 61.0]
    assert result.trace is not None
    assert result.trace.siblings == {"ds": {"dx"}}


def test_what_is_given_reads_so_everywhere() -> None:
    source = f"{DY}\n{DS}\ndx = 2 * ds"
    assert forced(source, given="given").tensors["dx"].tolist() == [10.0, 12.0]


def test_an_upstream_that_is_written_too_reads_as_it_was_written() -> None:
    assert local(f"{DY}\nds = dx = 6 * dy") == [60.0, 120.0]


def test_a_line_that_changes_an_alias_spoils_what_lies_there() -> None:
    source = f"{DY}\nds = 3 * dy\ndx = ds\ndx *= 2"
    result = forced(source)
    assert result.trace is not None
    assert result.tensors["dx"].tolist() == [2.0, -2.0]
    assert result.trace.spoilt == {"ds": {"dx"}}
    assert result.trace.assigned["ds"].tolist() == [30.0, 60.0]
    assert result.trace.spoiling == {(3, "ds")}


def test_a_write_that_the_text_does_not_show_is_found() -> None:
    source = f"{DY}\n{DS}\ndx = torch.zeros(n)\ndef fill(t, by): t.add_(by)\nfill(dx, 2 * ds)"
    result = forced(source)
    assert result.tensors["dx"].tolist() == [2.0, -2.0]
    assert result.trace is not None
    assert result.trace.unshown == {(4, "dx")}


def test_one_of_several_that_raises_costs_only_itself() -> None:
    result = forced("ds, dx = dy @ nothing, 2 * dy")
    assert [problem.kind for problem in result.problems] == ["NameError"]
    assert result.tensors["dx"].tolist() == [20.0, 40.0]
