"""What statements do to names: read, bind, change in place, share memory."""

import ast

import pytest

from grader.effects import (
    KNOWN_MODULES,
    MUTATING_METHODS,
    QUIET_FUNCTIONS,
    Effects,
    find_effects,
    find_functions,
    find_header_effects,
)
from grader.sharing import VIEW_METHODS
from grader.worker.execution import NOTEBOOK_FUNCTIONS


def effects_of(source: str) -> Effects:
    """The effects of the last statement, those before it being the answer's definitions."""
    body = ast.parse(source).body
    return find_effects(body[-1], find_functions(body))


def pairs(effects: Effects) -> set[frozenset[str]]:
    return {frozenset(pair) for pair in effects.aliases}


@pytest.mark.parametrize(
    ("source", "reads", "binds", "mutates"),
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
        ("dh.__init__(x)", "dh x", "", ""),
        ("parts.append(dh)", "parts dh", "", "parts"),
        ("torch.add(a, b, out=c)", "torch a b c", "", "c"),
        ("a = b.add(c).sort(0)", "b c", "a", ""),
        ("a = torch.add(b, c)", "torch b c", "a", ""),
        ("F.relu_(a)", "F a", "", "a"),
        ("np.add.at(a, i, b)", "np a i b", "", "a b i"),
        ("if (n := len(a)) > 1: b = n", "len a n", "n b", ""),
        ("for i in a: b = i", "a i", "i b", ""),
        ("with a as b: c = b", "a b", "b c", ""),
        ("import numpy as np", "", "np", ""),
        ("import os.path", "", "os", ""),
        ("from math import sqrt as root", "", "root", ""),
        ("a = [x for x in b if x]", "b", "a", ""),
        ("a = {x: y for x, y in b if x}", "b", "a", ""),
        ("a = sum(x * w for x in b)", "sum w b", "a", ""),
        ("a = [(y := x) for x in b]", "b", "a y", ""),
        ("f = lambda x: x + y", "y", "f", ""),
        ("x: int", "", "", ""),
        ("x: T = y", "y", "x", ""),
        ("print(dh)", "print dh", "", ""),
    ],
)
def test_reads_binds_and_changes(source: str, reads: str, binds: str, mutates: str) -> None:
    effects = effects_of(source)
    assert effects.binds == set(binds.split())
    assert effects.mutates == set(mutates.split())
    assert effects.reads == set(reads.split())
    assert not effects.dynamic


@pytest.mark.parametrize(
    ("source", "reads", "binds", "mutates"),
    [
        ("def f(x): return x @ W\na = f(b)", "f b W", "a", ""),
        ("def f(x): x += 1\nf(b)", "f b", "", "b"),
        ("def f(x): x += 1\na = f(b)", "f b", "a", "b"),
        ("def f(x):\n    y = x.T\n    y += 1\nf(b)", "f b", "", "b"),
        ("def f():\n    global g\n    g = 1\nf()", "f", "", "g"),
        ("def f(): store['a'] = 1\nf()", "f store", "", "store"),
        ("def f():\n    local = 1\n    return local\na = f()", "f", "a", ""),
        ("f = lambda t: t.add_(1)\na = f(b)", "f b", "a", "b"),
        ("def f():\n    def g(): store.append(1)\n    g()\nf()", "f store", "", "store"),
        ("class K:\n    def go(self): store.append(W)\nK().go()", "K store W", "", "store"),
        ("def f(x, y=z): return x", "z", "f", ""),
        ("@wrap\ndef f(x): return W", "wrap", "f", ""),
        ("class K(Base, meta=M):\n    pass", "Base M", "K", ""),
    ],
)
def test_calls_do_what_the_answers_own_functions_do(
    source: str, reads: str, binds: str, mutates: str
) -> None:
    effects = effects_of(source)
    assert effects.reads >= set(reads.split())
    assert effects.binds == set(binds.split())
    # What a call for its own sake is given may be changed, for all one can see.
    assert set(mutates.split()) <= effects.mutates <= {*mutates.split(), "W"}


def test_a_definition_reads_nothing_of_its_body() -> None:
    assert "W" not in effects_of("@wrap\ndef f(x): return W").reads


@pytest.mark.parametrize(
    ("source", "touched"),
    [
        ("work(a, b.T)", "a b"),
        ("helper.work(a)", "helper a"),
        ("work(key=a)", "a"),
        ("torch.work(a)", "a"),
        ("print(a)", ""),
        ("check('dh')", ""),
        ("x = work(a)", ""),
    ],
)
def test_a_call_for_its_own_sake_may_change_its_arguments(source: str, touched: str) -> None:
    assert effects_of(source).touches == set(touched.split())


@pytest.mark.parametrize(
    ("source", "shared"),
    [
        ("a = b", ["ab"]),
        ("a = c = b", ["ab", "bc", "ac"]),
        ("a: T = b", ["ab"]),
        ("a = (c := b)", ["ab", "bc"]),
        ("a = b[0]", ["ab"]),
        ("a = b.T", ["ab"]),
        ("a = b.view(-1)", ["ab"]),
        ("a = b.T.reshape(3).detach()", ["ab"]),
        ("a = torch.squeeze(b)", ["ab"]),
        ("a = torch.broadcast_to(b, c)", ["ab"]),
        ("a = b.type(torch.float32)", ["ab"]),
        ("a = b.swapdims(0, 1)", ["ab"]),
        ("a = b.add_(c)", ["ab"]),
        ("a = b if c else d", ["ab", "ad"]),
        ("a = [b, c]", ["ab", "ac"]),
        ("a = {'b': b}", ["ab"]),
        ("a, b = c, d", ["ac", "bd"]),
        ("a, b = c", ["ac", "bc"]),
        ("a.data = b", ["ab"]),
        ("a['b'] = b", ["ab"]),
        ("for a in b: pass", ["ab"]),
        ("for a, b in zip(c, d): pass", ["ac", "ad", "bc", "bd"]),
        ("a = b.clone()", []),
        ("a = b + c", []),
        ("a = b @ c.T", []),
        ("a = b.sum(0)", []),
        ("a = torch.sum(b)", []),
        ("a += b", []),
    ],
)
def test_names_that_share_memory(source: str, shared: list[str]) -> None:
    assert pairs(effects_of(source)) == {frozenset(pair) for pair in shared}


@pytest.mark.parametrize(
    "source",
    [
        "exec('dh = 1')",
        "globals()['dh'] = 1",
        "a = eval('b')",
        "setattr(a, 'b', c)",
        "from helpers import *",
        "from os.path import *",
        "from . import *",
        "def f(): exec('dh = 1')",
        "vars()['a'] = 1",
        "run = exec",
    ],
)
def test_what_cannot_be_read_off_the_text_is_dynamic(source: str) -> None:
    assert effects_of(source).dynamic


@pytest.mark.parametrize("module", sorted(KNOWN_MODULES))
def test_everything_of_a_known_module_is_not(module: str) -> None:
    assert not effects_of(f"from {module} import *").dynamic


@pytest.mark.parametrize(
    ("source", "reads", "binds"),
    [
        ("for i in a: b = c", "a", "i"),
        ("while a: b = c", "a", ""),
        ("if a: b = c\nelse: d = e", "a", ""),
        ("with a as b: c = d", "a", "b"),
        ("try: a = b\nexcept E: c = d", "E", ""),
        ("match a:\n    case 1 if g: b = c", "a g", ""),
    ],
)
def test_a_header_is_not_its_block(source: str, reads: str, binds: str) -> None:
    (statement,) = ast.parse(source).body
    effects = find_header_effects(statement, {})
    assert (effects.reads, effects.binds) == (set(reads.split()), set(binds.split()))


def test_the_notebooks_functions_change_nothing() -> None:
    assert set(NOTEBOOK_FUNCTIONS) <= QUIET_FUNCTIONS


def test_no_method_is_both_a_view_and_a_change() -> None:
    assert not VIEW_METHODS & MUTATING_METHODS
