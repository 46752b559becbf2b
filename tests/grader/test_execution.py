"""Statements run one after the other on given values."""

from collections.abc import Mapping
from typing import Any

import pytest
import safetensors.torch
import torch

from grader import execution
from grader.execution import (
    LARGEST_VALUE,
    LONGEST_MESSAGE,
    REPORTED_DTYPES,
    Request,
    RunOrder,
    read_metadata,
    run_request,
)

Outcome = tuple[dict[str, torch.Tensor], dict[str, str], list[dict[str, Any]]]


def order(want: tuple[str, ...] = ("a",), **changes: Any) -> RunOrder:
    fields: dict[str, Any] = {
        "groups": ("values",),
        "keep": frozenset(range(100)),
        "fixed": (),
        "double": False,
        "constants": {"n": 3},
    }
    return RunOrder(want=want, **(fields | changes))


def request(source: str, *runs: RunOrder, **groups: dict[str, torch.Tensor]) -> Request:
    values = {"values": {"x": torch.ones(3)}} | groups
    return Request((("ex0-cell", source),), values, runs or (order(),), 5.0, 20.0, 2**30)


def run(
    asked: Request, deadly: Mapping[int, str] | None = None, skip: tuple[int, ...] = ()
) -> tuple[dict[int, Outcome], list[tuple[int, int]]]:
    results: dict[int, bytes] = {}
    started: list[tuple[int, int]] = []
    run_request(asked, deadly or {}, lambda r, s: started.append((r, s)), results.__setitem__, skip)
    return {number: read(blob) for number, blob in results.items()}, started


def read(blob: bytes) -> Outcome:
    metadata = read_metadata(blob)
    return safetensors.torch.load(blob), metadata["types"], metadata["problems"]


def run_one(source: str, **changes: Any) -> Outcome:
    results, _ = run(request(source, order(**changes)))
    return results[0]


def test_a_request_survives_its_packing() -> None:
    base = torch.arange(6.0).view(2, 3)
    sent = request(
        "a = 1",
        order(("a", "b"), fixed=("b",), double=True, keep=frozenset({2, 0})),
        order(groups=("values", "other")),
        values={"base": base, "view": base.T, "ints": torch.arange(3)},
        other={"base": torch.zeros(0, 2).double()},
    )
    received = Request.unpack(sent.pack())
    assert (received.cells, received.runs) == (sent.cells, sent.runs)
    assert (received.statement_seconds, received.total_seconds, received.memory_bytes) == (
        *(sent.statement_seconds, sent.total_seconds),
        sent.memory_bytes,
    )
    for group, values in sent.groups.items():
        for name, value in values.items():
            found = received.groups[group][name]
            assert found.dtype == value.dtype
            assert torch.equal(found, value)


def test_an_answer_finds_the_notebooks_names() -> None:
    tensors, types, problems = run_one(
        "check('a'); cmp('a', 1, 2); board(); heat_map('a'); hint('a')\n"
        "a = F.relu(x) * n + torch.zeros(3) * math.pi"
    )
    assert not problems
    assert not types
    assert torch.equal(tensors["a"], torch.full((3,), 3.0))


def test_only_what_is_kept_runs() -> None:
    tensors, _, problems = run_one(
        "a = x * 1\nif n:\n    a = x * 2\n    1 / 0\na = x * 3", keep=frozenset({0, 1, 2})
    )
    assert not problems
    assert torch.equal(tensors["a"], torch.full((3,), 2.0))


def test_a_statement_that_raises_does_not_stop_the_next() -> None:
    tensors, _, problems = run_one("b = 1 / 0\na = x")
    assert torch.equal(tensors["a"], torch.ones(3))
    assert problems == [
        {
            "statement": 0,
            "kind": "ZeroDivisionError",
            "message": "division by zero",
            "cell": "ex0-cell",
            "line": 1,
            "inner": 0,
        }
    ]


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
    assert (problem["kind"], problem["line"]) == (kind, line)
    assert "\n" not in problem["message"]


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
    assert (problem["statement"], problem["inner"]) == (statement, inner)


def test_a_message_that_cannot_be_had_or_has_no_end() -> None:
    bad = "class E(Exception):\n    def __str__(self): return 1\nraise E"
    assert run_one(bad)[2][0]["message"] == "its message cannot be shown (TypeError)"
    _, _, (problem,) = run_one("raise ValueError('x' * 10**6)")
    assert len(problem["message"]) == LONGEST_MESSAGE


def test_a_wanted_name_is_not_given() -> None:
    tensors, types, problems = run_one("pass", want=("x", "a"))
    assert not tensors
    assert not types
    assert not problems


def test_what_is_fixed_has_its_given_value_after_every_statement() -> None:
    source = "b = x * 2\nb += 1\na = b"
    loose = run(request(source, order(), values={"x": torch.ones(3), "b": torch.zeros(3)}))
    fixed = run(
        request(source, order(fixed=("b",)), values={"x": torch.ones(3), "b": torch.zeros(3)})
    )
    assert torch.equal(loose[0][0][0]["a"], torch.full((3,), 3.0))
    assert torch.equal(fixed[0][0][0]["a"], torch.zeros(3))


def test_later_groups_stand_over_earlier_ones() -> None:
    asked = request(
        "a = x",
        order(groups=("values", "other")),
        order(groups=("other", "values")),
        other={"x": torch.zeros(3)},
    )
    results, _ = run(asked)
    assert not results[0][0]["a"].any()
    assert results[1][0]["a"].all()


def test_runs_share_nothing() -> None:
    asked = request(
        "x += 1\na = x\nb = globals().get('left', 0)\nleft = 7",
        order(("a", "b")),
        order(("a", "b")),
    )
    results, _ = run(asked)
    assert results[0][1] == results[1][1] == {"b": "int"}
    assert torch.equal(results[0][0]["a"], results[1][0]["a"])


def test_random_numbers_are_the_same_in_every_run() -> None:
    results, _ = run(request("a = torch.randn(3)", order(), order()))
    assert torch.equal(results[0][0]["a"], results[1][0]["a"])


def test_double_precision_where_asked() -> None:
    results, _ = run(request("a = torch.zeros(2).float()", order(double=True), order()))
    assert results[0][0]["a"].dtype is torch.float64
    assert results[1][0]["a"].dtype is torch.float32


def test_every_statement_is_announced_and_a_deadly_one_left_out() -> None:
    asked = request("b = 1\nif b:\n    c = 2\na = x", order(), order())
    _, started = run(asked)
    assert started == [(0, 0), (0, 1), (0, 3), (1, 0), (1, 1), (1, 3)]
    results, started = run(asked, deadly={1: "ended it"}, skip=(0,))
    assert started == [(1, 0), (1, 3)]
    assert list(results) == [1]
    (problem,) = results[1][2]
    assert (problem["kind"], problem["message"], problem["line"]) == ("Gone", "ended it", 2)


def test_a_slow_statement_is_interrupted_once_and_then_left_out() -> None:
    asked = request("while True: b = 1\na = x", order(), order())
    hasty = Request(asked.cells, asked.groups, asked.runs, 0.1, 20.0, 2**30)
    results, started = run(hasty)
    for number in (0, 1):
        (problem,) = results[number][2]
        assert (problem["kind"], problem["line"]) == ("TimeLimit", 1)
        assert results[number][0]["a"].all()
    assert (1, 0) not in started


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
    tensors, types, problems = run_one(f"a = {expression}\nb = x", want=("a", "b"))
    assert list(tensors) == ["b"]
    assert types["a"].startswith(kind)
    assert not problems


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


def test_metadata_of_a_blob_without_any_is_empty() -> None:
    assert read_metadata(safetensors.torch.save({"a": torch.ones(1)})) == {}
