"""The plan of an answer's runs: which statements, on which values, for what."""

from __future__ import annotations

import pytest
import torch

from corpus.readers.lecture_course import ATOMIC
from grader.answer.parse import Answer, AnswerCell, parse_answer
from grader.answer.slices import Slice, slice_gradient
from grader.execution.runs import RunPlan, new_key, values_for
from grader.program.references import prepare
from grader.worker.request import Request, RunOrder, Values
from grader.worker.terms import MARK, Limits

LIMITS = Limits(statement_seconds=1.5, total_seconds=7.0, memory_bytes=2**28)
VALUES = Values("key", {})
SOURCE = "a = 1\nif a:\n    dh = dlogits @ W2.T\n    dW2 = h.T @ dlogits\ndb2 = ...\ndC = dh"


def answer(source: str = SOURCE) -> Answer:
    return parse_answer([AnswerCell("ex1-linear2", source)])


def piece(keep: set[int], fixed: tuple[str, ...] = ()) -> Slice:
    nothing = frozenset[str]()
    statements = frozenset(keep)
    fixed_names = frozenset(fixed)
    return Slice(statements, statements, nothing, nothing, fixed_names, nothing, statements)


def made(plan: RunPlan) -> Request:
    return plan.request(VALUES, LIMITS)


# --- the values


def test_the_values_are_the_instances_and_the_upstreams() -> None:
    grounds = prepare(ATOMIC)
    values = values_for(grounds, ATOMIC.gradients)
    hidden = grounds.hidden
    names = {f"{kind}{number}" for kind in ("hidden", "upstream") for number in range(len(hidden))}
    assert set(values.groups) == {"lecture", *names}
    assert values.groups["lecture"]["n"] == grounds.lecture.sizes["n"]
    assert values.groups["lecture"]["h"] is grounds.lecture.values["h"]
    for number, reference in enumerate(hidden):
        group = values.groups[f"hidden{number}"]
        assert {name: group[name] for name in reference.instance.sizes} == reference.instance.sizes
        assert {*group} >= {*reference.instance.values}
        upstreams = values.groups[f"upstream{number}"]
        assert list(upstreams) == list(ATOMIC.gradients)
        for name, upstream in upstreams.items():
            assert upstream is reference.cotangents[name[1:]]


def test_every_key_is_new() -> None:
    assert len({new_key() for _ in range(100)}) == 100


# --- the runs


def test_the_whole_answer_runs_without_its_blanks_on_every_instance() -> None:
    plan = RunPlan(answer())
    plan.add_whole(range(3), ("dh", "dC"))
    request = made(plan)
    assert len(plan.runs) == len(request.runs) == 5
    statements = tuple(range(3))
    assert request.runs[0] == RunOrder(("lecture",), statements, ("dh", "dC"), (), False)
    groups = ("hidden0", "upstream0")
    marked = (0, 3, 2)  # a copy of the loop says where it is
    assert request.runs[1] == RunOrder(groups, marked, ("dh", "dC"), (), True, recorded=True)
    assert request.runs[2:] == tuple(
        RunOrder((f"hidden{number}",), statements, ("dh", "dC"), (), True) for number in range(3)
    )
    assert [(s.number, s.line) for s in request.statements] == [(0, 1), (1, 2), (5, 6), (1, 2)]


def test_the_recorded_run_is_given_upstreams_and_marks_in_blocks() -> None:
    plan = RunPlan(answer("a = f(1)\nif a:\n    dh = f(2)\n    b = ...\nelse:\n    c = 3"))
    plan.add_recorded()
    (run,) = made(plan).runs
    assert run.groups == ("hidden0", "upstream0")
    assert run.recorded
    namespace = {"f": abs, MARK: (said := list[int]()).append}
    for index in run.statements:
        exec(made(plan).statements[index].code, namespace)
    # The statements inside, and then the whole again: a loop would test its condition.
    assert said == [2, 1]


def test_a_slice_runs_on_upstreams() -> None:
    plan = RunPlan(answer())
    plan.add_slice(("dh", piece({0, 1, 2}, fixed=("dprobs", "dlogits"))), range(2))
    request = made(plan)
    assert [run.groups for run in request.runs] == [
        ("hidden0", "upstream0"),
        ("hidden1", "upstream1"),
    ]
    assert {run.want for run in request.runs} == {("dh",)}
    assert {run.fixed for run in request.runs} == {("dlogits", "dprobs")}
    assert {run.double for run in request.runs} == {True}
    assert request.extra == {}


def test_what_stands_beside_an_upstream_is_in_a_group_of_its_gradient() -> None:
    plan = RunPlan(answer())
    given = [{"dW2": torch.full((2,), float(number))} for number in range(2)]
    plan.add_slice(("dh", piece({2})), range(2), given)
    request = made(plan)
    assert [run.groups[2:] for run in request.runs] == [("beside-dh0",), ("beside-dh1",)]
    assert request.extra == {"beside-dh0": given[0], "beside-dh1": given[1]}


def test_a_statement_is_compiled_once_for_each_way_of_keeping_it() -> None:
    plan = RunPlan(answer())
    first = plan.compiled(frozenset({0, 1, 2}))
    again = plan.compiled(frozenset({0, 1, 2, 5}))
    other = plan.compiled(frozenset({1, 3}))
    assert (first, again, other) == ((0, 1), (0, 1, 2), (3,))
    request = made(plan)
    assert [[number for number, _, _ in s.inside] for s in request.statements] == [
        *([0], [1, 2], [5], [1, 3]),
    ]


def test_what_is_not_kept_does_not_run_and_lines_stay_where_they_are() -> None:
    plan = RunPlan(answer("if 1:\n    a = 1\n    1 / 0\n    b = b + [][0]"))
    plan.compiled(frozenset({0, 1}))
    plan.compiled(frozenset({0, 3}))
    first, second = made(plan).statements
    names: dict[str, object] = {"b": 0}
    exec(first.code, names)
    assert names["a"] == 1
    with pytest.raises(IndexError) as raised:
        exec(second.code, names)
    assert raised.traceback[-1].lineno + 1 == 4
    assert first.code.co_filename == second.code.co_filename == "<answer ex1-linear2>"


def test_nothing_kept_is_nothing_compiled() -> None:
    plan = RunPlan(answer())
    assert plan.compiled(frozenset()) == ()
    assert made(plan).statements == ()


def test_a_request_has_the_limits_and_the_key() -> None:
    request = made(RunPlan(answer()))
    assert request.values == "key"
    assert request.limits == LIMITS


def test_the_text_of_an_answer_is_not_in_what_is_sent() -> None:
    """Comments are for the student's own eyes; the worker gets code."""
    plan = RunPlan(answer("dh = 1  # PRIVATE"))
    plan.add_whole([0], ("dh",))
    request = made(plan)
    assert request.runs
    assert b"PRIVATE" not in b"".join(request.pack())


def test_a_real_slice_fits_the_plan() -> None:
    given = {"dlogits"}
    parsed = answer()
    cut = slice_gradient(parsed, "dh", given, {"dlogits", "dW2", "dC"})
    plan = RunPlan(answer())
    plan.add_slice(("dh", cut), [0])
    (run,) = made(plan).runs
    inside = [n for index in run.statements for n, _, _ in made(plan).statements[index].inside]
    assert inside == [0, 1, 2]
