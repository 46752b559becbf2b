"""Watched statements compute what they computed, and show what with."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corpus.readers.exercise_text import read_cells
from corpus.readers.places import ANSWERS
from grader.answer.parse import DEEPEST, AnswerCell, compile_statement, parse_answer
from grader.answer.watched import may_bend, watched
from grader.worker.terms import SEE


def shown(source: str, **names: Any) -> tuple[dict[str, Any], list[tuple[object, str]]]:
    """The names after some statements were run, and what they computed with."""
    seen: list[tuple[object, str]] = []

    def see(value: object, use: str) -> object:
        seen.append((value, use))
        return value

    names[SEE] = see
    for statement in ast.parse(source).body:
        exec(compile_statement(watched(statement), "ex0-cell"), names)
    return names, seen


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = x - 1", [(3, "-"), (1, "-")]),
        ("a = x ** 2", [(3, "**"), (2, "**")]),
        ("a = 1 / x", [(3, "/")]),
        ("a = x + 2 * x", []),
        ("a = round(x)", [(round, ""), (3, "round"), (3, "")]),
        ("a = x.bit_length()", [(3, "bit_length"), (2, "")]),
        ("a = int(x)", []),
        ("a = max(*[x, 1], key=lambda v: -v)", []),
        ("a = divmod(*[x, 1])", [(divmod, ""), ((3, 0), "")]),
        ("a = (lambda v: v - 1)(x)", [(3, "call"), (3, "-"), (1, "-"), (2, "")]),
    ],
)
def test_operands_arguments_and_results_are_shown(
    source: str, expected: list[tuple[object, str]]
) -> None:
    _, seen = shown(source, x=3)
    assert [(value, use) for value, use in seen if not _is_lambda(value)] == expected


def _is_lambda(value: object) -> bool:
    return getattr(value, "__name__", "") == "<lambda>"


STRANGE = """\
class Base:
    def value(self):
        return 1
class Inner(Base):
    def value(self):
        return super().value() + abs(-round(1.2))
def generator(k):
    while (k := k - 1) > 0:
        sent = yield k
        if sent: return sent
match [1 + 2j, {"k": -1}]:
    case [complex(imag=i), {"k": -1, **rest}] if divmod(i, 2): a = i
b = [*generator(3)], {k: v - 1 for k, v in zip("ab", map(float, (1, 2)))}
try:
    c = 1 / 0
except ZeroDivisionError as error:
    c = f"{error!s:>{round(20.0)}}"
with open(__file__, "rb") as file: d = len(file.read(5)) ** 2
e = Inner().value(); e **= 2
@lambda f: f
def decorated(x: round(2.5) = round(3.5), *, y=2 ** 3) -> None: return x - y
f = decorated()
"""


def test_a_watched_statement_does_what_it_did() -> None:
    plain: dict[str, Any] = {"__file__": __file__}
    exec(STRANGE, plain)
    names, seen = shown(STRANGE, __file__=__file__)
    assert [names[name] for name in "abcdef"] == [plain[name] for name in "abcdef"]
    assert len(seen) > 30


@pytest.mark.parametrize(
    "deepest",
    ["x - " * (DEEPEST - 4) + "x", "f(" * (DEEPEST // 2 - 3) + "x" + ")" * (DEEPEST // 2 - 3)],
)
def test_the_deepest_statement_that_is_read_can_be_watched(deepest: str) -> None:
    answer = parse_answer([AnswerCell("ex0-cell", f"a = {deepest}")])
    assert not answer.broken
    assert len(shown(f"a = {deepest}", x=0, f=abs)[1]) >= DEEPEST


def test_the_statement_itself_is_as_it_was() -> None:
    (statement,) = ast.parse("for i in r:\n    a = f(i) ** 2").body
    before = ast.dump(statement, include_attributes=True)
    assert ast.dump(watched(statement)) != ast.dump(statement)
    assert ast.dump(statement, include_attributes=True) == before


def _lines(path: Path) -> Iterator[tuple[str, bool]]:
    answer = parse_answer([AnswerCell(*c) for c in read_cells(path.read_text(encoding="utf-8"))])
    yield from ((ast.unparse(top), any(map(may_bend, answer.nodes[top]))) for top in answer.top)


def test_most_lines_of_the_lecture_need_not_be_watched() -> None:
    lines = dict(_lines(ANSWERS / "ex1" / "right" / "lecture.py"))
    assert sum(lines.values()) < len(lines) * 0.3
    assert lines["dhpreact = (1.0 - h ** 2) * dh"]
    assert not lines["dh = dlogits @ W2.T"]


@pytest.mark.parametrize(
    "line",
    [
        *("a = J @ J", "a = x ** 2", "a = 1 / x", "a = tanh(x)", "a = np.exp(x)", "a = f(x)(y)"),
        *("for i in x: a += i", "f = lambda v: v", "a = [i for i in x]", "class A: pass"),
    ],
)
def test_what_may_hold_a_slope_is_watched(line: str) -> None:
    answer = parse_answer([AnswerCell("ex0-cell", line)])
    assert any(map(may_bend, answer.nodes[answer.top[0]]))
