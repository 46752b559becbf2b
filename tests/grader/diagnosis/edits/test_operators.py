"""Other operations, operands and brackets: which, and what that mistake is called."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.edits.operators import change_operation, drop_minus
from grader.diagnosis.kinds import Kind
from tests.helpers.own_edits import changes, edits_by


@pytest.mark.parametrize(
    ("source", "kind", "text"),
    [
        ("dh = -h", Kind.SIGN, "dh = h"),
        ("dh = -h**2", Kind.SIGN, "dh = (-h) ** 2"),
        ("dh = -(h + W2)", Kind.SIGN, "dh = (h + W2)"),
    ],
)
def test_no_minus(source: str, kind: Kind, text: str) -> None:
    assert (kind, text) in changes(edits_by(drop_minus, ast.UnaryOp, source))


@pytest.mark.parametrize("source", ["dh = +h", "dh = ~h", "dh = not h"])
def test_only_a_minus_is_too_much(source: str) -> None:
    assert changes(edits_by(drop_minus, ast.UnaryOp, source)) == set()


@pytest.mark.parametrize(
    ("source", "kind", "text"),
    [
        # another sign
        ("dh = h + W2", Kind.SIGN, "dh = (h - W2)"),
        ("dh = h - W2", Kind.SIGN, "dh = (h + W2)"),
        ("dh = h / W2", Kind.OPERATOR, "dh = (h * W2)"),
        ("dh = h * W2", Kind.OPERATOR, "dh = (h @ W2)"),
        ("dh = h * W2", Kind.MULTIPLIED_BRANCHES, "dh = (h + W2)"),
        ("dh = h * n", Kind.CONSTANT_FACTOR, "dh = (h / n)"),
        # an operand too many
        ("dh = h * W2", Kind.EXTRA_FACTOR, "dh = h"),
        ("dh = h * W2", Kind.EXTRA_FACTOR, "dh = W2"),
        ("dh = h + W2", Kind.EXTRA_TERM, "dh = h"),
        ("dh = h - W2", Kind.EXTRA_TERM, "dh = (-W2)"),
        ("dh = h / W2", Kind.EXTRA_FACTOR, "dh = (1 / W2)"),
        ("dh = h / n", Kind.CONSTANT_FACTOR, "dh = h"),
        ("dh = -1 * h", Kind.SIGN, "dh = h"),
        ("dh = bnvar + 1e-5", Kind.MISSING_EPS, "dh = bnvar"),
        ("dh = h / (n - 1)", Kind.BESSEL, "dh = h / (n)"),
        # the other side
        ("dh = h - W2", Kind.SIGN, "dh = (W2 - h)"),
        ("dh = h / W2", Kind.OPERATOR, "dh = (W2 / h)"),
        ("dh = W2 @ dlogits", Kind.WRONG_ORDER, "dh = (dlogits @ W2)"),
        ("dh = dlogits @ W2", Kind.TRANSPOSED, "dh = (dlogits @ W2.mT)"),
        ("dh = dlogits @ W2", Kind.TRANSPOSED, "dh = (dlogits.mT @ W2)"),
        ("dh = W2 @ dlogits", Kind.WRONG_ORDER, "dh = (dlogits @ W2.mT)"),
        ("dh = h.T @ dlogits", Kind.OPERATOR, "dh = (h * dlogits).sum(0, keepdim=True)"),
        # powers
        ("dh = h ** 2", Kind.POWER_RULE, "dh = h"),
        ("dh = 2 * h", Kind.POWER_RULE, "dh = (h ** 2)"),
        ("dh = (-h) ** 2", Kind.SIGN, "dh = (-(h ** 2))"),
        ("dh = (1 - h) ** 2", Kind.BRACKETS, "dh = (1 - h ** 2)"),
        # brackets
        ("dh = 1 - h**2 * dlogits", Kind.BRACKETS, "dh = ((1 - (h**2)) * dlogits)"),
        ("dh = (1 - h) * W2", Kind.BRACKETS, "dh = (1 - (h * W2))"),
        ("dh = 1 / n - 1", Kind.BRACKETS, "dh = (1 / (n - 1))"),
        ("dh = a - (b - c)", Kind.BRACKETS, "dh = ((a - b) - c)"),
        ("dh = a * b + c * d", Kind.BRACKETS, "dh = ((a * (b + c)) * d)"),
        # contributions that are multiplied
        ("dh = a * b * c * d", Kind.MULTIPLIED_BRANCHES, "dh = (a * b + c * d)"),
        ("dh = a * b / c", Kind.MULTIPLIED_BRANCHES, "dh = (a + b / c)"),
        # the sum before the product
        ("dh = a.sum(0) * b", Kind.WRONG_ORDER, "dh = ((a * b).sum(0))"),
        ("dh = a.sum(0) * b.sum(0)", Kind.WRONG_ORDER, "dh = ((a * b).sum(0))"),
        ("dh = a * b.sum(0)", Kind.WRONG_ORDER, "dh = ((a * b).sum(0))"),
        ("dh = a.sum(0) / b", Kind.WRONG_ORDER, "dh = ((a / b).sum(0))"),
    ],
)
def test_another_operation(source: str, kind: Kind, text: str) -> None:
    assert (kind, text) in changes(edits_by(change_operation, ast.BinOp, source))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("dh = 1 - h", "dh = (1 * h)"),
        ("dh = h * 1", "dh = (h / 1)"),
        ("dh = h + W2", "dh = (W2 + h)"),
        ("dh = h * W2", "dh = (h - 1)"),
        ("dh = h * W2", "dh = (W2 * h)"),
    ],
)
def test_no_other_operation(source: str, text: str) -> None:
    assert text not in {new for _, new in changes(edits_by(change_operation, ast.BinOp, source))}


@pytest.mark.parametrize("source", ["dh = h // 2", "dh = h % 2", "dh = h & mask"])
def test_signs_of_no_derivative_stay(source: str) -> None:
    assert changes(edits_by(change_operation, ast.BinOp, source)) == set()


def test_a_long_piece_is_not_quoted() -> None:
    (said,) = {
        one.message
        for one in edits_by(drop_minus, ast.UnaryOp, f"dh = -{'h' * 50}")
        if one.kind is Kind.SIGN
    }
    assert said == "The minus in this expression is too much."
