"""What statements do to names, as far as their text shows it."""

from __future__ import annotations

import pytest

from grader.answer.effects import SHOWING, Effects, handed_over, join_effects
from grader.answer.parse import Answer, AnswerCell, parse_answer
from grader.worker.execution import NOTEBOOK_FUNCTIONS
from grader.worker.results import Seen


def read(source: str) -> Answer:
    answer = parse_answer([AnswerCell("ex1-loss", source)])
    assert not answer.broken
    return answer


def last_effects(source: str) -> Effects:
    answer = read(source)
    return answer.effects[answer.top[-1]]


@pytest.mark.parametrize(
    ("source", "reads", "binds", "changes"),
    [
        ("dh = dlogits @ W2.T", "dlogits W2", "dh", ""),
        ("a, (b, *c) = d", "d", "a b c", ""),
        ("a = b = c + 1", "c", "a b", ""),
        ("dh += x", "dh x", "", "dh"),
        ("dh[0] = x", "dh x", "", "dh"),
        ("dh[i, j] -= x", "dh i j x", "", "dh"),
        ("dh.data[0] = x", "dh x", "", "dh"),
        ("del dh[0]", "dh", "", "dh"),
        ("dh.add_(x)", "dh x", "", "dh"),
        ("dh.view(-1).mul_(x)", "dh x", "", "dh"),
        ("a = dh.clone().mul_(x)", "dh x", "a", ""),
        ("a = dh.sum(0).view(-1).mul_(x)", "dh x", "a", ""),
        ("dh.clone()[0] = x", "dh x", "", ""),
        ("dh.__init__(x)", "dh x", "", ""),
        ("F.relu_(a)", "F a", "", ""),
        ("a = torch.add(b, c)", "torch b c", "a", ""),
        ("import numpy as np", "", "np", ""),
        ("import os.path", "", "os", ""),
        ("from math import sqrt as root", "", "root", ""),
        ("a = [x for x in b if x]", "b", "a", ""),
        ("a = {x: y for x, y in b if x}", "b", "a", ""),
        ("a = sum(x * w for x in b)", "sum w b", "a", ""),
        ("a = [(y := x) for x in b]", "b", "a y", ""),
        ("f = lambda x: x + y", "y", "f", ""),
        ("x: int", "", "", ""),
        ("x: T = y", "T y", "x", ""),
        ("print(dh)", "print dh", "", ""),
        ("def f(x, y=z): return x @ W", "z W", "f", ""),
        ("@wrap\ndef f(x):\n    t = x\n    return t", "wrap", "f", ""),
        ("class K(Base, meta=M):\n    g = dh\n    def dX(self): return W", "Base M dh W", "K", ""),
    ],
)
def test_reads_binds_and_changes(source: str, reads: str, binds: str, changes: str) -> None:
    effects = last_effects(source)
    assert effects.binds == set(binds.split())
    assert effects.changes == set(changes.split())
    assert effects.reads == set(reads.split())


@pytest.mark.parametrize(
    ("source", "reads", "binds"),
    [
        ("if (n := len(a)) > 1:\n    b = n\nelse:\n    c = d", "len a", "n"),
        ("for i in range(a):\n    b = i", "range a", "i"),
        ("while a:\n    b = c", "a", ""),
        ("with a as b:\n    c = b", "a", "b"),
        ("try:\n    a = b\nexcept Error as e:\n    c = d\nfinally:\n    f = g", "Error", "e"),
        ("match a:\n    case K(x=b, y=[*c]) if d:\n        e = f", "a K d", "b c"),
    ],
)
def test_a_compound_statement_does_what_its_own_line_does(
    source: str, reads: str, binds: str
) -> None:
    effects = last_effects(source)
    assert effects.reads == set(reads.split())
    assert effects.binds == set(binds.split())


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("f(x, y)", "x y"),
        ("x.clone().sum(0)", "x"),
        ("F.relu_(a)", "a"),
        ("parts.append(dh)", "parts dh"),
        ("print(dh)", ""),
        ("check('dh', dh)", ""),
        ("dh.add_(x)", ""),
        ("dh", ""),
        ("a = f(x)", ""),
    ],
)
def test_a_call_for_its_own_sake_may_change_what_it_is_handed(source: str, names: str) -> None:
    answer = read(source)
    (statement,) = answer.top
    assert handed_over(statement, answer.effects[statement]) == set(names.split())


def test_the_notebooks_functions_only_show_something() -> None:
    assert set(NOTEBOOK_FUNCTIONS) <= SHOWING


def test_what_was_seen_is_added_to_what_the_text_shows() -> None:
    answer = read("a = f(b)\nprint(c)\nshow(a, d)\nshow(a, d)")
    seen = {0: Seen({"k"}, {"m"}, {"b"}), 3: Seen({"a"}), 99: Seen({"x"}), -1: Seen({"y"})}
    first, plain, unknown, ran = join_effects(answer.effects, seen).values()
    assert first.reads == {"f", "b", "k"}
    assert first.binds == {"a", "m"}
    assert first.changes == {"b"}
    assert not plain.perhaps
    # It never ran: what it is handed may be changed, for all one knows.
    assert unknown.perhaps == {"a", "d"}
    assert not ran.perhaps


@pytest.mark.parametrize(
    "source",
    [
        "exec('dh = 1')",
        "globals()['dh'] = 1",
        "a = eval('b')",
        "setattr(a, 'b', c)",
        "from helpers import *",
        "def f(): exec('dh = 1')",
        "run = exec",
    ],
)
def test_names_may_be_bound_that_the_text_does_not_show(source: str) -> None:
    assert read(source).is_dynamic
    assert not read("dh = dlogits @ W2.T").is_dynamic


@pytest.mark.parametrize(
    "source",
    [
        "dh = dlogits @ W2.T",
        "dx = -0.5 * (x + 1e-5) ** -1.5 * dy",
        "dx = (a * b).sum(0, keepdim=True)",
        "dx = torch.where(a > 0, b, torch.zeros_like(b))[:, :1]",
        "a = b.T",
    ],
)
def test_arithmetic_assigned_to_a_name_is_plain(source: str) -> None:
    assert read(source).plain == {0}


@pytest.mark.parametrize(
    "source",
    [
        "dx += dy",
        "dx[0] = dy",
        "x.grad = dy",
        "a = b = dy",
        "a, b = dy",
        "dx: object = dy",
        "dx = dy.add_(x)",
        "dx = torch.add(a, b, out=c)",
        "dx = torch.exp(a, **b)",
        "dx = rows.pop()",
        "dx = make(dy)",
        "dx = dy.to(x)(y)",
        "dx = [row for row in dy]",
        "dx = (dy := x)",
        "dx = dy if x else y",
        "dx = dy and x",
        "dx = f'{dy}'",
        "dx = await dy",
        "print(dx)",
        "for i in x:\n    dx = dy",
    ],
)
def test_what_may_do_more_than_it_says_is_not_plain(source: str) -> None:
    assert read(source).plain == frozenset()


@pytest.mark.parametrize(
    "beside",
    [
        "def f(x): return x",
        "f = lambda x: x",
        "class A: pass",
        "import os",
        "from torch import *",
        "exec('a = 1')",
        "torch.Tensor.__add__ = torch.Tensor.add_",
        "setattr(torch.Tensor, '__add__', torch.Tensor.add_)",
        "if x:\n    def f(x): return x",
    ],
)
def test_nothing_is_plain_beside_work_of_its_own(beside: str) -> None:
    assert read(f"{beside}\ndh = dlogits @ W2.T").plain == frozenset()
