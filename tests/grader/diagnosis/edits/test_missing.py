"""What may be missing beside an expression, and what that mistake is called."""

from __future__ import annotations

import pytest

from grader.diagnosis.edits.missing import add_missing
from grader.diagnosis.kinds import Kind
from tests.helpers.own_edits import SCOPE, changes, site_of


@pytest.mark.parametrize(
    ("source", "at", "kind", "text"),
    [
        ("dx = h", "h", Kind.WRONG_UPSTREAM, "dx = (h * dh)"),
        ("dx = h", "h", Kind.WRONG_UPSTREAM, "dx = (h / dh)"),
        ("dx = dh", "dh", Kind.MISSING_FACTOR, "dx = (dh * hpreact)"),
        ("dx = dh", "dh", Kind.MISSING_FACTOR, "dx = (dh / hpreact)"),
        ("dx = dh", "dh", Kind.MISSING_FACTOR, "dx = (dh * tmp)"),
        ("dx = dh", "dh", Kind.MISSING_FACTOR, "dx = (dh * slope_of_h_)"),
        ("dx = dh", "dh", Kind.CONSTANT_FACTOR, "dx = (dh / n)"),
        ("dx = dh", "dh", Kind.CONSTANT_FACTOR, "dx = (dh * vocab_size)"),
        ("dx = dh * W2", "W2", Kind.EXTRA_FACTOR, "dx = dh * 1.0"),
        ("dx = h * dh", "h", Kind.MISSING_BRANCH, "dx = (1 - h) * dh"),
        ("dx = h * dh", "h", Kind.MISSING_BRANCH, "dx = (h - 1) * dh"),
        ("dx = h * dh", "h * dh", Kind.MISSING_BRANCH, "dx = ((h * dh) + dlogits)"),
        ("dx = h * dh", "h * dh", Kind.MISSING_BRANCH, "dx = ((h * dh) - hpreact)"),
        ("dx = bnvar ** 2", "bnvar", Kind.MISSING_EPS, "dx = (bnvar + 1e-5) ** 2"),
        ("dx = W2 @ dh", "W2", Kind.TRANSPOSED, "dx = W2.mT @ dh"),
        ("dx = h * dh", "h * dh", Kind.TRANSPOSED, "dx = (h * dh).mT"),
        ("dx = h * dh", "h * dh", Kind.MISSING_SUM, "dx = (h * dh).sum(0)"),
        ("dx = h * dh", "h * dh", Kind.MISSING_SUM, "dx = (h * dh).sum(1, keepdim=True)"),
        ("dx = h * dh", "h", Kind.POWER_RULE, "dx = (h ** 2) * dh"),
        ("dx = h * dh", "h", Kind.POWER_RULE, "dx = (h ** -1.5) * dh"),
        ("dx = dh", "dh", Kind.MISSING_BRANCH, "dx = (dh + torch.softmax(hpreact, 1))"),
        ("dx = dh", "dh", Kind.MISSING_BRANCH, "dx = (dh - h * dh.sum(-1, keepdim=True))"),
        ("dC[i + 1] = dh", "i + 1", Kind.WRONG_INDEX, "dC[(i + 1) * n] = dh"),
        ("dC[i] = dh", "i", Kind.WRONG_INDEX, "dC[i * vocab_size] = dh"),
    ],
)
def test_what_may_be_missing(source: str, at: str, kind: Kind, text: str) -> None:
    assert (kind, text) in changes([*add_missing(site_of(source, at), SCOPE)])


@pytest.mark.parametrize(
    ("source", "at"),
    [
        ("dx = dh.sum(0)", "0"),
        ("dx = dh / n", "n"),
        ("dx = torch.ones(2)", "torch"),
        ("dx = dh.sum(0)", "dh.sum"),
        ("dx = dh[Yb]", "Yb"),
        ("dx = dh.view(h.shape)", "h.shape"),
        ("dx = [dh, h]", "[dh, h]"),
        ("dx = h ** k", "k"),
    ],
)
def test_nothing_is_missing_beside_what_is_no_tensor(source: str, at: str) -> None:
    found = changes([*add_missing(site_of(source, at), SCOPE)])
    assert {kind for kind, _ in found} <= {Kind.WRONG_INDEX}


def test_a_gradient_is_not_added_to_itself() -> None:
    texts = {text for _, text in changes([*add_missing(site_of("dhpreact = h", "h"), SCOPE)])}
    assert "dhpreact = (h + dlogits)" in texts
    assert "dhpreact = (h + dhpreact)" not in texts


@pytest.mark.parametrize("at", ["h * dh", "h", "dh", "n * n"])
def test_every_expression_is_doubled_once(at: str) -> None:
    source = "dx = h * dh / (n * n)"
    (doubled,) = [one for one in add_missing(site_of(source, at), SCOPE) if one.doubled]
    start, end = doubled.piece
    assert doubled.own.text[start:end] == at
    atom = at if at.isidentifier() else f"({at})"
    assert doubled.text == source[:start] + f"(2 * {atom})" + source[end:]
