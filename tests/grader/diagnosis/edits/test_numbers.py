"""One number for another: which, and what that mistake is called."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.edits.numbers import renumber
from grader.diagnosis.kinds import Kind
from tests.helpers.own_edits import all_edits, changes, edits_by


@pytest.mark.parametrize(
    ("source", "kind", "text"),
    [
        ("dhpreact = -1.0 * dh", Kind.CONSTANT_FACTOR, "dhpreact = -(2.0) * dh"),
        ("dhpreact = 2 * dh", Kind.CONSTANT_FACTOR, "dhpreact = (1) * dh"),
        ("dhpreact = 2 * dh", Kind.CONSTANT_FACTOR, "dhpreact = (4) * dh"),
        ("dhpreact = 2 * dh", Kind.CONSTANT_FACTOR, "dhpreact = (0.5) * dh"),
        ("dhpreact = 2 * dh", Kind.SIGN, "dhpreact = (-2) * dh"),
        ("dhpreact = 0.5 * dh", Kind.CONSTANT_FACTOR, "dhpreact = n * dh"),
        ("dhpreact = 0.5 * dh", Kind.CONSTANT_FACTOR, "dhpreact = (1 - smoothing) * dh"),
        ("dhpreact = 32 * dh", Kind.HARD_CODED_SIZE, "dhpreact = n * dh"),
        ("dhpreact = dh / 31", Kind.HARD_CODED_SIZE, "dhpreact = dh / (n - 1)"),
        ("dhpreact = 1 * dh", Kind.SUM_FOR_MEAN, "dhpreact = (1 / n) * dh"),
        ("dbnvar = (bnvar + 1e-3) ** -0.5", Kind.MISSING_EPS, "dbnvar = (bnvar + (1e-05)) ** -0.5"),
        ("dbnvar = bnvar ** 0.5", Kind.CONSTANT_FACTOR, "dbnvar = bnvar ** (-1.5)"),
        ("dhpreact = dh.sum(1)", Kind.CONSTANT_FACTOR, "dhpreact = dh.sum((0))"),
        (
            "dhpreact = dh.sum(0, keepdim=False)",
            Kind.LOST_KEEPDIM,
            "dhpreact = dh.sum(0, keepdim=True)",
        ),
        (
            "dhpreact = dh.sum(0, keepdim=True)",
            Kind.WRONG_SHAPE,
            "dhpreact = dh.sum(0, keepdim=False)",
        ),
        (
            "dC.index_put_((Xb,), dh, accumulate=False)",
            Kind.NOT_ACCUMULATED,
            "dC.index_put_((Xb,), dh, accumulate=True)",
        ),
        ("dC[Xb[0]] += dh", Kind.PARTIAL_ROWS, "dC[Xb[tmp]] += dh"),
        (
            "dW2 = torch.einsum('ij,ik->ij', h, dh)",
            Kind.WRONG_AXIS,
            "dW2 = torch.einsum('ij,ik->kj', h, dh)",
        ),
        (
            "dW2 = torch.einsum('ij,ik->ijk', h, dh)",
            Kind.MISSING_SUM,
            "dW2 = torch.einsum('ij,ik->jk', h, dh)",
        ),
        (
            "dW2 = torch.einsum('ij,ik->kj', h, dh)",
            Kind.TRANSPOSED,
            "dW2 = torch.einsum('ij,ik->jk', h, dh)",
        ),
        (
            "dW2 = torch.einsum('ij, ik', h, dh)",
            Kind.TRANSPOSED,
            "dW2 = torch.einsum('ji,ik', h, dh)",
        ),
    ],
)
def test_another_number(source: str, kind: Kind, text: str) -> None:
    assert (kind, text) in changes(edits_by(renumber, ast.Constant, source))


@pytest.mark.parametrize(
    ("source", "kind", "text"),
    [
        ("dhpreact = dh.sum(1)", Kind.WRONG_AXIS, "dhpreact = dh.sum((0))"),
        ("dbnvar = bnvar ** 0.5", Kind.POWER_RULE, "dbnvar = bnvar ** (-0.5)"),
        ("dbnvar = bnvar ** 2", Kind.POWER_RULE, "dbnvar = bnvar ** (-2)"),
        (
            "for i in range(1, n):\n    dC[i] = dh[i]",
            Kind.PARTIAL_ROWS,
            "for i in range((0), n):\n    dC[i] = dh[i]",
        ),
        ("dC[1:] += dh", Kind.PARTIAL_ROWS, "dC[(0):] += dh"),
        ("dC[Xb[:, 1]] += dh", Kind.WRONG_INDEX, "dC[Xb[:, (0)]] += dh"),
        ("dC = torch.zeros(27, 10)", Kind.HARD_CODED_SIZE, "dC = torch.zeros(vocab_size, 10)"),
        ("dhpreact = dh * 2 ** -1", Kind.CONSTANT_FACTOR, "dhpreact = dh * 2 ** -(2)"),
    ],
)
def test_the_place_of_a_number_names_the_mistake(source: str, kind: Kind, text: str) -> None:
    assert (kind, text) in changes(all_edits(source))


@pytest.mark.parametrize(
    "source",
    ["dhpreact = f('a text, of words!')", "dhpreact = None", "dhpreact = f(b'ij,jk')"],
)
def test_no_other_number(source: str) -> None:
    assert changes(edits_by(renumber, ast.Constant, source)) == set()


def test_a_whole_number_stays_one() -> None:
    texts = {text for _, text in changes(edits_by(renumber, ast.Constant, "dh = h[:, 1]"))}
    assert texts
    assert not [text for text in texts if "." in text]


def test_a_size_that_is_written_out_is_said_to_be_one() -> None:
    (said,) = {
        one.message
        for one in edits_by(renumber, ast.Constant, "dh = dh / 32")
        if one.kind is Kind.HARD_CODED_SIZE
    }
    assert said == "The size 32 is written out here: it is another for other batches."
