"""Results survive their packing, and nothing else that comes back is taken for results."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import safetensors.torch
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from grader.worker.results import (
    LONGEST_MESSAGE,
    MOST_DIMENSIONS,
    MOST_NAMES,
    REPORTED_DTYPES,
    Problem,
    Result,
    Trace,
    fields_of,
    pack_results,
    unpack_results,
)

PROBLEM = Problem(3, "ValueError", "it's \N{SNOWMAN} \ud800", "ex1-max", 7, 4)
TRACE = Trace(
    {"dh": frozenset({"dlogits"})},
    {"dh": frozenset({"db", "dW"}), "dW": frozenset({"db"})},
    {"db": frozenset({"dh"})},
    {"db": torch.arange(3.0)},
    frozenset({(6, "db")}),
    frozenset({(4, "dh"), (7, "dW")}),
)
GOOD = (
    Result({"dh": torch.arange(6.0).view(2, 3), "db": torch.ones(2)}, {"dW": "list"}, ()),
    Result({}, {}, (PROBLEM, Problem(0, "Gone", "ended")), TRACE),
    Result({"dh": torch.ones(2, 3).double(), "dC": torch.tensor(1.0)}, {}, ()),
)


def same(found: Sequence[Result], expected: Sequence[Result]) -> None:
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        assert list(mine.tensors) == list(theirs.tensors)
        for name, tensor in theirs.tensors.items():
            assert (mine.tensors[name].dtype, mine.tensors[name].shape) == (
                *(tensor.dtype, tensor.shape),
            )
            assert torch.equal(mine.tensors[name], tensor)
        assert mine.types == theirs.types
        assert tuple(mine.problems) == tuple(theirs.problems)
        if theirs.trace is None:
            assert mine.trace is None
        else:
            assert mine.trace is not None
            assert fields_of(replace(mine.trace, assigned={})) == (
                fields_of(replace(theirs.trace, assigned={}))
            )
            assert torch.equal(mine.trace.assigned["db"], theirs.trace.assigned["db"])


def test_results_survive_their_packing() -> None:
    same(unpack_results(pack_results(GOOD), 3), GOOD)
    same(unpack_results(memoryview(pack_results(GOOD)), 3), GOOD)
    same(unpack_results(pack_results(()), 0), ())


@pytest.mark.parametrize(
    "shape", [(), (0,), (0, 3), (3, 0, 2), (1,), (2, 1, 3), (1,) * 16], ids=str
)
@pytest.mark.parametrize("dtype", sorted(REPORTED_DTYPES, key=str), ids=str)
def test_every_dtype_and_shape_survives_beside_others(
    dtype: torch.dtype, shape: tuple[int, ...]
) -> None:
    numbers = torch.arange(math.prod(shape)).view(shape).to(dtype)
    results = [
        Result({"dh": numbers, "db": torch.ones(2).to(dtype)}, {}, ()),
        Result({"other": torch.zeros(3)}, {}, ()),
        Result({"dh": (numbers == 0).to(dtype)}, {}, ()),
    ]
    same(unpack_results(pack_results(results), 3), results)


@pytest.mark.parametrize("more", [0, 1])
def test_what_names_more_than_an_answer_has_is_refused(more: int) -> None:
    names = frozenset(f"n{number}" for number in range(MOST_NAMES + more))
    sent = pack_results([Result({}, {}, (), Trace({"dh": names}))])
    if more:
        with pytest.raises(ValueError, match="not the results of 1 runs"):
            unpack_results(sent, 1)
    else:
        (found,) = unpack_results(sent, 1)
        assert found.trace is not None
        assert found.trace.lent == {"dh": names}


def test_numbers_that_are_none_survive() -> None:
    odd = torch.tensor([math.nan, math.inf, -math.inf, -0.0])
    (found,) = unpack_results(pack_results([Result({"dh": odd}, {}, ())]), 1)
    assert found.tensors["dh"].view(torch.int32).equal(odd.view(torch.int32))


@pytest.mark.parametrize("most", [0, 1, 2])
def test_more_runs_than_were_asked_for_are_refused(most: int) -> None:
    with pytest.raises(ValueError, match=f"not the results of {most} runs"):
        unpack_results(pack_results(GOOD), most)


def test_the_first_runs_are_read_where_there_are_no_more() -> None:
    same(unpack_results(pack_results(GOOD), 10**9), GOOD)


# --- what no worker of ours would send


def blob(runs: object, tensors: dict[str, Tensor] | None = None) -> bytes:
    values = {"float32": torch.arange(6.0)} if tensors is None else tensors
    return safetensors.torch.save(values, {"runs": json.dumps(runs)})


def run(values: object = (), types: object = None, problems: object = ()) -> dict[str, object]:
    return {"values": values, "types": {} if types is None else types, "problems": problems}


def raw(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def header(tensors: dict[str, Any], data: int = 0, runs: object = "[]") -> bytes:
    return raw({"__metadata__": {"runs": runs}, **tensors}, b"\x00" * data)


def problem(**changes: object) -> list[object]:
    fields: dict[str, object] = {"statement": 0, "kind": "E", "message": "no"}
    fields |= {"cell": "ex1-max", "line": 2, "inner": 0} | changes
    return list(fields.values())


DEEP = "[" * 10**5
HUGE = 2**32 - 1
ONE = [run([["dh", "float32", [6]]])]
WHOLE = blob(ONE)

NO_RUNS: dict[str, bytes] = {
    "nothing": b"",
    "a byte": b"\x00",
    "no blob": b"garbage that is not a safetensors blob",
    "all ones": b"\xff" * 64,
    "half": WHOLE[: len(WHOLE) // 2],
    "all but one byte": WHOLE[:-1],
    "a byte more": WHOLE + b"x",
    "no metadata": raw({}),
    "a list": raw([]),
    "a text": raw("text"),
    "no JSON": raw(b"{" * 50),
    "deep JSON": raw(DEEP.encode()),
    "metadata a list": raw({"__metadata__": []}),
    "metadata of others": raw({"__metadata__": {"types": "{}"}}),
    "runs no text": header({}, runs=[]),
    "runs a number": header({}, runs=1),
    "runs no JSON": header({}, runs="{"),
    "runs not a list": header({}, runs="7"),
    "runs an object": header({}, runs='{"0": 1}'),
    "runs a text": blob("x"),
    "deep runs": header({}, runs=DEEP),
    "deep in a run": header({}, runs="[" + '{"values":' * 10**4 + "[]" + "}" * 10**4 + "]"),
    "no run": blob([None]),
    "run a number": blob([7]),
    "run a list": blob([[]]),
    "run of nothing": blob([{}]),
    "run without types": blob([{"values": [], "problems": []}]),
    "run without problems": blob([{"values": [], "types": {}}]),
    "run without values": blob([{"types": {}, "problems": []}]),
    "two runs": blob([run(), run()]),
    "a hundred thousand runs": blob([{}] * 10**5),
    "tensor a number": header({"float32": 1}, runs=json.dumps(ONE)),
    "tensor of no dtype": header(
        {"float32": {"dtype": "F99", "shape": [6], "data_offsets": [0, 24]}}, 24, json.dumps(ONE)
    ),
    "tensor beyond the data": header(
        {"float32": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}},
        24,
        json.dumps(ONE),
    ),
    "tensor whose size overflows": header(
        {"float32": {"dtype": "F32", "shape": [0, 2**63 - 1, 4], "data_offsets": [0, 0]}},
        0,
        json.dumps(ONE),
    ),
    "tensors that overlap": header(
        {
            "float32": {"dtype": "F32", "shape": [6], "data_offsets": [0, 24]},
            "float64": {"dtype": "F64", "shape": [3], "data_offsets": [0, 24]},
        },
        24,
        json.dumps(ONE),
    ),
}

VALUES: dict[str, object] = {
    "a number": 7,
    "a text": "dh",
    "nothing": None,
    "of numbers": [7],
    "too short": [["dh", "float32"]],
    "too long": [["dh", "float32", [6], 1]],
    "unknown dtype": [["dh", "float64", [6]]],
    "dtype a list": [["dh", ["float32"], [6]]],
    "dtype nothing": [["dh", None, [6]]],
    "shape a number": [["dh", "float32", 6]],
    "shape a text": [["dh", "float32", "6"]],
    "shape nothing": [["dh", "float32", None]],
    "shape an object": [["dh", "float32", {"0": 6}]],
    "negative": [["dh", "float32", [-6]]],
    "negative twice": [["dh", "float32", [-2, -3]]],
    "minus one": [["dh", "float32", [-1]]],
    "bool": [["dh", "float32", [True]]],
    "float": [["dh", "float32", [6.0]]],
    "NaN": [["dh", "float32", [math.nan]]],
    "infinite": [["dh", "float32", [math.inf]]],
    "nested": [["dh", "float32", [[6]]]],
    "text inside": [["dh", "float32", ["6"]]],
    "larger than the data": [["dh", "float32", [7]]],
    "huge": [["dh", "float32", [HUGE]]],
    "huge product": [["dh", "float32", [HUGE, HUGE, HUGE]]],
    "empty and huge": [["dh", "float32", [0, 2**31, 1]]],
    "beyond any size": [["dh", "float32", [2**32]]],
    "beyond any number": [["dh", "float32", [10**400]]],
    "too many dimensions": [["dh", "float32", [1] * (MOST_DIMENSIONS + 1)]],
    "a million dimensions": [["dh", "float32", [0] * 10**6]],
    "more values than data": [["dh", "float32", [4]], ["db", "float32", [3]]],
    "the same data again and again": [["dh", "float32", [6]]] * 2,
}

TYPES: dict[str, object] = {"a list": ["dh"], "a text": "dh", "a number": 1, "false": False}

PROBLEMS: dict[str, object] = {
    "a number": 7,
    "of numbers": [7],
    "of texts": ["text"],
    "an object": [{}],
    "empty": [[]],
    "as an object": [dict(zip(("statement", "kind"), (0, "E"), strict=True))],
    "statement a text": [problem(statement="0")],
    "statement a list": [problem(statement=[])],
    "statement nothing": [problem(statement=None)],
    "statement a float": [problem(statement=0.0)],
    "statement NaN": [problem(statement=math.nan)],
    "kind nothing": [problem(kind=None)],
    "message a list": [problem(message=["no"])],
    "cell an object": [problem(cell={"a": 1})],
    "line a float": [problem(line=1.5)],
    "line a text": [problem(line="1")],
    "inner a text": [problem(inner="0")],
    "too short": [problem()[:-1]],
    "too long": [[*problem(), 0]],
}

TRACES: dict[str, object] = {
    "a number": 7,
    "a dictionary": {"lent": []},
    "too short": [[], [], [], []],
    "too long": [[], [], [], [], [], []],
    "no pairs": [[["dh"]], [], [], [], []],
    "no number": [[], [], [], [], [["a", "dh"]]],
}

BROKEN = {
    **NO_RUNS,
    **{f"values {name}": blob([run(values=value)]) for name, value in VALUES.items()},
    **{f"types {name}": blob([run(types=value)]) for name, value in TYPES.items()},
    **{f"problems {name}": blob([run(problems=value)]) for name, value in PROBLEMS.items()},
    **{
        f"trace {name}": blob([{**run(), "trace": value, "assigned": []}])
        for name, value in TRACES.items()
    },
}


def test_what_is_broken_below_would_be_read_if_it_were_whole() -> None:
    whole = blob([run([["dh", "float32", [2, 3]]], {"db": "list"}, [problem()])])
    (found,) = unpack_results(whole, 1)
    assert torch.equal(found.tensors["dh"], torch.arange(6.0).view(2, 3))
    assert found.types == {"db": "list"}
    assert found.problems == (Problem(0, "E", "no", "ex1-max", 2, 0),)
    data = header({"float32": {"dtype": "F32", "shape": [6], "data_offsets": [0, 24]}}, 24, "[]")
    assert unpack_results(data, 0) == []


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_result_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not the results of 1 runs"):
        unpack_results(BROKEN[name], 1)


def test_what_is_said_has_an_end() -> None:
    long = "x" * 10**6
    sent = blob([run(types={"dh": long, "db": 7}, problems=[problem(kind=long, message=long)])])
    (found,) = unpack_results(sent, 1)
    assert found.types == {"dh": "x" * LONGEST_MESSAGE, "db": "7"}
    assert [(p.kind, p.message) for p in found.problems] == [("x" * LONGEST_MESSAGE,) * 2]


@pytest.mark.parametrize("dtype", ["complex64", "float8_e4m3fn", "lie"])
def test_rows_of_other_dtypes_are_refused(dtype: str) -> None:
    sent = blob([run([["dh", dtype, [2]]])], {dtype: torch.ones(16, dtype=torch.uint8)})
    with pytest.raises(ValueError, match="KeyError"):
        unpack_results(sent, 1)


def test_a_row_is_read_as_the_dtype_of_its_name() -> None:
    sent = blob([run([["dh", "float32", [2]]])], {"float32": torch.ones(4, dtype=torch.int16)})
    assert unpack_results(sent, 1)[0].tensors["dh"].dtype is torch.float32


def test_every_run_gets_values_of_its_own() -> None:
    """Two runs, or two names, never share data: what is changed in one stays out of the other."""
    values = [["dh", "float32", [2]], ["dh", "float32", [1]], ["db", "float32", [0]]]
    first, second = unpack_results(blob([run(values), run([["dh", "float32", [3]]])]), 2)
    assert first.tensors["dh"].tolist() == [2.0]
    assert second.tensors["dh"].tolist() == [3.0, 4.0, 5.0]
    assert first.tensors["db"].shape == (0,)


# --- what nobody thought of

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.sampled_from(["dh", "float32", "int64", "", "\ud800", "0"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["values", "types", "problems", "dh"]), inner, max_size=3)
    ),
    max_leaves=12,
)
SHAPES = st.lists(st.integers(-2, 7) | st.booleans() | JSON, max_size=4) | JSON
RUN = st.fixed_dictionaries(
    {
        "values": st.lists(
            st.tuples(st.sampled_from(["dh", "db"]), st.sampled_from(["float32", "int64"]), SHAPES),
            max_size=3,
        )
        | JSON,
        "types": st.dictionaries(st.text(max_size=3), JSON, max_size=2) | JSON,
        "problems": st.lists(
            st.tuples(*[st.integers() | JSON, *[st.text(max_size=3) | JSON] * 3, *[JSON] * 2]),
            max_size=2,
        )
        | JSON,
    }
)
DATA = {"float32": torch.arange(6.0), "int64": torch.arange(6)}


def check(data: bytes, count: int) -> bool:
    """Results of the promised types, or the promised error and no other."""
    with contextlib.suppress(ValueError):
        found = unpack_results(data, count)
        assert len(found) == count
        for result in found:
            assert all(type(name) is str for name in (*result.tensors, *result.types))
            assert all(type(tensor) is Tensor for tensor in result.tensors.values())
            assert all(type(kind) is str for kind in result.types.values())
            assert all(len(kind) <= LONGEST_MESSAGE for kind in result.types.values())
            for item in result.problems:
                assert isinstance(item.statement, int)
                assert type(item.kind) is type(item.message) is str
                assert item.cell is None or type(item.cell) is str
                assert item.line is None or isinstance(item.line, int)
                assert item.inner is None or isinstance(item.inner, int)
        return True
    return False


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_no_bytes_are_a_traceback(data: bytes) -> None:
    check(data, 1)


@pytest.mark.slow
@given(st.lists(RUN, max_size=2) | JSON)
@settings(max_examples=300, deadline=None)
def test_no_data_is_a_traceback(runs: object) -> None:
    data = blob(runs, DATA)
    check(data, len(runs) if isinstance(runs, list) else 1)


@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=4))
@settings(max_examples=150, deadline=None)
def test_no_changed_bytes_are_a_traceback(place: int, change: bytes) -> None:
    check(WHOLE[:place] + change + WHOLE[place + len(change) :], 1)


def test_the_search_for_a_traceback_finds_some_that_are_read() -> None:
    assert check(WHOLE, 1)
    assert check(blob([run([["dh", "float32", [2]]]), run()], DATA), 2)
    assert not check(b"", 1)
