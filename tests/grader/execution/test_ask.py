"""Jobs of one answer: what is handed to a worker, what is made of its replies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import pytest
import torch

from corpus.readers.lecture_course import EXERCISES
from grader.answer.parse import AnswerCell, Raised, parse_answer
from grader.answer.script import read_script
from grader.execution.ask import UNREADABLE, Allowance, Results, Worker, handed_down
from grader.execution.runner import Runner, WorkerLost
from grader.execution.values import values_for
from grader.program.references import References, prepare
from grader.verdict import Flag, Place
from grader.worker.frames import Reply
from grader.worker.job import Job, JobRun, Values
from grader.worker.results import Problem, Result, pack_results
from grader.worker.terms import Limits

BY_PREFIX = {exercise.prefix: exercise for exercise in EXERCISES}


def said(blob: bytes) -> Reply:
    """A reply."""
    return Reply(memoryview(blob))


class Spy:
    """A runner that keeps what it is asked, and replies what it is told to."""

    def __init__(self, reply: Callable[[Job], Reply] = lambda _: Reply()) -> None:
        self.limits = Limits(statement_seconds=3.0, total_seconds=40.0)
        self.reply = reply
        self.asked: list[Job] = []

    def run(self, request: Job, values: Values) -> Reply:
        self.asked.append(request)
        return self.reply(request)


CELL = AnswerCell("ex2-all", "a = 1\ndlogits = logits\nb = 2")
GRADIENTS = ("dlogits",)
RUNS = [JobRun((group,), (0, 1, 2), GRADIENTS, False) for group in ("lecture", "hidden0")]


def references() -> References:
    return prepare(BY_PREFIX["ex2"])


def made(
    reply: Callable[[Job], Reply], *cells: AnswerCell, allowance: Allowance | None = None
) -> tuple[Results, Worker]:
    """What came of the whole answer."""
    values, answer = values_for(references(), GRADIENTS), parse_answer(cells or (CELL,))
    above = handed_down(references().program, GRADIENTS)
    script = read_script(answer, above.keys())
    worker = Worker(
        answer, script, values, above, cast(Runner, Spy(reply)), allowance or Allowance(40.0)
    )
    return worker.ask(RUNS), worker


def result(*problems: Problem, value: float = 1.0) -> Result:
    return Result({"dlogits": torch.tensor(value)}, {}, problems)


def whole(*results: Result) -> Callable[[Job], Reply]:
    return lambda request: said(pack_results(results * len(request.runs)))


def test_a_reply_without_trouble_has_no_flags() -> None:
    results, worker = made(whole(result()))
    assert len(results) == len(RUNS)
    assert all(isinstance(item, Result) for item in results)
    assert worker.flags == []


@pytest.mark.parametrize(
    ("number", "place"),
    [(1, Place("ex2-all", 2)), (2, Place("ex2-all", 3)), (3, None), (2**32 - 1, None)],
)
def test_a_statement_that_ended_its_process_is_flagged_if_there_is_one(
    number: int, place: Place | None
) -> None:
    _, worker = made(lambda r: replace(whole(result())(r), deadly={number: "ended it"}))
    assert worker.flags == [Flag("ended-process", "A statement ended it.", place)]


def test_a_statement_that_was_killed_for_its_time_is_flagged_as_one_that_was_interrupted() -> None:
    # Which of the two it is depends on how busy the machine is.
    hung = {1: "did not end within 3 seconds"}
    _, worker = made(lambda r: replace(whole(result())(r), deadly=hung))
    sentence = "A statement did not end within 3 seconds."
    assert worker.flags == [Flag("time-limit", sentence, Place("ex2-all", 2))]


def test_of_all_that_describes_values_so_much_is_read() -> None:
    long = Result({}, {"dlogits": "x" * 600_000}, ())
    results, worker = made(lambda r: said(pack_results([long] * len(r.runs))))
    assert results == [UNREADABLE] * len(RUNS)
    assert {flag.kind for flag in worker.flags} == {"unreadable-reply"}


def test_incidents_are_flagged_each() -> None:
    _, worker = made(lambda r: replace(whole(result())(r), incidents=["One.", "Two."]))
    assert worker.flags == [Flag("incident", "One.", None), Flag("incident", "Two.", None)]


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (Problem(1, "TimeLimit", ""), "time-limit"),
        (Problem(1, "MemoryError", ""), "memory-limit"),
        (Problem(1, "PermissionError", "[Errno 1] no"), "denied"),
        (Problem(1, "NameError", "name 'x' is not defined"), None),
        (Problem(1, "ZeroDivisionError", ""), None),
        (Problem(1, "Gone", "ended it"), None),
    ],
    ids=lambda value: value.kind if isinstance(value, Problem) else str(value),
)
def test_a_problem_that_is_no_mistake_is_flagged(problem: Problem, kind: str | None) -> None:
    _, worker = made(whole(result(problem)))
    assert {flag.kind for flag in worker.flags} == ({kind} if kind else set())
    assert {flag.place for flag in worker.flags} <= {Place("ex2-all", 2)}
    if kind == "time-limit":
        assert worker.flags[0].message == "A statement did not end within 3 seconds."


@pytest.mark.parametrize("statement", [-1, 3, 10**20, -(10**20)])
def test_a_forged_statement_has_no_place(statement: int) -> None:
    _, worker = made(whole(result(Problem(statement, "TimeLimit", ""))))
    assert {(flag.kind, flag.place) for flag in worker.flags} == {("time-limit", None)}


def test_a_blob_that_is_none_loses_its_runs() -> None:
    results, worker = made(lambda r: said(b"junk"))
    assert results == [UNREADABLE] * len(RUNS)
    assert worker.flags == [Flag("unreadable-reply", UNREADABLE.message, None)]


def test_runs_that_are_missing_say_so() -> None:
    results, _ = made(lambda _: said(pack_results([result()])))
    assert isinstance(results[0], Result)
    (reason,) = {item for item in results[1:] if isinstance(item, Raised)}
    assert "The notebook as a whole did not end within 40 seconds" in reason.message
    assert len(results) == len(RUNS)


def test_a_lost_worker_loses_every_run_by_its_sentence() -> None:
    def lose(_: Job) -> Reply:
        raise WorkerLost("It ended.")

    results, worker = made(lose)
    assert [item.message for item in results if isinstance(item, Raised)] == ["It ended."] * (
        len(RUNS)
    )
    assert worker.flags == [Flag("incident", "It ended.", None)]


def test_what_did_not_end_is_told_to_the_next_request() -> None:
    """Or an endless line would wait twice."""
    slow, gone = Problem(1, "TimeLimit", "", inner=2), Problem(0, "Gone", "ended it")
    other = Problem(3, "ValueError", "no", inner=3)
    _, worker = made(whole(result(slow, gone, other)))
    worker.ask(RUNS)
    first, second = cast(Spy, worker.runner).asked
    assert first.known == ()
    assert set(second.known) == {slow, gone}


def test_all_that_a_notebook_asks_has_one_allowance() -> None:
    now = 1000.0

    def slow(_: Job) -> Reply:
        nonlocal now
        now += 25.0
        raise WorkerLost("It ended.")

    allowance = Allowance(40.0, lambda: now)
    _, first = made(slow, allowance=allowance)
    _, second = made(slow, allowance=allowance)
    results, third = made(slow, allowance=allowance)
    # Of 40 seconds the first took 25, the second had what was left, and no other was asked.
    asked = [job for one in (first, second, third) for job in cast(Spy, one.runner).asked]
    assert [job.limits.total_seconds for job in asked] == [40.0, 15.0]
    assert allowance.part(30.0).left == -10.0
    assert {"did not end within 40 seconds" in cast(Raised, one).message for one in results} == {
        True
    }
