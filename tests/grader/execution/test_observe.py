"""Reading what came back from the student's process, whatever it is."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import astuple, replace
from functools import cache
from typing import Any, cast

import pytest
import safetensors.torch
import torch
from torch import Tensor

from corpus.readers.lecture_course import ATOMIC, EXERCISES
from grader.answer.parse import AnswerCell, parse_answer
from grader.execution.ask import UNREADABLE, Allowance, handed_down
from grader.execution.evidence import Observed
from grader.execution.observe import observe
from grader.execution.runner import Runner, WorkerLost
from grader.execution.values import values_for
from grader.grading.judge import judge
from grader.program.references import prepare
from grader.verdict import Flag, Outcome, Place, because
from grader.worker.frames import Reply
from grader.worker.job import Job, Values
from grader.worker.results import LONGEST_MESSAGE, Problem, Result, Trace, pack_results
from grader.worker.terms import Limits

LIMITS = Limits(statement_seconds=3.0, total_seconds=40.0, memory_bytes=2**31)
CELL = AnswerCell("ex1-linear2", "# answer: ex1-linear2\ndh = dlogits @ W2.T\ndW2 = ...\n")
HIDDEN = 2
"""Instances: each has a plain run and a forced one, behind the lecture's run."""

Replies = Callable[[int], Reply]
"""What a worker replies to a request of so many runs."""


def said(
    blob: bytes, deadly: dict[int, str] | None = None, incidents: tuple[str, ...] = ()
) -> Reply:
    """A reply."""
    return Reply(memoryview(blob), deadly or {}, [*incidents])


class FakeRunner:
    """Replies what it is told to."""

    def __init__(self, reply: Replies) -> None:
        self.limits, self.unbound = LIMITS, because("unbound")
        self.reply = reply
        self.asked: list[Job] = []

    def run(self, request: Job, values: Values) -> Reply:
        assert request.values == values.key
        self.asked.append(request)
        return self.reply(len(request.runs))


def collected(reply: Replies, *cells: AnswerCell) -> tuple[dict[str, Observed], list[Flag]]:
    """The evidence by gradient, and the flags."""
    runner, answer = cast(Runner, FakeRunner(reply)), parse_answer(cells or (CELL,))
    evidence, _, flags = observe(
        answer, ATOMIC.gradients, prepare(ATOMIC), runner, (), Allowance(math.inf)
    )
    # Whatever the evidence is, the judge has a verdict on it.
    verdicts = judge(evidence, prepare(ATOMIC))
    assert [verdict.name for verdict in verdicts] == list(ATOMIC.gradients)
    assert all(verdict.outcome is not Outcome.PASS for verdict in verdicts)
    return {item.name: item for item in evidence}, flags


def every(
    tensors: dict[str, Tensor] | None = None,
    types: dict[str, str] | None = None,
    problems: tuple[Problem, ...] = (),
) -> Replies:
    """The same result for every run."""
    result = Result(tensors or {}, types or {}, problems)
    return lambda runs: said(pack_results([result] * runs))


def garbage(blob: bytes) -> Replies:
    """One blob that is about all runs."""
    return lambda _: said(blob)


PROBLEM = Problem(0, "E", "no", "ex1-linear2", 2, 0)
ONES = {"dh": torch.ones(2)}


BROKEN = {
    "no blob": b"garbage that is not a safetensors blob",
    "more runs": pack_results([Result(ONES, {}, ())] * 9),
    "half": pack_results([Result(ONES, {}, ())] * 5)[:-1],
    "all zero": b"\0" * 64,
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_blob_that_cannot_be_read_is_a_sentence(name: str) -> None:
    evidence, flags = collected(garbage(BROKEN[name]))
    dh = evidence["dh"]
    assert dh.local is not None
    assert {value.raised for value in (dh.lecture, *dh.hidden, *dh.local)} == {UNREADABLE}
    # What nobody wrote is still to do, whatever happened to the rest.
    assert evidence["dW2"].hidden[0].is_placeholder
    assert flags == [Flag("unreadable-reply", UNREADABLE.message, None)]


@pytest.mark.parametrize("place", range(0, 400, 23))
def test_no_flipped_byte_is_a_traceback(place: int) -> None:
    def flipped(runs: int) -> Reply:
        good = pack_results([Result(ONES, {"dW1": "list"}, (PROBLEM,))] * runs)
        changed = [good[:place] + bytes([value]) + good[place + 1 :] for value in (0, 34, 255)]
        return said(changed[place % 3])

    collected(flipped)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.complex64, torch.uint16], ids=str)
def test_tensors_that_no_worker_would_send_do_not_reach_a_pass(dtype: torch.dtype) -> None:
    name = str(dtype).removeprefix("torch.")
    run = {"values": [("dh", name, (2,))], "types": {}, "problems": []}

    def forged(runs: int) -> Reply:
        values = {name: torch.ones(2 * runs).to(dtype)}
        return said(safetensors.torch.save(values, {"runs": json.dumps([run] * runs)}))

    evidence, _ = collected(forged)
    assert evidence["dh"].hidden[0].tensor is None
    assert evidence["dh"].hidden[0].raised is not None


def test_names_that_nobody_asked_for_are_ignored() -> None:
    tensors = {**ONES, "loss": torch.ones(1), "": torch.ones(1)}
    evidence, _ = collected(every(tensors, types={"nobody": "list", "dW1": "float"}))
    values = {name: item.hidden[0] for name, item in evidence.items()}
    assert values["dh"].tensor is not None
    assert set(values) == set(ATOMIC.gradients)


@pytest.mark.parametrize("statement", [99, -1, -(10**30), 10**30])
def test_problems_of_statements_that_do_not_exist_concern_nobody(statement: int) -> None:
    for kind in ("E", "TimeLimit", "PermissionError", "Gone"):
        problem = replace(PROBLEM, statement=statement, kind=kind)
        evidence, flags = collected(every(ONES, problems=(problem,)))
        assert evidence["dh"].hidden[0].raised is None
        assert {flag.place for flag in flags} <= {None}


def test_a_problem_comes_with_its_place() -> None:
    evidence, _ = collected(every(problems=(PROBLEM,)))
    raised = evidence["dh"].hidden[0].raised
    assert raised is not None
    assert raised.message == "This line raised E: no."
    assert raised.place == Place("ex1-linear2", 2)


BLOCK = AnswerCell(
    "ex1-linear2", "with torch.no_grad():\n    dh = dlogits @ W2.T\n    plt.imshow(dh)"
)


@pytest.mark.parametrize(
    ("inner", "has_value", "raised"),
    [(1, True, True), (0, True, False), (None, True, True), (2, True, False), (2, False, True)],
    ids=["own", "header", "unknown", "beside", "no value"],
)
def test_a_problem_of_another_statement_in_the_block_only_interrupts(
    inner: int | None, has_value: bool, raised: bool
) -> None:
    problem = replace(PROBLEM, inner=inner)
    evidence, _ = collected(every(ONES if has_value else {}, problems=(problem,)), BLOCK)
    value = evidence["dh"].hidden[0]
    assert (value.raised is not None) is raised
    assert value.interrupted is not None
    assert value.interrupted.message == "This line raised E: no."


def test_written_but_unbound_is_known() -> None:
    evidence, _ = collected(every())
    assert evidence["dh"].is_written
    assert not evidence["dh"].is_blank
    assert not evidence["dW2"].is_written
    assert evidence["dW2"].is_blank


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"line": None}, Place("ex1-linear2", 2)),
        ({"cell": None}, Place("ex1-linear2", 2)),
        ({"cell": "<img src=x>" * 10**4}, Place("ex1-linear2", 2)),
        ({"cell": "ex1-max"}, Place("ex1-linear2", 2)),
        ({"line": 0}, Place("ex1-linear2", 2)),
        ({"line": -(10**30)}, Place("ex1-linear2", 2)),
        ({"line": 10**30}, Place("ex1-linear2", 2)),
        ({"line": 3}, Place("ex1-linear2", 3)),
    ],
)
def test_a_place_that_is_none_of_the_answers_is_the_statements_own(
    changes: dict[str, Any], place: Place
) -> None:
    problem: Problem = replace(PROBLEM, **changes)
    evidence, _ = collected(every(problems=(problem,)))
    raised = evidence["dh"].hidden[0].raised
    assert raised is not None
    assert raised.place == place


def test_what_is_said_has_an_end() -> None:
    long = "x" * 10**4
    problem = replace(PROBLEM, message=long, kind=long)
    evidence, _ = collected(every(types={"dh": long}, problems=(problem,)))
    raised, kind = evidence["dh"].hidden[0].raised, evidence["dh"].hidden[0].type_name
    assert raised is not None
    assert len(raised.message) < 3 * LONGEST_MESSAGE
    assert kind == "x" * LONGEST_MESSAGE


def test_runs_that_never_came_say_why() -> None:
    evidence, _ = collected(lambda _: said(pack_results([Result(ONES, {}, ())])))
    dh = evidence["dh"]
    assert dh.lecture.raised is None
    assert dh.hidden[0].raised is not None
    assert "did not end within 40 seconds" in dh.hidden[0].raised.message


def test_a_lost_worker_is_a_sentence_on_every_gradient_that_was_written() -> None:
    def lose(_: int) -> Reply:
        raise WorkerLost("The process that runs answers ended.")

    evidence, _ = collected(lose)
    raised = evidence["dh"].lecture.raised
    assert raised is not None
    assert raised.message == "The process that runs answers ended."
    assert evidence["dC"].lecture.raised is None


def test_without_cells_nothing_is_run() -> None:
    def fail(_: int) -> Reply:
        raise AssertionError("nothing to run")

    runner = cast(Runner, FakeRunner(fail))
    evidence, _, _ = observe(
        parse_answer([]), ATOMIC.gradients, prepare(ATOMIC), runner, (), Allowance(math.inf)
    )
    assert len(evidence) == len(ATOMIC.gradients)
    assert all(value.is_placeholder for item in evidence for value in item.hidden)


def test_the_place_of_a_blank_and_of_a_broken_cell() -> None:
    broken = AnswerCell("ex1-tanh", "# answer: ex1-tanh\ndhpreact = (1 -\n")
    evidence, _ = collected(every(), CELL, broken)
    assert evidence["dW2"].place == Place("ex1-linear2", 3)
    assert evidence["dh"].place == Place("ex1-linear2", 2)
    reason = evidence["dhpreact"].broken
    assert reason is not None
    assert reason.message.startswith("Python cannot read this cell")
    assert evidence["dW2"].broken is None


def test_the_first_result_is_of_the_lectures_instance_the_next_of_the_hidden_ones() -> None:
    """And each gradient's own: what belongs to one run is never read as another's."""

    count = itertools.count()

    def numbered(runs: int) -> Reply:
        numbers = itertools.islice(count, runs)
        results = [Result({"dh": torch.tensor(float(number))}, {}, ()) for number in numbers]
        halves = results[: runs // 2], results[runs // 2 :]
        return said(pack_results([one for half in halves for one in half]))

    evidence, _ = collected(numbered)
    dh = evidence["dh"]
    assert dh.local is not None
    numbers = [v.tensor.item() for v in (dh.lecture, *dh.hidden, *dh.local) if v.tensor is not None]
    assert numbers == [*range(1 + 2 * HIDDEN)]


def test_what_came_of_the_running_is_flagged_once() -> None:
    def reply(runs: int) -> Reply:
        slow = (Problem(1, "TimeLimit", ""), Problem(0, "PermissionError", "[Errno 1] no"))
        blob = pack_results([Result(ONES, {}, slow)] * runs)
        deadly = {0: "ended it", 2**32 - 1: "hung"}
        return said(blob, deadly=deadly, incidents=("Odd.", "Odd."))

    cell = AnswerCell("ex1-linear2", "# answer: ex1-linear2\ndh = dlogits @ W2.T\nt = 1\n")
    _, flags = collected(reply, cell)
    assert sorted((flag.kind, flag.place) for flag in flags if flag.place) == [
        ("denied", Place("ex1-linear2", 2)),
        ("ended-process", Place("ex1-linear2", 2)),
        ("time-limit", Place("ex1-linear2", 3)),
    ]
    assert [astuple(flag) for flag in flags if flag.place is None] == [
        ("ended-process", "A statement hung.", None),
        ("incident", "Odd.", None),
    ]


# --- what is handed to a worker

BY_PREFIX = {exercise.prefix: exercise for exercise in EXERCISES}


def reading_all_others(prefix: str) -> list[AnswerCell]:
    """Each gradient made of all others: whatever can be a sibling is one."""
    names = BY_PREFIX[prefix].gradients
    lines = [f"{name} = 0 * ({' + '.join(n for n in names if n != name)})" for name in names]
    return [AnswerCell(f"{prefix}-all", "\n".join(lines))]


def content(tensor: Tensor) -> bytes:
    return bytes(tensor.contiguous().numpy().tobytes())


@cache
def said_by_autograd(prefix: str) -> dict[str, list[bytes]]:
    """By gradient, what must not be found: reference gradients, right local values.

    Without those that are an upstream in another shape, or a value of the forward pass.
    """
    references = prepare(BY_PREFIX[prefix])
    known = {content(t) for r in references.hidden for t in r.cotangents.values()}
    known |= {
        content(value)
        for reference in references.hidden
        for value in reference.instance.values.values()
        if isinstance(value, Tensor)
    }
    found: dict[str, list[bytes]] = {}
    for name in BY_PREFIX[prefix].gradients:
        readers = frozenset(references.program.readers(name[1:]))
        for reference in references.hidden:
            for right in (reference.gradients[name[1:]], reference.local_vjp(name[1:], readers)):
                # Of a few numbers alike, such as zeros, nothing can be said.
                if len(set(right.flatten().tolist())) > 3 and content(right) not in known:
                    found.setdefault(name, []).append(content(right))
    return found


def jobs_for(prefix: str) -> list[Job]:
    """The jobs of an answer whose every gradient is wrong and has all that can be siblings."""
    exercise, names = BY_PREFIX[prefix], BY_PREFIX[prefix].gradients
    siblings = {name: frozenset(names) - {name} for name in names}
    result = Result({}, {}, (), Trace(siblings=siblings))
    fake = FakeRunner(lambda runs: said(pack_results([result] * runs)))
    answer = parse_answer(reading_all_others(prefix))
    observe(answer, names, prepare(exercise), cast(Runner, fake), (), Allowance(math.inf))
    return fake.asked


@pytest.mark.parametrize("prefix", ["ex1", "ex3", "ex4"])
def test_nothing_that_autograd_said_goes_to_the_worker_but_a_gradients_own_siblings(
    prefix: str,
) -> None:
    first, second, *others = jobs_for(prefix)
    assert (second.continues, second.extra) == (True, {})
    secrets, names = said_by_autograd(prefix), BY_PREFIX[prefix].gradients
    values = values_for(prepare(BY_PREFIX[prefix]), names)
    everything = b"".join([*values.pack(), *first.pack(), *second.pack()])
    assert not [name for name, right in secrets.items() if any(r in everything for r in right)]
    above = handed_down(prepare(BY_PREFIX[prefix]).program, names)
    asked = list[str]()
    for job in others:
        assert not job.continues
        (gradient,) = {name for run in job.runs for name in run.want}
        asked.append(gradient)
        groups = {name: frozenset(group) for name, group in job.extra.items()}
        assert not any(gradient in group for group in groups.values())
        (siblings,) = {group for name, group in groups.items() if name.startswith("beside")}
        # What is made from the gradient would give it away.
        assert gradient not in siblings.union(*(above[sibling] for sibling in siblings))
        sent = b"".join(job.pack())
        for name in secrets.keys() - siblings:
            assert not any(right in sent for right in secrets[name]), (gradient, name)
    # One process for each gradient.
    assert len({*asked}) == len(asked) >= len(names) / 2
    assert any(r in b"".join(j.pack()) for j in others for right in secrets.values() for r in right)
