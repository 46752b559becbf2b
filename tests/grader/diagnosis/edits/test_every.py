"""Every edit of every right answer: Python, another text, in the order of its likelihood."""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import Path

import pytest

from grader.answer.parse import AnswerCell, parse_answer
from grader.diagnosis.edits.edit import FIRST, LAST, Edit, Scope
from grader.diagnosis.edits.every import every_edit
from grader.diagnosis.kinds import Kind
from grader.diagnosis.own_code import own_statements
from tests.helpers.exercise_text import read_cells
from tests.helpers.own_edits import all_edits
from tests.helpers.places import ANSWERS

RIGHT = sorted(ANSWERS.glob("*/right/*.py"))

FEW = Scope(
    gradient="dlogits",
    forward=("h",),
    near=("h",),
    upstreams=("dh", "dlogits"),
    arriving=("dh",),
    indices=("Yb",),
    slopes=("h",),
    alone=("h",),
    own=("tmp",),
    lecture={"n": 32},
)
"""A name of each sort: more would make more edits of the same form."""

UNPACKS = re.compile(r"'(?:tuple|list)' is an illegal expression for augmented assignment")
"""What Python says of `a, b += ...`, which `Variants` leaves out."""


CASES = [pytest.param(path, id=f"{path.parts[-3]}-{path.stem}") for path in RIGHT]


def edits_of(path: Path) -> list[Edit]:
    cells = [AnswerCell(*cell) for cell in read_cells(path.read_text(encoding="utf-8"))]
    answer = parse_answer(cells)
    assert answer.live
    return [*every_edit(own_statements(answer, answer.live)[::-1], answer, answer.live, FEW)]


@pytest.mark.parametrize("path", CASES)
def test_every_edit_of_a_right_answer(path: Path) -> None:
    found, unreadable, unchanged = edits_of(path), list[str](), list[str]()
    for one in found:
        start, end = one.piece
        assert 0 <= start < end <= len(one.own.text)
        unchanged += [one.text] if one.text == one.own.text else []
        for text in one.texts.values():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    compile(text.lstrip(), "<edited>", "exec")
            except SyntaxError as error:
                if not UNPACKS.match(str(error)):
                    unreadable.append(text)
    assert len(found) > 50
    assert unchanged == []
    assert unreadable == []
    likelihoods = [one.likelihood for one in found]
    assert likelihoods == sorted(likelihoods)
    assert {*likelihoods} <= {*range(FIRST, LAST + 1)}


def test_there_are_right_answers_of_every_exercise() -> None:
    assert {path.parts[-3] for path in RIGHT} >= {"ex1", "ex2", "ex2s", "ex3", "ex4"}


@pytest.mark.parametrize(
    "source",
    ["dlogits = h * dh", "dlogits = dh.sum(0)", "dlogits = (1 - h**2) * dh / n"],
)
def test_no_edit_comes_twice(source: str) -> None:
    found = [(one.text, one.doubled) for one in all_edits(source)]
    assert len({*found}) == len(found)


def test_of_two_reasons_for_a_text_the_likelier_is_given() -> None:
    (found,) = [one for one in all_edits("dx = -h * dh") if one.text == "dx = h * dh"]
    assert found.kind is Kind.SIGN


def test_edits_of_a_later_statement_come_before_those_of_an_earlier_one() -> None:
    found = [one.own.number for one in all_edits("a = -h\nb = -dh") if one.kind is Kind.SIGN]
    assert found == sorted(found, reverse=True)
    assert {*found} == {0, 1}


def test_brackets_around_several_lines_stay() -> None:
    (found,) = [
        one for one in all_edits("dx = -(\n    dh\n    .sum(0)\n)") if one.kind is Kind.SIGN
    ]
    ast.parse(found.text)


def test_equal_statements_have_no_other_order() -> None:
    assert not [one for one in all_edits("a -= h\na -= h") if one.text == one.own.text]
