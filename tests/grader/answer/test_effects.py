"""What statements do to names, as far as their text shows it."""

from __future__ import annotations

import pytest

from grader.answer.effects import Effects, handed_over
from grader.answer.parse import Answer, AnswerCell, parse_answer
from grader.answer.torch_words import WORDS
from grader.worker.execution import NOTEBOOK_FUNCTIONS


def read(source: str) -> Answer:
    answer = parse_answer([AnswerCell("ex1-loss", source)])
    assert not answer.broken
    return answer


def last_effects(source: str) -> Effects:
    answer = read(source)
    return answer.shown[answer.top[-1]]


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
        ("F.relu_(a)", "F a", "", "a"),
        ("torch.mul(a, b, out=dh[0])", "torch a b dh", "", "dh"),
        ("dh = [dh for dh in dh + a]", "dh a", "dh", ""),
        ("def f():\n    global dh\n    dh = a", "a", "f", ""),
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
        ("F.relu_(a)", ""),
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
    assert handed_over(statement, answer.shown[statement]) == set(names.split())


def test_the_notebooks_functions_only_show_something() -> None:
    assert set(NOTEBOOK_FUNCTIONS) <= WORDS["shows"]


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
