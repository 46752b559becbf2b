"""Every edit of every right answer: Python, another text, in the order of its likelihood."""

from __future__ import annotations

import ast
import itertools
import re
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from corpus.readers.exercise_text import read_cells
from corpus.readers.places import ANSWERS
from grader.answer.own_code import own_statements
from grader.answer.parse import AnswerCell, parse_answer
from grader.answer.sites import AXIS, EXPONENT, INDEX, RANGE
from grader.diagnosis.edit import EXPECTED, FIRST, LAST, LIKELY, Edit, Scope
from grader.diagnosis.every_edit import MOST_PAIRS, every_edit
from grader.diagnosis.expression import KINDS
from grader.diagnosis.kinds import Kind
from tests.helpers.own_edits import SCOPE, all_edits, as_read

RIGHT = sorted(ANSWERS.glob("*/right/*.py"))

FEW = Scope(
    "dlogits",
    {"n": 32},
    {
        **{"FORWARD": ("h",), "NEAR": ("h",), "ARRIVING": ("dh",), "UPSTREAM": ("dh",)},
        **{
            "INDEX": ("Yb",),
            "ALONE": ("h",),
            "NOSIGMOID": ("h",),
            "NORELU": ("h",),
            "RECTIFIED": ("h",),
            "SLOPE": (),
            "OWN": ("tmp",),
            "SCALAR": (),
        },
        **{"SIZE": ("n",), "BATCH": ("n",), "CLASSES": (), "TENSOR": (), "MADE": (), "AXIS": "012"},
        **{"ITSELF": ("dlogits",)},
    },
    reassigned=frozenset({"dlogits"}),
)
"""A name of each sort: more would make more edits of the same form."""

NO_PYTHON = re.compile(
    r"'(?:tuple|list)' is an illegal expression for augmented assignment|keyword argument repeated"
)
"""What Python says of edits that `Variants` leaves out: `a, b += ...`, an argument given twice."""


CASES = [pytest.param(path, id=f"{path.parts[-3]}-{path.stem}") for path in RIGHT]


def edits_of(path: Path) -> list[Edit]:
    cells = [AnswerCell(*cell) for cell in read_cells(path.read_text(encoding="utf-8"))]
    answer = parse_answer(cells)
    assert answer.live
    return [
        *itertools.chain.from_iterable(
            every_edit(own_statements(answer, answer.live)[::-1], answer, answer.live, FEW)
        )
    ]


@pytest.mark.slow
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
                if not NO_PYTHON.match(str(error)):
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


def test_lines_that_ran_again_are_left_out_together() -> None:
    again = [one for one in all_edits("a = dh\na -= h\na -= h\na += dh\na -= h") if not one.text]
    assert [(one.own.number, one.others) for one in again] == [(4, {2: ""})]
    assert not [one for one in all_edits("a = dh\na -= h") if not one.text]


@pytest.mark.parametrize(
    ("text", "likelihood"),
    [
        ("dhpreact = logits * dh", EXPECTED),
        ("dhpreact = logits * dlogits", EXPECTED),
        ("dhpreact = logits * hpreact", LIKELY),
    ],
)
def test_what_arrives_is_likelier_than_what_is_far_off(text: str, likelihood: int) -> None:
    source = "dhpreact = logits * " + ("logits" if "dlogits" in text else "W2")
    (found,) = {one.likelihood for one in all_edits(source) if one.text == text}
    assert found == likelihood


def test_what_belongs_there_stands_in_the_hint_alone() -> None:
    (found,) = [one for one in all_edits("dhpreact = W2 * dh") if one.text.endswith("= h * dh")]
    assert found.belongs == "`h`"
    assert "`h`" not in found.message
    assert "`W2`" in found.message


def test_a_gradient_that_arrives_may_be_named() -> None:
    (found,) = {
        one.message
        for one in all_edits("dhpreact = h * dlogits")
        if one.text == "dhpreact = h * dh"
    }
    assert found == "`dlogits` is not the incoming gradient here."


def test_a_line_may_stand_before_a_loop_or_after_it() -> None:
    source = "for i in r:\n    dx = zeros\n    for j in s:\n        dx += h\n    dx /= n"
    moved = {one.text for one in all_edits(source) if one.message.endswith("inside of the loop.")}
    before = source.replace("dx = zeros", "pass")
    after = source.replace("dx /= n", "pass")
    assert moved == {f"dx = zeros\n{before}", f"{after}\ndx /= n"}


@pytest.mark.slow
def test_lines_are_moved_out_of_many_loops_a_limited_number_of_times() -> None:
    nested = "".join(f"{' ' * depth}for i in r:\n" for depth in range(15))
    inside = "".join(
        f"{' ' * 15}for j in s:\n{' ' * 16}a = b\n{' ' * 16}c = b\n" for _ in range(99)
    )
    found = [one for one in all_edits(nested + inside) if "loop" in one.message]
    assert 0 < len(found) <= MOST_PAIRS


def test_the_counter_of_a_loop_comes_once() -> None:
    source = "for i in r:\n    dC[i] = demb[i]"
    added = {one.kind for one in all_edits(source) if "+=" in one.text}
    assert added == {Kind.OVERWRITTEN_BRANCH}


@pytest.mark.parametrize(
    ("source", "at", "kind"),
    [
        ("dx = dh.sum(1)", "1", KINDS[AXIS]),
        ("dx = h ** 3", "3", KINDS[EXPONENT]),
        ("dx = h[2]", "2", KINDS[INDEX]),
        ("dx = h[1:]", "1", KINDS[RANGE]),
    ],
)
def test_the_role_names_the_mistake(source: str, at: str, kind: Kind) -> None:
    found = [one for one in all_edits(source) if one.source == at]
    assert found
    assert {one.kind for one in found} <= {kind, Kind.PARTIAL_ROWS, Kind.HARD_CODED_SIZE}


SHAPES = {
    **dict.fromkeys(("dhpreact", "dh", "h", "hpreact"), (5, 4)),
    **{"bnvar": (1, 4), "dlogits": (5, 7)},
}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("dhpreact = h * dh", "dhpreact = h * dlogits"),
        ("dhpreact = h * dlogits", "dhpreact = h * dh"),
        ("dhpreact = torch.zeros_like(dh)", "dhpreact = torch.zeros_like(h)"),
    ],
)
def test_what_has_the_right_shape_gets_no_other(source: str, text: str) -> None:
    known, right = (
        {as_read(one.text) for one in all_edits(source, scope=scope)}
        for scope in (SCOPE, replace(SCOPE, shapes=SHAPES, fits=True))
    )
    assert as_read(text) in known
    assert as_read(text) not in right


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("dhpreact = hpreact * dh", "dhpreact = h * dh"),
        ("dhpreact = h / dh.shape[0]", "dhpreact = h / dlogits.shape[0]"),
        ("dhpreact = bnvar * dh", "dhpreact = h * dh"),
        ("tmp = dlogits", "tmp = dh"),
        ("dhpreact = dlogits.sum(1)", "dhpreact = dh.sum(1)"),
        ("dhpreact = dlogits.view(h.shape)", "dhpreact = dh.view(h.shape)"),
        ("dhpreact[:, 0] = dlogits[:, 0]", "dhpreact[:, 0] = dh[:, 0]"),
    ],
)
def test_what_keeps_the_shape_is_tried(source: str, text: str) -> None:
    scope = replace(SCOPE, shapes=SHAPES, fits=True)
    assert as_read(text) in {as_read(one.text) for one in all_edits(source, scope=scope)}
