"""What a statement is seen to read, bind and change while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from corpus.readers.exercise_text import LECTURE, forward_values, right_answers
from grader.worker import recording
from grader.worker.recording import Names, Recorder
from grader.worker.results import Seen
from grader.worker.terms import MARK
from tests.helpers.recorded import recorded

VALUES = {name: torch.arange(3.0) + 1 for name in ("a", "b", "c")}
SIZES = {"n": 3}


def seen_of(source: str) -> Mapping[int, Seen]:
    return recorded(source, VALUES, SIZES)[1]


def last(source: str) -> Seen:
    answer, seen = recorded(source, VALUES, SIZES)
    return seen[answer.number[answer.top[-1]]]


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("def same(x): return x\nt = same(a)\nt += b", "t a"),
        ("t = a.T\nt += b", "t a"),
        ("t = a[1:]\nt += b[1:]", "t a"),
        ("t, u = a[:1], a[1:]\nt += b[:1]", "t a"),
        ("t = a.data\nt.add_(b)", "t a"),
        ("t = a.numpy()\nt += b.numpy()", "t a"),
        ("t = torch.from_numpy(a.numpy())\nt += b", "t a"),
        ("parts = [a, b]\nparts[0] += c", "parts a"),
        ("parts = dict(x=a)\nparts['x'] += b", "parts a"),
        ("parts = []\nparts.append(a)", "parts"),
        ("from collections import deque\nq = deque([a])\nq[0].add_(b)", "q a"),
        ("class Box: pass\nbox = Box()\nbox.g = a\nbox.g += b", "box a"),
        ("class Box: __slots__ = ('g',)\nbox = Box()\nbox.g = a\nbox.g += b", "box a"),
        ("class Box: g = a\nBox.g += b", "Box a"),
        ("def put(r, into=a): into += r\nput(b)", "put a"),
        ("def make(t):\n    def add(r): t.add_(r)\n    return add\nadd = make(a)\nadd(b)", "add a"),
        ("from functools import partial\nadd = partial(torch.Tensor.add_, a)\nadd(b)", "add a"),
        ("add = a.add_\nadd(b)", "add a"),
        ("def walk(t):\n    t += b\n    yield t\ng = walk(a)\nnext(g)", "g a"),
        ("todo = map(torch.Tensor.add_, [a], [b])\nlist(todo)", "todo a"),
        (
            "from functools import singledispatch as f\n@f\ndef g(x): return x\n"
            "@g.register\ndef _(x: int): return a",
            "g",
        ),
        (
            "import types\n@types.coroutine\ndef pause(): yield\n"
            "async def walk():\n    a.add_(b)\n    await pause()\ng = walk()\ng.send(None)",
            "g a",
        ),
        ("torch.Tensor.add_(a, b)", "a"),
        ("torch.add(a, b, out=a)", "a"),
        ("torch.Tensor.add_(a, 0)", "a"),
        (
            "rows = [[1, 2], [3]]\nrow = rows[0]\nf = row.append\nrow.append(a[0].item())",
            "row rows f",
        ),
        ("t = a + 1\nimport os\nt += b", "t"),
        ("t = a.clone()\nf = float\nf(t.sum())", ""),
    ],
)
def test_a_change_is_seen_under_all_names_of_the_memory(source: str, changes: str) -> None:
    assert last(source).changes == set(changes.split())


@pytest.mark.parametrize(
    ("source", "reads", "binds"),
    [
        ("def f(): return a @ b\nt = f()", "f a b", "t"),
        ("def f():\n    global t\n    t = a\nf()", "f a", "t"),
        ("globals()['t'] = a", "globals a", "t"),
        ("globals().update(t=a, u=b)", "globals a b", "t u"),
        ("exec('t = a; u = t')", "exec a", "t u"),
        ("from math import *\nt = sqrt(n)", "sqrt n", "t"),
        ("t: object = f'{a}' if (u := b) is None else c", "b c", "t u"),
        ("t = [a for _ in range(n)]", "a n", "t"),
    ],
)
def test_names_are_seen_that_functions_and_dictionaries_reach(
    source: str, reads: str, binds: str
) -> None:
    seen = last(source)
    assert seen.reads == set(reads.split())
    assert seen.binds == set(binds.split())


def test_import_star_binds_what_it_brings() -> None:
    (seen,) = seen_of("from math import *").values()
    assert {"sqrt", "exp"} <= seen.binds
    assert not seen.changes


def test_statements_in_blocks_are_told_apart() -> None:
    source = "t = a.T\nif n:\n    t += b\n    u = c.whatever() if n < 0 else 1\nelse:\n    f(a)"
    seen = seen_of(source)
    assert seen[2].changes == {"t", "a"}
    assert seen[3].binds == {"u"}
    assert not seen[3].changes
    # The branch that was not taken.
    assert 4 not in seen


def test_each_turn_of_a_loop_counts() -> None:
    seen = seen_of("t = [a, a, b, c]\nfor k in range(4):\n    t[k] += 1")
    assert seen[2].changes == {"t", "a", "b", "c"}


def test_a_statement_without_news_is_watched_no_longer() -> None:
    class Counting(dict[str, Any]):
        pass

    names = Names({"a": torch.zeros(3)})
    recorder = Recorder(names)
    for _ in range(10):
        recorder.at(5)
        names["a"].add_(1)
    recorder.at(-1)
    assert recorder.seen == {5: Seen({"a"}, set(), {"a"})}
    # What it goes on doing is nobody else's.
    assert type(names) is not Names
    names["b"] = 1
    assert names["b"] == 1


def test_what_a_statement_writes_when_no_longer_watched_is_no_change_by_the_next() -> None:
    # Three turns write the number that was there; the fourth, unwatched, writes another.
    source = "t = [0.0] * 4\nfor k in range(4):\n    t[k] = float(k // 3)\nu = sum(t)"
    assert not seen_of(source)[3].changes


def test_what_fails_for_want_of_a_gradient_is_tried_again_with_it() -> None:
    seen = seen_of("a = None\nf = float\nt = f(b.grad.sum()) + (a * b).sum()")
    assert seen[2].binds == {"t"}
    assert {"a", "b", "f"} <= seen[2].reads


@pytest.mark.parametrize(
    "source",
    [
        "b = 0 * a\nt = c.numpy()\nt += b.numpy()",
        "b = torch.zeros(3, dtype=torch.int64)\nt = c.view(-1)\nt += b",
        "b = None\nclass Box: g = b\nc += Box.g",
    ],
)
def test_what_zeros_or_a_missing_gradient_hide_is_seen_all_the_same(source: str) -> None:
    _, seen = recorded(source, VALUES, SIZES, want=("b",))
    assert "c" in seen[max(seen)].changes


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        "class Odd:\n    __slots__ = ('x',)\n    def __getattribute__(self, n): 1 / 0\no = Odd()",
        "class Odd:\n    def __eq__(self, other): 1 / 0\n    __hash__ = None\no = [Odd()]",
        "globals()[5] = a\nglobals()[a] = 1",
        "loop = []\nloop.append(loop)",
        "deep = []\nfor _ in range(5000): deep = [deep]",
        "many = {i: [i, str(i)] for i in range(10 ** 4)}",
        f"globals()[{MARK!r}] = None\nfor i in [1]:\n    f = float",
        "t = torch.eye(3).to_sparse()\nu = torch.ones(3, dtype=torch.bfloat16)\nv = [t, u]",
        "import types\nt = types.SimpleNamespace(g=a)\nu = types.FunctionType",
        "n.__class__\nraise SystemExit",
        "t = torch.quantize_per_tensor(a, 1.0, 0, torch.qint8)\nf = [t]",
    ],
)
def test_no_object_of_an_answer_keeps_it_from_running_on(source: str) -> None:
    _, seen = recorded(f"{source}\nlater = abs(1)", VALUES, SIZES)
    assert seen == {} or seen[max(seen)].binds == {"later"}


def test_large_values_are_not_followed_to_their_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MOST_OBJECTS", 5)
    seen = last("parts = [[a], [b], [c], [[a]], [[b]]]\nf = float\nf(len(parts))")
    # What lies deeper may have been changed by who reads it.
    assert "parts" in seen.changes
    monkeypatch.setattr(recording, "LARGEST_LOOK", 2)
    assert last("t = a.T\nt += b").changes >= {"t"}


def test_a_namespace_remembers_what_is_looked_up_before_it_is_bound() -> None:
    names = Names({"a": 1})
    exec("b = a\nc = b\ndel c\nfor d in [a]: pass", names)
    assert names.reads - {"__builtins__"} == {"a"}
    assert names.binds == {"b", "c", "d"}


@pytest.mark.parametrize("value", [torch.ones(2), np.ones(2), [1.0, 2.0], [[1], [2]]])
def test_numbers_are_compared_not_only_objects(value: Tensor | Any) -> None:
    names = Names({"a": value})
    recorder = Recorder(names)
    recorder.at(0)
    names["a"][0] = [5] if isinstance(value, list) and isinstance(value[0], list) else 5.0
    recorder.at(-1)
    assert recorder.seen[0].changes == {"a"}


def test_a_plain_statement_is_not_watched_and_what_it_bound_is_known_afterwards() -> None:
    names = Names({"a": torch.ones(3)})
    recorder = Recorder(names)
    recorder.at(0, plain=True)
    exec("t = a[1:]", names)
    recorder.at(1)
    exec("t += 1", names)
    recorder.at(2, plain=True)
    exec("b = t * 2", names)
    recorder.at(-1)
    assert recorder.seen == {0: Seen(), 1: Seen({"t"}, set(), {"t", "a"}), 2: Seen()}


ANSWERS = right_answers()


@pytest.mark.parametrize("style", ANSWERS)
def test_the_text_of_a_plain_statement_shows_all_that_it_does(style: str) -> None:
    values = forward_values(LECTURE, seed=0)
    sizes = {name: value for name, value in values.items() if isinstance(value, int | float)}
    tensors = {name: value for name, value in values.items() if isinstance(value, Tensor)}
    answer, seen = recorded(ANSWERS[style], tensors, sizes)
    ran = answer.plain & answer.live
    assert seen.keys() >= ran
    for number in ran:
        shown, did = answer.shown[answer.statements[number]], seen[number]
        assert did.reads <= shown.reads
        assert did.binds <= shown.binds
        assert not did.changes
