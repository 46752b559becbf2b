"""Whole statements: another sign of assignment, another order, a result that is thrown away."""

from __future__ import annotations

import pytest

from grader.diagnosis.edits.statements import change_order, change_statement
from grader.diagnosis.kinds import Kind
from tests.helpers.own_edits import SCOPE, changes, own_of


@pytest.mark.parametrize(
    ("source", "kind", "text"),
    [
        ("dC[0] = b", Kind.OVERWRITTEN_BRANCH, "dC[0] += b"),
        ("dC[ix] = b", Kind.NOT_ACCUMULATED, "dC[ix] += b"),
        ("dC[Xb[0]] = b", Kind.NOT_ACCUMULATED, "dC[Xb[0]] += b"),
        ("dx = b", Kind.OVERWRITTEN_BRANCH, "dx += b"),
        ("dx = (b +\n      c)", Kind.OVERWRITTEN_BRANCH, "dx += (b +\n      c)"),
        ("dx += b", Kind.SIGN, "dx -= b"),
        ("dx -= b", Kind.SIGN, "dx += b"),
        ("dx += b", Kind.OPERATOR, "dx = b"),
        ("dx /= b", Kind.OPERATOR, "dx *= b"),
        ("dx *= b", Kind.MULTIPLIED_BRANCHES, "dx += b"),
        ("dx[0] *= b", Kind.OPERATOR, "dx[0] += b"),
        ("dx + b", Kind.STATEMENT, "dx = dx + b"),
        ("dx.add(b, alpha=2)", Kind.STATEMENT, "dx.add_(b, alpha=2)"),
        ("dx == b; dx = b <= c", Kind.OVERWRITTEN_BRANCH, "         dx += b <= c"),
    ],
)
def test_another_statement(source: str, kind: Kind, text: str) -> None:
    own = own_of(source)[2][-1]
    assert (kind, text) in changes([*change_statement(own, own.top, SCOPE)])


@pytest.mark.parametrize(
    "source", ["da = db = c", "pass", "dx: Tensor = b", "if a:\n    b = h * h"]
)
def test_no_other_statement(source: str) -> None:
    own = own_of(source)[2][-1]
    assert changes([*change_statement(own, own.top, SCOPE)]) == set()


def test_a_statement_inside_a_loop_changes_where_it_stands() -> None:
    source = "for i in r:\n    ix = Xb[i]\n    dC[ix] = demb[i]"
    answer, _, (own,) = own_of(source)
    inner = answer.statements[2]
    found = changes([*change_statement(own, inner, SCOPE)])
    assert (Kind.NOT_ACCUMULATED, source.replace("dC[ix] =", "dC[ix] +=")) in found


def test_the_counter_of_a_loop_comes_once() -> None:
    answer, _, (own,) = own_of("for i in r:\n    dC[i] = demb[i]")
    kinds = {kind for kind, _ in changes([*change_statement(own, answer.statements[1], SCOPE)])}
    assert kinds == {Kind.OVERWRITTEN_BRANCH}


@pytest.mark.parametrize(
    ("source", "piece"),
    [("dC[i] = b", "dC[i]"), ("dx += b", "dx"), ("dx + b", "dx + b"), ("dx.add(b)", "dx.add(b)")],
)
def test_the_piece_is_what_is_wrong(source: str, piece: str) -> None:
    (own,) = own_of(source)[2]
    pieces = {own.text[slice(*one.piece)] for one in change_statement(own, own.top, SCOPE)}
    assert pieces == {piece}


def test_two_statements_the_other_way_round() -> None:
    statements = own_of("a = 1\nb = 2\nc = 3")[2]
    found = [*change_order(statements[::-1])]
    assert [one.texts for one in found] == [{2: "b = 2", 1: "c = 3"}, {1: "a = 1", 0: "b = 2"}]
    assert {one.kind for one in found} == {Kind.STATEMENT}
