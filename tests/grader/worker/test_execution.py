"""Statements run one after the other on given values."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.worker import execution
from grader.worker import run_job as run_job_module
from grader.worker.execution import (
    LARGER_VALUE,
    LARGEST_VALUE,
    NOTEBOOK_FUNCTIONS,
)
from grader.worker.job import Group, Job
from grader.worker.results import LONGEST_MESSAGE, REPORTED_DTYPES, Problem, Result
from grader.worker.run_job import run_job
from grader.worker.terms import DYNAMIC_NAMES, Limits
from tests.helpers.asking import CELL, VALUES, Run, given, request


def run(
    asked: Job,
    groups: Mapping[str, Group] = VALUES.groups,
    deadly: Mapping[int, str] | None = None,
) -> tuple[dict[int, Result], list[tuple[int, int]]]:
    """Every run's result, and the statements that were begun."""
    results: dict[int, Result] = {}
    begun: list[tuple[int, int]] = []

    def started(statement: int) -> None:
        begun.append((len(results), statement))

    for result in run_job(asked, groups, deadly or {}, started):
        results[len(results)] = result
    return results, begun


def run_one(source: str, **changes: Any) -> tuple[dict[str, Tensor], dict[str, str], list[Problem]]:
    results, _ = run(request(source, Run(**changes)))
    return dict(results[0].tensors), dict(results[0].types), list(results[0].problems)


def test_a_class_that_does_not_let_itself_be_copied_spoils_nothing_else() -> None:
    tensors, types, problems = run_one(
        "class Own(torch.Tensor):\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, function, kinds, given=(), named=None):\n"
        "        return x if function is torch.Tensor.copy_ else super().__torch_function__(\n"
        "            function, kinds, given, named or {})\n"
        "a = torch.ones(3).as_subclass(Own)\nb = x + 1",
        want=("a", "b"),
    )
    assert not problems
    assert types == {"a": "Own"}
    assert tensors["b"].tolist() == [2, 2, 2]


def test_what_a_notebook_awaits_is_run_to_its_end() -> None:
    tensors, _, problems = run_one(
        "import asyncio\nasync def double(x):\n    await asyncio.sleep(0)\n    return 2 * x\n"
        "a = await double(x)"
    )
    assert not problems
    assert torch.equal(tensors["a"], torch.full((3,), 2.0))


def test_an_answer_finds_the_notebooks_names() -> None:
    tensors, types, problems = run_one(
        "check('a'); cmp('a', 1, 2); board(); heat_map('a'); nudge('a', 0)\n"
        "a = F.relu(x) * n + torch.zeros(3) * math.pi"
    )
    assert not problems
    assert not types
    assert torch.equal(tensors["a"], torch.full((3,), 3.0))


def test_only_what_is_kept_runs() -> None:
    tensors, _, problems = run_one(
        "a = x * 1\n1 / 0\nif n:\n    a = x * 2\na = x * 3", keep=frozenset({0, 2, 3})
    )
    assert not problems
    assert torch.equal(tensors["a"], torch.full((3,), 2.0))


def test_a_statement_that_raises_does_not_stop_the_next() -> None:
    tensors, _, problems = run_one("b = 1 / 0\na = x")
    assert torch.equal(tensors["a"], torch.ones(3))
    assert problems == [Problem(0, "ZeroDivisionError", "division by zero", CELL, 1, 0)]


def test_a_brief_run_ends_at_the_first_statement_that_raises_and_says_nothing() -> None:
    results, begun = run(request("b = 1 / 0\na = x", Run(brief=True)))
    assert begun == [(0, 0)]
    assert (results[0].tensors, results[0].problems) == ({}, ())


@pytest.mark.parametrize("source", ["da = a @ a @ n", "da = a.sum(0)", "b = a", "da = None"])
def test_what_makes_no_gradient_briefly_is_not_run_briefly_again(source: str) -> None:
    values: dict[str, Group] = {"values": {"a": torch.ones(2, 3), "n": 3}}
    brief = Run(want=("da",), brief=True)
    results, begun = run(request(source, brief, brief, replace(brief, brief=False)), values)
    assert begun == [(0, 0), (2, 0)]
    assert not results[1].tensors


def test_what_has_its_tensors_shape_briefly_is_run_on_other_values_too() -> None:
    values = given(one={"a": torch.ones(2, 3)}, other={"a": torch.ones(4)})
    runs = [Run(want=("da",), groups=(group,), brief=True) for group in ("one", "other")]
    results, begun = run(request("da = 2 * a", *runs), values)
    assert begun == [(0, 0), (1, 0)]
    assert [results[number].tensors["da"].shape for number in (0, 1)] == [(2, 3), (4,)]


def test_what_is_slow_in_a_brief_run_is_left_out_of_the_next() -> None:
    asked = request("while True: b = 1", Run(brief=True), Run(brief=True))
    _, begun = run(replace(asked, limits=Limits(statement_seconds=0.1)))
    assert begun == [(0, 0)]


@pytest.mark.parametrize(
    ("source", "kind", "line"),
    [
        ("def f(t):\n    return t @ W3\na = f(x)", "NameError", 2),
        ("for i in range(3):\n    b = 1\n    a = i / 0", "ZeroDivisionError", 3),
        ("import json\na = json.loads('{')", "JSONDecodeError", 2),
        ("raise SystemExit", "SystemExit", 1),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", 1),
        ("class E(BaseException): pass\nraise E('two\\nlines')", "E", 2),
    ],
)
def test_a_problem_names_the_answers_innermost_line(source: str, kind: str, line: int) -> None:
    _, _, (problem,) = run_one(source)
    assert (problem.kind, problem.line) == (kind, line)
    assert "\n" not in problem.message


@pytest.mark.parametrize(
    ("source", "statement", "inner"),
    [
        ("b = 1\na = 1 / 0", 1, 1),
        ("b = 1\nfor i in range(3):\n    c = 1\n    if i:\n        a = 1 / 0", 1, 4),
        ("with torch.no_grad():\n    a = x\n    1 / 0", 0, 2),
        ("def f(t):\n    c = 1\n    return t / 0\nif n:\n    b = 1\n    a = f(1)", 1, 3),
        ("for i in 1 / 0:\n    a = x", 0, 0),
    ],
)
def test_a_problem_names_the_statement_that_raised_or_called_what_did(
    source: str, statement: int, inner: int
) -> None:
    _, _, (problem,) = run_one(source)
    assert (problem.statement, problem.inner) == (statement, inner)


def test_a_message_that_cannot_be_had_or_has_no_end() -> None:
    bad = "class E(Exception):\n    def __str__(self): return 1\nraise E"
    assert run_one(bad)[2][0].message == "its message cannot be shown (TypeError)"
    _, _, (problem,) = run_one("raise ValueError('x' * 10**6)")
    assert len(problem.message) == LONGEST_MESSAGE


def test_a_wanted_name_is_not_given() -> None:
    tensors, types, problems = run_one("pass", want=("x", "a"))
    assert not tensors
    assert not types
    assert not problems


def test_later_groups_stand_over_earlier_ones() -> None:
    groups = given(other={"x": torch.zeros(3)}) | {"numbers": {"n": 7}}
    asked = request(
        "a = x * n",
        Run(groups=("values", "other", "numbers")),
        Run(groups=("other", "numbers", "values")),
    )
    results, _ = run(asked, groups)
    assert not results[0].tensors["a"].any()
    assert torch.equal(results[1].tensors["a"], torch.full((3,), 3.0))
    asked = request("a = x * n", Run(groups=("values", "numbers")))
    assert torch.equal(run(asked, groups)[0][0].tensors["a"], torch.full((3,), 7.0))


def test_groups_of_the_request_itself_stand_beside_those_the_worker_keeps() -> None:
    extra = {"mine": {"y": torch.full((3,), 2.0)}, "values": {"x": torch.zeros(3)}}
    asked = request("a = x + y", Run(groups=("values", "mine")), extra=extra)
    results, _ = run(asked)
    assert torch.equal(results[0].tensors["a"], torch.full((3,), 2.0))
    # And are gone with it.
    results, _ = run(request("a = x + y", Run()))
    assert [problem.kind for problem in results[0].problems] == ["NameError"]


def test_a_run_finds_only_the_groups_it_names() -> None:
    groups = given(other={"y": torch.zeros(3)})
    results, _ = run(request("a = x + y", Run(), Run(groups=("values", "other"))), groups)
    assert [problem.message for problem in results[0].problems] == ["name 'y' is not defined"]
    assert not results[1].problems


@pytest.mark.parametrize("name", sorted(DYNAMIC_NAMES))
def test_a_statement_whose_names_cannot_be_read_finds_all_of_them(name: str) -> None:
    source = (
        f"{name}\na = getattr(__builtins__, 'vars', None) or __builtins__['vars']\na = a()['x']"
    )
    tensors, _, problems = run_one(source)
    assert not problems
    assert torch.equal(tensors["a"], torch.ones(3))


def test_names_that_only_a_function_mentions_are_given() -> None:
    source = "def f():\n    return [(lambda: x + n)() for _ in '1'][0]\na = f()"
    assert torch.equal(run_one(source)[0]["a"], torch.full((3,), 4.0))


def test_the_notebooks_functions_show_nothing() -> None:
    source = "\n".join(f"{name}('a', 1, deep=True)" for name in NOTEBOOK_FUNCTIONS)
    assert not run_one(source)[2]


def test_runs_share_nothing() -> None:
    order = Run(("a", "b"))
    asked = request("x += 1\na = x\nb = globals().get('left', x)\nleft = 7", order, order)
    results, _ = run(asked)
    for number in (0, 1):
        assert torch.equal(results[number].tensors["a"], torch.full((3,), 2.0))
        assert torch.equal(results[number].tensors["b"], torch.full((3,), 2.0))
    (x, _) = VALUES.groups["values"].values()
    assert torch.equal(torch.as_tensor(x), torch.ones(3))


def test_what_a_run_does_to_python_is_undone_where_it_would_slow_or_change_the_next() -> None:
    source = (
        "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\n"
        "torch.set_default_dtype(torch.float16)\ntorch.manual_seed(5)\na = torch.zeros(2)"
    )
    order = Run(keep=frozenset({4})), Run(), Run(keep=frozenset({4})), Run(double=True)
    results, _ = run(request(source, *order))
    dtypes = [results[number].tensors["a"].dtype for number in range(4)]
    assert dtypes == [torch.float32, torch.float16, torch.float32, torch.float16]
    hasty = replace(request("while True: pass", Run()), limits=Limits(statement_seconds=0.05))
    assert run(hasty)[0][0].problems[0].kind == "TimeLimit"


def test_random_numbers_are_the_same_in_every_run() -> None:
    results, _ = run(request("a = torch.randn(3)", Run(), Run()))
    assert torch.equal(results[0].tensors["a"], results[1].tensors["a"])


@pytest.mark.parametrize("order", [(True, False), (False, True), (True, True, False, True)])
def test_double_precision_where_asked(order: tuple[bool, ...]) -> None:
    runs = [Run(("a", "b"), double=double) for double in order]
    results, _ = run(request("a = torch.zeros(2).float()\nb = torch.zeros(2)", *runs))
    expected = [torch.float64 if double else torch.float32 for double in order]
    for name in ("a", "b"):
        assert [results[n].tensors[name].dtype for n in range(len(order))] == expected
    assert torch.get_default_dtype() is torch.float32


def test_every_statement_is_announced_and_a_deadly_one_left_out() -> None:
    asked = request("b = 1\nif b:\n    c = 2\na = x", Run(), Run())
    _, started = run(asked)
    assert started == [(0, 0), (0, 1), (0, 3), (1, 0), (1, 1), (1, 3)]
    results, started = run(asked, deadly={1: "ended it"})
    assert started == [(0, 0), (0, 3), (1, 0), (1, 3)]
    assert results[1].problems == (Problem(1, "Gone", "ended it", CELL, 2),)


def test_when_the_time_is_over_the_runs_so_far_are_the_results() -> None:
    asked = request(
        "import time\nif n: time.sleep(m)\na = x",
        *[Run(groups=("values", str(m))) for m in range(0, 99, 33)],
    )
    groups = {**VALUES.groups, **{str(m): {"m": m} for m in range(0, 99, 33)}}
    results = list(run_job(asked, groups, until=time.monotonic() + 0.2))
    assert [result.problems for result in results] == [()]


def test_a_statement_is_announced_before_it_runs_and_a_result_when_its_run_has_ended() -> None:
    seen: list[str] = []
    asked = request("a = note('statement 0')\na = note('statement 1')", Run(), Run())
    given_note: Callable[[str], None] = seen.append
    asked = replace(asked, extra={"note": {"note": given_note}})  # type: ignore[dict-item]
    asked = replace(asked, runs=tuple(replace(r, groups=("values", "note")) for r in asked.runs))
    for _ in run_job(asked, VALUES.groups, {}, lambda number: seen.append(f"started {number}")):
        seen.append("finished")
    assert seen == 2 * ["started 0", "statement 0", "started 1", "statement 1", "finished"]


def test_a_slow_statement_is_interrupted_once_and_then_left_out() -> None:
    asked = replace(request("while True: b = 1\na = x"), limits=Limits(statement_seconds=0.1))
    results, started = run(asked)
    for number in (0, 1):
        (problem,) = results[number].problems
        assert (problem.kind, problem.line) == ("TimeLimit", 1)
        assert results[number].tensors["a"].all()
    assert (0, 0) in started
    assert (1, 0) not in started


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("import time; time.sleep(0.02)", 1),
        ("for _ in range(2):\n    w = n + 1\n    sleep(0.02)", 1),
        ("a = x if sleep(0.02) else x + 1", 3),
        ("w = sleep(0.02) or x\na = w + 1", 3),
        ("w = sleep(0.02) or x\nv = w + 1\nprint(v, w)", 1),
        ("w = sleep(0.02) or x\nv = w + 1\nprint(w)\na = v + w", 3),
    ],
    ids=[
        *("a timing", "a training", "a gradient", "what a gradient is made of"),
        *("what is printed", "what a gradient is made of in between"),
    ],
)
def test_a_slow_line_that_makes_no_gradient_is_run_once(
    line: str, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_job_module, "SLOW_SECONDS", 0.01)
    asked = request(f"from time import sleep\n{line}\na = x * 2", Run(), Run(double=True), Run())
    results, started = run(asked)
    slow = asked.statements[2 if line.startswith("import") else 1]
    assert sum(statement == slow.number for _, statement in started) == runs
    assert not results[0].problems
    assert all(result.tensors["a"].tolist() == [2.0] * 3 for result in results.values())


def test_what_is_known_not_to_end_is_not_run_again() -> None:
    asked = request("while True: b = 1\na = x\nos._exit(1)\nif n:\n    while True: pass\na = a")
    slow = Problem(0, "TimeLimit", "", CELL, 1, 1)
    gone = Problem(3, "Gone", "ended the Python process that ran it", CELL, 3)
    inner = Problem(4, "TimeLimit", "", CELL, 5, 5)
    results, started = run(replace(asked, known=(slow, gone, inner)))
    assert list(results[0].problems) == [slow, gone, inner]
    assert results[0].tensors["a"].all()
    assert [statement for number, statement in started if number == 0] == [2, 7]


def test_an_interruption_that_is_swallowed_is_no_problem() -> None:
    source = "import time\ntry: time.sleep(60)\nexcept BaseException: a = x"
    results, started = run(replace(request(source), limits=Limits(statement_seconds=0.1)))
    assert not results[0].problems
    assert results[1].tensors["a"].all()
    assert started == [(0, 0), (0, 1), (1, 0), (1, 1)]


# --- what is sent back


@pytest.mark.parametrize("dtype", sorted(REPORTED_DTYPES, key=str))
def test_every_reported_dtype_arrives(dtype: torch.dtype) -> None:
    tensors, types, _ = run_one(f"a = torch.ones(2, 3).to({dtype})")
    assert not types
    assert tensors["a"].dtype is dtype
    assert tensors["a"].shape == (2, 3)


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("[1, 2]", "list"),
        ("None", "NoneType"),
        ("...", "ellipsis"),
        ("3.0", "float"),
        ("x.numpy()", "ndarray"),
        ("x.to(torch.complex64)", "tensor of dtype torch.complex64 and shape (3,)"),
        ("x.to(torch.complex128)", "tensor of dtype torch.complex128 and shape (3,)"),
        ("x.to(torch.float8_e4m3fn)", "tensor of dtype torch.float8_e4m3fn and shape (3,)"),
        (f"torch.zeros({LARGEST_VALUE // 4 + 1})", "tensor of dtype torch.float32 and shape ("),
        ("torch.zeros(3, device='meta')", "tensor of dtype torch.float32 and shape (3,)"),
        ("torch.nn.Parameter(x.to(torch.complex64), False)", "Parameter"),
        ("type('x' * 10**6, (), {})()", "x" * LONGEST_MESSAGE),
    ],
)
def test_what_is_no_gradient_is_reported_by_its_kind(expression: str, kind: str) -> None:
    # With the blank, which the judge would not have run at all.
    whole = frozenset({0, 1})
    tensors, types, problems = run_one(f"a = {expression}\nb = x", want=("a", "b"), keep=whole)
    assert list(tensors) == ["b"]
    assert types["a"].startswith(kind)
    assert len(types["a"]) <= LONGEST_MESSAGE
    assert not problems


@pytest.mark.parametrize("made", ["torch.zeros({})", "torch.zeros(1).expand({})"])
@pytest.mark.parametrize("more", [0, 1])
def test_a_value_that_is_larger_than_its_tensor_has_a_limit(made: str, more: int) -> None:
    """One of the right size is sent in any case."""
    size = LARGER_VALUE // 4 + more
    source = f"dx = x * 2\nda = {made.format(size)}\ndy = y + 1"
    y = torch.zeros(LARGER_VALUE // 4 + 1)
    groups = given(all={"x": torch.ones(3), "y": y, "a": torch.ones(3)})
    asked = request(source, Run(want=("dx", "da", "dy"), groups=("all",)))
    (result,) = run_job(asked, groups)
    assert {"dx", "dy"} <= result.tensors.keys()
    kind = f"tensor of dtype torch.float32 and shape ({size},)"
    assert result.types == ({"da": kind} if more else {})


def test_what_belongs_to_no_tensor_may_be_as_large_as_any_value() -> None:
    """A training's record of a gradient is one for each step."""
    asked = request(
        f"record = torch.zeros({LARGEST_VALUE // 4})", Run(want=("record",), groups=("all",))
    )
    (result,) = run_job(asked, given(all={"x": torch.ones(3)}))
    assert result.tensors["record"].nbytes == LARGEST_VALUE


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (
            "class K:\n    @property\n    def __class__(self): return 1 / 0\na = K()",
            "object that raises ZeroDivisionError when it is looked at",
        ),
        (
            "class K:\n    @property\n    def __class__(self): raise SystemExit\na = K()",
            "object that raises SystemExit when it is looked at",
        ),
        ("a = torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])", "object that raises"),
    ],
    ids=["raising", "leaving", "nested"],
)
def test_a_value_that_raises_while_it_is_looked_at_costs_itself_alone(
    source: str, kind: str
) -> None:
    tensors, types, problems = run_one(f"{source}\nb = x", want=("a", "b"))
    assert list(tensors) == ["b"]
    assert types["a"].startswith(kind)
    assert len(types["a"]) <= LONGEST_MESSAGE
    assert not problems


def test_a_value_that_cannot_be_looked_at_in_time_costs_itself_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(execution, "LONGEST_LOOK_SECONDS", 0.05)
    source = "class K:\n    @property\n    def __class__(self):\n        while True: pass\na = K()"
    tensors, types, _ = run_one(f"{source}\nb = x", want=("a", "b"))
    assert list(tensors) == ["b"]
    assert types == {"a": "object that raises TimeLimit when it is looked at"}


@pytest.mark.parametrize(
    "expression",
    [
        "x.expand(2, 3)",
        "x.view(3, 1).T",
        "torch.eye(3).to_sparse()",
        "torch.nn.Parameter(x)",
        "x[::2]",
        "torch.zeros(0, 3)",
        "torch.tensor(1.0)",
    ],
)
def test_any_real_tensor_arrives_as_dense_memory_of_its_own(expression: str) -> None:
    tensors, types, _ = run_one(f"a = {expression}\nb = a", want=("a", "b"))
    assert not types
    assert tensors["a"].is_contiguous()
    assert torch.equal(tensors["a"], tensors["b"])
