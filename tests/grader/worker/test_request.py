"""Requests and values survive their packing."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from grader.worker.request import Group, Request, Statement, Terms, Values
from grader.worker.results import Problem
from grader.worker.terms import Limits
from tests.helpers.asking import CELL, Run, request

BASE = torch.arange(6.0).view(2, 3)
GROUPS: dict[str, Group] = {
    "values": {
        **{"base": BASE, "view": BASE.T, "row": BASE[0], "ints": torch.arange(3)},
        **{"n": 3, "eps": 1e-5, "largest": 2**53 + 1},
    },
    "other": {"base": torch.zeros(0, 2).double(), "yes": torch.tensor(True)},
    "numbers": {"n": 4},
    "nothing": {},
}

SOURCE = "if n:\n    a = x\n    1 / 0\ndef f(t):\n    return t + 1\nb = f(a)"


def views(parts: list[bytes]) -> list[memoryview]:
    """The parts of a frame as they are received."""
    return [memoryview(part) for part in parts]


def same(found: object, expected: object) -> None:
    """Equal groups: names in order, numbers, tensors with dtype and shape."""
    assert isinstance(found, dict)
    assert isinstance(expected, dict)
    assert list(found) == list(expected)
    for name, group in expected.items():
        assert set(found[name]) == set(group)
        for key, value in group.items():
            assert_equal(found[name][key], value)


def assert_equal(found: Tensor | float, expected: Tensor | float) -> None:
    if isinstance(expected, Tensor):
        assert isinstance(found, Tensor)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert torch.equal(found, expected)
    else:
        assert (type(found), found) == (type(expected), expected)


def test_values_survive_their_packing() -> None:
    received = Values.unpack(views(Values("values-7", GROUPS).pack()))
    assert received.key == "values-7"
    same(received.groups, GROUPS)
    # Numbers stay what they are: a size is an index, and no float can be one.
    assert type(received.groups["values"]["n"]) is int


def test_values_of_no_tensors_survive() -> None:
    received = Values.unpack(views(Values("", {"numbers": {"n": 1}}).pack()))
    same(received.groups, {"numbers": {"n": 1}})


def test_tensors_of_what_is_received_share_no_memory() -> None:
    received = Values.unpack(views(Values("key", GROUPS).pack())).groups["values"]
    base, view = received["base"], received["view"]
    assert isinstance(base, Tensor)
    assert isinstance(view, Tensor)
    base.zero_()
    assert view.any()
    assert BASE.any()


@pytest.mark.parametrize("extra", [{}, GROUPS], ids=["none", "groups"])
def test_a_request_survives_its_packing(extra: dict[str, Group]) -> None:
    sent = request(
        SOURCE,
        Run(("a", "b"), fixed=("b",), double=True, keep=frozenset({0, 1})),
        Run(groups=("values", "other")),
        Run(want=(), keep=frozenset()),
        extra=extra,
    )
    recorded = replace(sent.runs[0], recorded=True)
    known = (Problem(3, "TimeLimit", "", "ex1-max", 2, 4), Problem(0, "Gone", "ended"))
    sent = replace(sent, runs=(*sent.runs, recorded), known=known)
    received = Request.unpack(views(sent.pack()))
    assert received.known == known
    assert received.values == sent.values
    assert received.runs == sent.runs
    assert received.limits == sent.limits
    same(received.extra, extra)
    assert list(map(as_tuple, received.statements)) == list(map(as_tuple, sent.statements))
    # What is pruned is a statement of its own: the same block whole, and in part.
    assert [(s.number, len(s.inside)) for s in received.statements] == [
        *((0, 2), (0, 3), (3, 1), (4, 1)),
    ]


@pytest.mark.parametrize(("stays", "continues"), [(False, False), (True, False), (True, True)])
def test_the_terms_of_a_request_are_read_without_the_rest(stays: bool, continues: bool) -> None:
    """In the process that forks, which must not know what an answer holds."""
    asked = request(SOURCE, Run(), Run(), Run())
    sent = replace(asked, stays=stays, continues=continues)
    parts, terms = views(sent.pack()), Terms(Limits(5.0, 20.0, 2**30), 3, stays, continues)
    assert Terms.read(parts) == Terms.read([*parts[:2], *[memoryview(b"no code")] * 3]) == terms
    received = Request.unpack(parts)
    assert (received.stays, received.continues) == (stays, continues)


def as_tuple(statement: Statement) -> tuple[object, ...]:
    return (
        *(statement.number, statement.cell, statement.line, statement.inside),
        statement.code,
    )


def test_code_that_was_received_runs_and_knows_its_place() -> None:
    received = Request.unpack(views(request(SOURCE, Run()).pack()))
    names = {"n": 1, "x": 1}
    with pytest.raises(ZeroDivisionError) as raised:
        exec(received.statements[0].code, names)
    assert raised.traceback[-1].frame.code.raw.co_filename == f"<answer {CELL}>"
    assert raised.traceback[-1].lineno + 1 == 3
    exec(received.statements[1].code, names)
    exec(received.statements[2].code, names)
    assert names["b"] == 2


@pytest.mark.parametrize(("line", "number"), [(1, 0), (2, 1), (3, 2), (4, 0), (99, 0)])
def test_the_innermost_statement_on_a_line(line: int, number: int) -> None:
    statement = request(SOURCE, Run()).statements[0]
    assert statement.innermost(line) == number


def test_statements_of_one_request_are_packed_once() -> None:
    once, often = request(SOURCE, Run()), request(SOURCE, *[Run()] * 50)
    received = Request.unpack(views(often.pack()))
    assert len(received.runs) == 50
    assert len(received.statements) == len(once.statements) == 3


def test_the_values_themselves_are_not_in_a_request() -> None:
    secret = torch.full((3,), 1.2345678).numpy().tobytes()
    values = Values("key", {"values": {"x": torch.full((3,), 1.2345678)}})
    sent = request("a = x", Run(), values=values)
    assert secret in b"".join(values.pack())
    assert secret not in b"".join(sent.pack())
    assert secret in b"".join(replace(sent, extra=values.groups).pack())
