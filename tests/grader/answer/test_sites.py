"""The expressions of a statement that may be edited, and what each is for."""

from __future__ import annotations

import ast

import pytest

from grader.answer.sites import AXIS, CALLEE, EXPONENT, INDEX, RANGE, SIZE, VALUE, role
from tests.helpers.own_edits import site_of, sites_of


def sources(source: str, keep: list[int] | None = None) -> list[str]:
    return [site.own.source(site.node) for site in sites_of(source, keep)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("dh = b * c", ["b * c", "b", "c"]),
        ("dh = -b", ["-b", "b"]),
        ("dC[i, 0] = b", ["i, 0", "i", "0", "b"]),
        ("dC[i] += b", ["i", "b"]),
        ("dC[1:n] += b", ["1", "n", "b"]),
        ("x.dh = b", ["b"]),
        ("da, db = b, c", ["b, c", "b", "c"]),
        ("da = db = c", ["c"]),
        ("dh: Tensor = b", ["b"]),
        ("dh = f(b, dim=0)", ["f(b, dim=0)", "f", "b", "0"]),
        ("dh = b.sum(0)", ["b.sum(0)", "b.sum", "b", "0"]),
        ("dh = [b for c in e]", ["[b for c in e]", "b", "e"]),
        (
            "dh = (lambda x: x * b)(c)",
            ["(lambda x: x * b)(c)", "lambda x: x * b", "x * b", "x", "b", "c"],
        ),
        ("dh = b[c]", ["b[c]", "b", "c"]),
        ("for i in r:\n    dC[i] = b", ["r", "i", "b"]),
        ("if c:\n    dh = b", ["c", "b"]),
        ("def dh(x: Tensor = e) -> Tensor:\n    return x", ["x"]),
        ("@once\ndef dh():\n    return b", ["b"]),
        # Edited, a loop may never end.
        ("while c < e:\n    dh = b\n    c = c + 1", ["b"]),
        ("while True:\n    dh[c] += b\n    c += 1\n    if c == e:\n        break", ["c", "b"]),
        ("while c:\n    dh = b\n    c.pop()", ["b"]),
        ("for i in r:\n    while c:\n        dh = b", ["r", "b"]),
        ("print(f'{b} and {c}', e)", ["print(f'{b} and {c}', e)", "print", "e"]),
        ("class Layer:\n    dh = b", []),
        ("dh += b", ["b"]),
        (
            "dC.index_add_(0, i, b)",
            ["dC.index_add_(0, i, b)", "dC.index_add_", "dC", "0", "i", "b"],
        ),
    ],
)
def test_these_expressions_may_be_edited(source: str, expected: list[str]) -> None:
    assert sources(source) == expected


def test_what_is_not_kept_is_not_edited() -> None:
    source = "for i in r:\n    a = 1 * x\n    if x:\n        dh = b"
    assert sources(source, [0, 2, 3]) == ["r", "x", "b"]
    assert sources(source, [0, 1]) == ["r", "1 * x", "1", "x"]


def test_a_site_knows_what_it_stands_in() -> None:
    site = site_of("dh = f(b + c)", "b + c")
    kinds = [type(parent) for parent in site.parents]
    assert kinds == [ast.Call, ast.Assign]
    assert not site.is_whole
    assert site_of("dh = f(b + c)", "f(b + c)").is_whole
    assert site_of("dh += b", "b").is_whole


@pytest.mark.parametrize(
    ("source", "at", "targets", "is_whole"),
    [
        ("dx = b", "b", ["dx"], True),
        ("dx[i] += b", "b", ["dx[i]"], True),
        ("dx: Tensor = b", "b", ["dx"], True),
        ("def f():\n    return b", "b", [], True),
        ("dx = b * c", "b", [], False),
        ("dx[i] = b", "i", [], False),
        ("for i in r:\n    dx = b", "r", [], False),
        ("print(b)", "print(b)", [], False),
    ],
)
def test_what_is_whole(source: str, at: str, targets: list[str], is_whole: bool) -> None:
    site = site_of(source, at)
    assert [site.own.source(target) for target in site.targets] == targets
    assert site.is_whole is is_whole


@pytest.mark.parametrize(
    ("source", "at", "expected"),
    [
        ("dx = b * c", "b", VALUE),
        ("dx = b * c", "b * c", VALUE),
        ("dx = f(b)", "f", CALLEE),
        ("dx = b.sum(0)", "b.sum", CALLEE),
        ("dx = b.sum(0)", "b", VALUE),
        ("dx = b.sum(0)", "0", AXIS),
        ("dx = b.sum((0, 1))", "1", AXIS),
        ("dx = b.sum(dim=0)", "0", AXIS),
        ("dx = b.sum(1, keepdim=True)", "True", AXIS),
        ("dx = torch.sum(b, 0)", "0", AXIS),
        ("dx = torch.sum(b, 0)", "b", VALUE),
        ("dx = F.softmax(b, 1)", "1", AXIS),
        ("dx = b.softmax(-1)", "-1", AXIS),
        ("dx = b.shape[0]", "0", AXIS),
        ("dx = b.view(n, -1)", "n", SIZE),
        ("dx = torch.zeros(n, m)", "m", SIZE),
        ("dx = F.one_hot(b, m)", "m", SIZE),
        ("dx = F.one_hot(b, num_classes=m)", "m", SIZE),
        ("dx = b ** 2", "2", EXPONENT),
        ("dx = b ** -0.5", "0.5", EXPONENT),
        ("dx = b ** 2", "b", VALUE),
        ("dx = b.pow(2)", "2", EXPONENT),
        ("dx = torch.pow(b, 2)", "2", EXPONENT),
        ("dx = b[i]", "i", INDEX),
        ("dx = b[i]", "b", VALUE),
        ("dx[i, j] = b", "j", INDEX),
        ("dx = b[c[0]]", "0", INDEX),
        ("dx = b[1:]", "1", RANGE),
        ("for i in range(n):\n    dx = b", "n", RANGE),
        ("dx[range(n), i] = b", "n", RANGE),
        ("dx[n - 1] = b", "1", INDEX),
        ("if c:\n    dx = b", "b", VALUE),
    ],
)
def test_the_role(source: str, at: str, expected: str) -> None:
    assert role(site_of(source, at)) == expected
