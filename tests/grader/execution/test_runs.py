"""The runs of an answer: what is handed to a worker, and what is made of its replies."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import cast

import pytest
import torch
from torch import Tensor

from corpus.readers.exercise_text import read_cells
from corpus.readers.lecture_course import EXERCISES, NOTEBOOKS
from corpus.readers.places import ANSWERS
from grader.answer.parse import AnswerCell, Raised, parse_answer
from grader.answer.slices import Slice
from grader.execution.collect import collect
from grader.execution.runner import Reply, Runner, WorkerLost
from grader.execution.runs import UNREADABLE, Runs, values_for
from grader.program.exercises import Exercise
from grader.program.references import References, prepare
from grader.verdict import Flag, Place
from grader.worker.request import Request, Values
from grader.worker.results import Problem, Result, Seen, pack_results
from grader.worker.terms import Limits

NO_VALUE = Result({}, {}, ())

BY_PREFIX: Mapping[str, Exercise] = {
    exercise.prefix: exercise
    for exercise in (*EXERCISES, *(e for notebook in NOTEBOOKS.values() for e in notebook))
}


def said(
    *blobs: tuple[int, bytes],
    deadly: Mapping[int, str] | None = None,
    incidents: tuple[str, ...] = (),
) -> Reply:
    """A reply of blobs, each with the number of runs it is about."""
    views = tuple((count, memoryview(blob)) for count, blob in blobs)
    return Reply(views, deadly or {}, incidents)


class Spy:
    """A runner that keeps what it is asked, and replies what it is told to."""

    def __init__(self, reply: Callable[[Request], Reply] = lambda _: Reply()) -> None:
        self.limits = Limits(statement_seconds=3.0, total_seconds=40.0)
        self.reply = reply
        self.asked: list[Request] = []

    def run(self, request: Request, values: Values) -> Reply:
        self.asked.append(request)
        return self.reply(request)


# --- what is handed to a worker


def right_answers() -> Iterator[tuple[str, str]]:
    for path in sorted(ANSWERS.glob("*/right/*.py")):
        if path.parts[-3] in BY_PREFIX:
            yield path.parts[-3], path.stem


def asked_for(prefix: str, cells: list[AnswerCell]) -> tuple[Values, list[Request], list[Request]]:
    """The values, the requests that give nothing of autograd's, and those that do.

    Nothing runs here and no gradient has a value, so all that may be asked for is.
    """
    exercise = BY_PREFIX[prefix]
    references = prepare(exercise)
    spy = Spy(
        lambda request: said((len(request.runs), pack_results([NO_VALUE] * len(request.runs))))
    )
    answer, runner = parse_answer(cells), cast(Runner, spy)
    collect(answer, exercise.gradients, references, runner, ())
    first = [request for request in spy.asked if not request.extra]
    others = [request for request in spy.asked if request.extra]
    return values_for(references, exercise.gradients), first, others


def cells_of(prefix: str, style: str) -> list[AnswerCell]:
    text = (ANSWERS / prefix / "right" / f"{style}.py").read_text(encoding="utf-8")
    return [AnswerCell(grade_id, source) for grade_id, source in read_cells(text)]


def reading_all_others(prefix: str) -> list[AnswerCell]:
    """Each gradient made of all others: whatever can be a sibling is one."""
    names = BY_PREFIX[prefix].gradients
    lines = [f"{name} = 0 * ({' + '.join(n for n in names if n != name)})" for name in names]
    return [AnswerCell(f"{prefix}-all", "\n".join(lines))]


def is_from_loss(request: Request, prefix: str) -> bool:
    """Whether what is given is right where a random number arrives at the loss."""
    instances = zip(prepare(BY_PREFIX[prefix]).hidden, request.extra.values(), strict=True)
    return all(
        isinstance(value, Tensor) and torch.equal(value, one.at_loss * one.gradients[name[1:]])
        for one, group in instances
        for name, value in group.items()
    )


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


def test_there_is_something_to_be_found() -> None:
    for prefix in ("ex1", "ex3", "ex4"):
        found = said_by_autograd(prefix)
        assert len(found) >= 0.5 * len(BY_PREFIX[prefix].gradients), prefix


CASES = [*right_answers(), *((prefix, "") for prefix in ("ex1", "ex3", "ex4"))]


@pytest.mark.parametrize(("prefix", "style"), CASES)
def test_nothing_that_autograd_said_goes_to_the_worker_but_a_gradients_own_siblings(
    prefix: str, style: str
) -> None:
    cells = cells_of(prefix, style) if style else reading_all_others(prefix)
    values, first, others = asked_for(prefix, cells)
    others = [request for request in others if not is_from_loss(request, prefix)]
    secrets = said_by_autograd(prefix)
    everything = b"".join([*values.pack(), *(part for request in first for part in request.pack())])
    assert not [name for name, right in secrets.items() if any(r in everything for r in right)]
    named = {group for request in first for run in request.runs for group in run.groups}
    assert named <= set(values.groups)
    seen = set()
    for request in others:
        (gradient,) = {name for run in request.runs for name in run.want}
        seen.add(gradient)
        groups = [f"beside-{gradient}{number}" for number in range(len(request.runs))]
        assert list(request.extra) == groups
        assert [run.groups[-1] for run in request.runs] == groups
        (siblings,) = {frozenset(group) for group in request.extra.values()}
        assert gradient not in siblings
        sent = b"".join(request.pack())
        for name in secrets.keys() - siblings:
            assert not any(right in sent for right in secrets[name]), (gradient, name)
    # One request for each gradient.
    assert len(seen) == len(others)
    if not style:
        assert len(others) >= len(BY_PREFIX[prefix].gradients) / 2


@pytest.mark.slow
@pytest.mark.parametrize(("prefix", "style"), CASES)
def test_no_process_is_given_what_it_is_asked_for_later(prefix: str, style: str) -> None:
    """Nor is it given the references: but what they are where a random number arrives at the loss.

    Here every gradient is missing, so that each is asked for once more.
    """
    cells = cells_of(prefix, style) if style else reading_all_others(prefix)
    _, _, others = asked_for(prefix, cells)
    secrets, given, asked = said_by_autograd(prefix), set[str](), list[str]()
    for request in others:
        given = given if request.continues else set()
        given |= {name for group in request.extra.values() for name in group}
        (gradient,) = {name for run in request.runs for name in run.want}
        assert gradient not in given
        if is_from_loss(request, prefix):
            asked.append(gradient)
            sent = b"".join(request.pack())
            assert not any(right in sent for those in secrets.values() for right in those)
        else:
            assert not request.continues
    assert len({*asked}) == len(asked)
    assert style or len(asked) >= len(BY_PREFIX[prefix].gradients) - 1


@pytest.mark.slow
def test_siblings_are_asked_of_answers_that_have_some() -> None:
    """Or the test above would have had nothing to look at but its own invention."""
    with_siblings = {
        (prefix, style)
        for prefix, style in right_answers()
        if asked_for(prefix, cells_of(prefix, style))[2]
    }
    assert {"ex3", "ex4"} & {prefix for prefix, _ in with_siblings}


def test_what_siblings_are_given_is_their_right_value_and_seen_if_it_is_sent() -> None:
    """The search in bytes finds what there is."""
    _, _, others = asked_for("ex3", reading_all_others("ex3"))
    secrets = said_by_autograd("ex3")
    found = {
        name
        for request in others
        for name, right in secrets.items()
        if any(r in b"".join(request.pack()) for r in right)
    }
    assert found


# --- what is made of replies

CELL = AnswerCell("ex2-all", "a = 1\ndlogits = logits\nb = 2")
GRADIENTS = ("dlogits",)


NOTHING = frozenset[str]()
ONE = frozenset({1})
PIECE = Slice(ONE, ONE, NOTHING, NOTHING, NOTHING, NOTHING, ONE)


def references() -> References:
    return prepare(BY_PREFIX["ex2"])


def made(
    reply: Callable[[Request], Reply], *cells: AnswerCell
) -> tuple[list[Result | Raised], Runs]:
    """What came of the whole answer."""
    values = values_for(references(), GRADIENTS)
    answer = parse_answer(cells or (CELL,))
    runs = Runs(answer, references(), values, cast(Runner, Spy(reply)))
    whole, _, _ = runs.whole_and_alone(GRADIENTS, {})
    return list(whole), runs


def result(*problems: Problem, value: float = 1.0) -> Result:
    return Result({"dlogits": torch.tensor(value)}, {}, problems)


def whole(*results: Result) -> Callable[[Request], Reply]:
    return lambda request: said((len(request.runs), pack_results(results * len(request.runs))))


def test_a_reply_without_trouble_has_no_flags() -> None:
    results, runs = made(whole(result()))
    assert len(results) == 1 + len(references().hidden)
    assert all(isinstance(item, Result) for item in results)
    assert runs.flags == []


@pytest.mark.parametrize(
    ("number", "place"),
    [(1, Place("ex2-all", 2)), (2, Place("ex2-all", 3)), (3, None), (2**32 - 1, None)],
)
def test_a_statement_that_ended_its_process_is_flagged_if_there_is_one(
    number: int, place: Place | None
) -> None:
    _, runs = made(lambda r: Reply(whole(result())(r).blobs, {number: "ended it"}))
    assert runs.flags == [Flag("ended-process", "A statement ended it.", place)]


def test_a_statement_that_was_killed_for_its_time_is_flagged_as_one_that_was_interrupted() -> None:
    # Which of the two it is depends on how busy the machine is.
    hung = {1: "did not end within 3 seconds"}
    _, runs = made(lambda r: Reply(whole(result())(r).blobs, hung))
    sentence = "A statement did not end within 3 seconds."
    assert runs.flags == [Flag("time-limit", sentence, Place("ex2-all", 2))]


def test_of_all_that_describes_values_so_much_is_read() -> None:
    seen = Result({}, {}, (), {number: Seen({"x" * 1000}) for number in range(400)})
    results, runs = made(lambda r: said(*[(1, pack_results([seen]))] * len(r.runs)))
    assert [isinstance(item, Result) for item in results] == [
        True,
        *[False] * (len(results) - 1),
    ]
    assert {flag.kind for flag in runs.flags} == {"unreadable-reply"}


def test_incidents_are_flagged_each() -> None:
    _, runs = made(lambda r: Reply(whole(result())(r).blobs, {}, ("One.", "Two.")))
    assert runs.flags == [Flag("incident", "One.", None), Flag("incident", "Two.", None)]


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
    _, runs = made(whole(result(problem)))
    assert {flag.kind for flag in runs.flags} == ({kind} if kind else set())
    assert {flag.place for flag in runs.flags} <= {Place("ex2-all", 2)}
    if kind == "time-limit":
        assert runs.flags[0].message == "A statement did not end within 3 seconds."


@pytest.mark.parametrize("statement", [-1, 3, 10**20, -(10**20)])
def test_a_forged_statement_has_no_place(statement: int) -> None:
    _, runs = made(whole(result(Problem(statement, "TimeLimit", ""))))
    assert {(flag.kind, flag.place) for flag in runs.flags} == {("time-limit", None)}


def test_a_blob_that_is_none_loses_its_runs_alone() -> None:
    good = pack_results([result()])
    results, runs = made(lambda _: said((2, pack_results([result()] * 2)), (1, b"junk"), (1, good)))
    assert [isinstance(item, Raised) for item in results] == [False, True, False]
    assert [item for item in results if isinstance(item, Raised)] == [UNREADABLE]
    assert runs.flags == [Flag("unreadable-reply", UNREADABLE.message, None)]


def test_runs_that_are_missing_say_so() -> None:
    results, _ = made(lambda _: said((1, pack_results([result()]))))
    assert isinstance(results[0], Result)
    (reason,) = {item for item in results[1:] if isinstance(item, Raised)}
    assert "The answer as a whole did not end within 40 seconds" in reason.message
    assert len(results) == 1 + len(references().hidden)


def test_a_lost_worker_loses_every_run_by_its_sentence() -> None:
    def lose(_: Request) -> Reply:
        raise WorkerLost("It ended.")

    results, runs = made(lose)
    assert [item.message for item in results if isinstance(item, Raised)] == ["It ended."] * (
        1 + len(references().hidden)
    )
    assert runs.flags == [Flag("incident", "It ended.", None)]


def test_all_requests_of_an_answer_have_the_time_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    exercise = BY_PREFIX["ex3"]

    def slow(_: Request) -> Reply:
        nonlocal now
        now += 25.0
        return Reply()

    spy = Spy(slow)
    answer = parse_answer(reading_all_others("ex3"))
    evidence, _, _ = collect(answer, exercise.gradients, prepare(exercise), cast(Runner, spy), ())
    # Of 40 seconds the first took 25, the second had what was left, and no other was asked.
    assert [request.limits.total_seconds for request in spy.asked] == [40.0, 15.0]
    raised = [v.raised.message for item in evidence for v in item.beside or () if v.raised]
    assert len(raised) > len(exercise.gradients)
    assert all("did not end within 40 seconds" in message for message in raised)


def test_what_did_not_end_is_told_to_the_next_request() -> None:
    """Or an endless line would wait twice."""
    slow, gone = Problem(1, "TimeLimit", "", inner=2), Problem(0, "Gone", "ended it")
    other = Problem(3, "ValueError", "no", inner=3)
    _, runs = made(whole(result(slow, gone, other)))
    assert cast(Spy, runs.runner).asked[0].known == ()
    runs.alone({("dlogits", PIECE): runs.instances})
    assert set(cast(Spy, runs.runner).asked[1].known) == {slow, gone}
    assert runs.alone({}) == {}
    assert len(cast(Spy, runs.runner).asked) == 2
