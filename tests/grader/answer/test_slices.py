"""Which statements make a gradient."""

import ast

import pytest
import torch

from grader.answer.parse import Answer, AnswerCell, parse_answer
from grader.answer.slices import Slice, slice_gradient
from grader.worker.results import Seen
from tests.helpers.recorded import recorded

GIVEN = frozenset({"da", "db", "dc", "dd"})
TENSORS = {name: torch.rand(3) for name in sorted(GIVEN)}


def as_it_ran(source: str) -> Answer:
    answer, seen = recorded(source, TENSORS, {"n": 3})
    return answer.as_it_ran(seen)


def slice_of(source: str) -> Slice:
    return slice_gradient(as_it_ran(source), "dX", GIVEN, GIVEN)


def kept_lines(source: str) -> list[int]:
    answer = parse_answer([AnswerCell("ex1-loss", source)])
    return sorted({answer.places[number].line for number in slice_of(source).keep})


@pytest.mark.parametrize(
    ("source", "lines", "reads"),
    [
        ("da = 1\ndX = da * 2\ndb = dX", [2], {"da"}),
        ("dX = da\ndX = dX + db", [1, 2], {"da", "db"}),
        ("dX = da\ndc = 5\ndX += db", [1, 3], {"da", "db"}),
        ("dX, dc = da, db", [1], {"da", "db"}),
        ("t = da * 2\nu = db\ndX = t", [1, 3], {"da"}),
        ("t = da\ndX = t\nt = db\ndc = t", [1, 2], {"da"}),
        ("dX = torch.zeros(3)\ndX[0] = da\ndX[1] += db", [1, 2, 3], {"da", "db"}),
        ("dX = da.clone()\ndX.add_(db)", [1, 2], {"da", "db"}),
        ("dX = da.clone()\ndX.view(-1).add_(db)", [1, 2], {"da", "db"}),
        ("dX = torch.empty(3)\ntorch.mul(da, 2, out=dX)", [1, 2], {"da"}),
        (
            "dX = torch.zeros(3)\nfor i in range(n):\n    dX[i] += da[i]\n    dc[i] = db[i]",
            [1, 2, 3],
            {"da"},
        ),
        (
            "for i in range(n):\n    t = da[i]\n    if t > 0:\n        dX[i] = t\n"
            "    else:\n        dc = db",
            [1, 2, 3, 4],
            {"da"},
        ),
        ("def f(d):\n    return d * k\nk = 3\ndX = f(da)", [1, 3, 4], {"da"}),
        ("def f():\n    return da * 2\ndX = f()", [1, 3], {"da"}),
        (
            "def f(out, d):\n    out += d\ndX = torch.zeros(3)\nf(dX, da)\nf(dc, db)",
            [1, 3, 4],
            {"da"},
        ),
        ("f = lambda d: d * da\ndX = f(db)", [1, 2], {"da", "db"}),
        (
            "parts = []\nparts.append(da)\nparts.append(db)\ndX = sum(parts)",
            [1, 2, 3, 4],
            {"da", "db"},
        ),
        ("dX = torch.stack([d * 2 for d in da])", [1], {"da"}),
        ("dX = (t := da) * t", [1], {"da"}),
        ("i = 0\nwhile i < n:\n    dX[i] = da[i]\n    i += 1\n    dc = db", [1, 2, 3, 4], {"da"}),
        (
            "while True:\n    if i == n:\n        break\n    dX[i] = da\n    i += 1",
            [1, 2, 3, 4, 5],
            {"da"},
        ),
        ("with torch.no_grad():\n    dX = da\n    dc = db", [1, 2], {"da"}),
        ("try:\n    dX = da\nexcept ValueError:\n    dX = db", [1, 2, 4], {"da", "db"}),
        ("flat = dX = torch.zeros(3)\nflat[0] = da[0]", [1, 2], {"da"}),
        (
            "dX = torch.zeros(3)\nflat = dX.view(-1)\nflat += da\nother = dc.view(-1)\nother += db",
            [1, 2, 3],
            {"da"},
        ),
        ("dX: Tensor = da", [1], {"da"}),
        ("from math import *\ndX = sqrt(2) * da\ndc = db", [1, 2], {"da"}),
        ("import math\ndX = da * math.pi", [1, 2], {"da"}),
        ("dX = da; assert dX.ndim; print(dX)\ndel t", [1], {"da"}),
        ("dX = ...\ndX = da", [2], {"da"}),
        (
            "class Up:\n    def __init__(self, d): self.d = d\n"
            "    def run(self): self.e = self.d * 2\nup = Up(da)\nup.run()\ndX = up.e",
            [1, 4, 5, 6],
            {"da"},
        ),
        ("def all_of():\n    da = 1\n    return da, db\ndc, dX = all_of()", [1, 4], {"db"}),
        (
            "global_sum = 0\ndef add():\n    global global_sum\n"
            "    global_sum = da\nadd()\ndX = global_sum",
            [1, 2, 5, 6],
            {"da"},
        ),
    ],
)
def test_a_slice_keeps_what_makes_the_gradient(
    source: str, lines: list[int], reads: set[str]
) -> None:
    ast.parse(source)
    assert kept_lines(source) == lines
    assert slice_of(source).reads == reads


EARLIER = "for i in range(n):\n    t = db[i]\n"


@pytest.mark.parametrize(
    ("loop", "is_needed"),
    [
        ("for i in range(n):\n    dX[i] = da[i]", False),
        ("for k, i in enumerate(range(n)):\n    dX[i] = da[k]", False),
        ("for i in range(n):\n    if da[i] > 0:\n        dX[i] = da[i]", False),
        ("for i in range(n):\n    t = 2 * da[i]\n    dX[i] = t", False),
        ("for k in range(n):\n    for i in range(k):\n        t = i\n        dX[t] = da[k]", False),
        ("for k in range(n):\n    dX[i] = da[k]", True),
        ("for k in range(i):\n    dX[k] = da[k]", True),
        ("for i in range(0):\n    pass\nelse:\n    dX[i] = da[i]", True),
        ("for i in range(0):\n    pass\ndX[i] = da[i]", True),
        ("for k in range(n):\n    dX[k] = t\n    t = da[k]", True),
        ("for k in range(n):\n    if k:\n        t = da[k]\n    dX[k] = t", True),
        ("for k in range(n):\n    t += da[k]\n    dX[k] = t", True),
        ("for k in range(n):\n    for i in range(k):\n        t = i\n    dX[k] = i", True),
    ],
)
def test_what_a_loop_binds_before_it_reads_it_is_nobody_elses(loop: str, is_needed: bool) -> None:
    source = f"dX = torch.zeros(3)\n{EARLIER}{loop}"
    assert (2 in kept_lines(source)) is is_needed


def test_the_alias_that_changes_a_gradient_later_belongs_to_it() -> None:
    source = "dX = da\ndc = dX\ndc += db"
    piece = slice_of(source)
    assert kept_lines(source) == [1, 2, 3]
    assert piece.writers == {0, 2}
    # The alias is a channel into dX, so it keeps what the statements give it.
    assert "dc" not in piece.fixed


def test_a_clone_is_no_alias() -> None:
    assert kept_lines("dX = da\ndc = dX.clone()\ndc += db") == [1]


def test_gradients_assigned_on_the_side_are_fixed() -> None:
    piece = slice_of("dc, dX = torch.ones(3), da\ndX += dc")
    assert piece.writes == {"dc"}
    assert piece.reads == {"da", "dc"}
    # As dX the statements change da too: the next one is to find it as it was given.
    assert piece.fixed == {"da", "dc"}


def test_nothing_writes_the_gradient() -> None:
    piece = slice_of("da = 1\nprint(dX)")
    assert not piece.writers


@pytest.mark.parametrize(
    ("source", "lines", "reads"),
    [
        ('dc = db\nexec("dX = da")', [2], {"da"}),
        ('dc = db\nglobals()["dX"] = da', [2], {"da"}),
        ('dc = db\nglobals().update({"dX": da})', [2], {"da"}),
        ('def f():\n    globals()["dX"] = da\nf()\ndc = db', [1, 3], {"da"}),
        (
            "def same(x): return x\ndX = da * 1\nacc = same(dX)\nacc += db",
            [1, 2, 3, 4],
            {"da", "db"},
        ),
        ("dX = da * 1\nparts = dict(x=dX)\nparts['x'] += db", [1, 2, 3], {"da", "db"}),
        ("dX = da * 1\ntorch.Tensor.add_(dX, db)", [1, 2], {"da", "db"}),
        ("dX = da * 1\nif n > 3:\n    show(dX)\nelse:\n    dc = dX", [1, 2, 3], {"da"}),
    ],
)
def test_what_the_text_hides_is_seen(source: str, lines: list[int], reads: set[str]) -> None:
    assert kept_lines(source) == lines
    assert slice_of(source).reads == reads


def test_a_call_that_never_ran_is_not_certain_to_do_anything() -> None:
    piece = slice_of("dX = da * 1\nif n > 3:\n    show(dX)")
    assert piece.keep == {0, 1, 2}
    assert piece.sure == {0, 1}


def test_a_gradient_that_is_not_given_is_a_helper() -> None:
    """`dlogit_maxes = -dlogits.sum(1)`, written before `dlogits` gets its second part."""
    answer = as_it_ran("dc = da * 1\ndX = dc\ndc += dX")
    piece = slice_gradient(answer, "dX", frozenset({"da"}), GIVEN, through_others=False)
    assert {answer.places[number].line for number in piece.keep} == {1, 2}
    assert piece.reads == {"da", "dc"}


@pytest.mark.parametrize(
    "forged",
    [
        Seen(set(GIVEN), {*GIVEN, "dX"}, {*GIVEN, "dX"}),
        Seen(set(), {*GIVEN, "dX"}, set()),
        Seen(set(GIVEN), set(), set()),
        Seen(),
    ],
    ids=["everything", "binds all", "reads all", "nothing"],
)
def test_what_is_seen_takes_away_nothing_that_the_text_shows(forged: Seen) -> None:
    source = "dX = da * 1\nt = db\ndX += t\ndc = dX.exp()"
    answer = parse_answer([AnswerCell("ex1-loss", source)])
    shown = slice_gradient(answer, "dX", GIVEN, GIVEN)
    forged_answer = answer.as_it_ran(dict.fromkeys(range(4), forged))
    piece = slice_gradient(forged_answer, "dX", GIVEN, GIVEN)
    assert shown.keep == {0, 1, 2}
    assert piece.keep >= shown.keep
    assert piece.writers >= shown.writers
    assert piece.reads >= shown.reads


@pytest.mark.parametrize("forwards", [True, False])
def test_a_long_chain_in_a_loop_is_kept_whole(forwards: bool) -> None:
    """Each statement is looked at when what it makes is needed, in whatever order they stand."""
    chain = [f"    a{n} = a{n - 1}" for n in range(1, 1500)]
    lines = [*(chain if forwards else reversed(chain)), "    x = 1", "    dX = a1499", "a0 = da"]
    answer = parse_answer([AnswerCell("ex1-loss", "\n".join(["for i in range(n):", *lines]))])
    kept = slice_gradient(answer, "dX", GIVEN, GIVEN).keep
    assert kept == {*range(1502)} - {1500}


def test_what_ends_a_kept_loop_is_kept_with_its_branches() -> None:
    source = """
for i in range(n):
    if i > 1:
        if da.sum() > k:
            break
        x = 1
    while True:
        y = 2
        break
    dX = db
    k = i
"""
    assert kept_lines(source) == [2, 3, 4, 5, 10, 11]
