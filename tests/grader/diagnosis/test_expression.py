"""What is said of an expression that a rule of the table fits, and which part is underlined."""

from __future__ import annotations

import pytest

from tests.helpers.own_edits import all_edits, as_read


@pytest.mark.parametrize(
    ("source", "text", "piece"),
    [
        ("dx = h * W2", "dx = h", "W2"),
        ("dx = h - W2", "dx = h", "W2"),
        ("dx = bnvar + 1e-5", "dx = bnvar", "1e-5"),
        ("dx = h @ W2", "dx = W2 @ h", "h @ W2"),
        ("dC[i] = dh", "dC[i] += dh", "dC"),
        ("dx += dh", "dx -= dh", "+="),
        ("dx = (h) + (dh)", "dx = h - dh", "+"),
        ("dx + dh", "dx = dx + dh", "dx + dh"),
        ("dx.add(dh)", "dx.add_(dh)", "dx.add(dh)"),
    ],
)
def test_what_is_underlined(source: str, text: str, piece: str) -> None:
    pieces = {one.source for one in all_edits(source) if as_read(one.text) == as_read(text)}
    assert pieces == {piece}


@pytest.mark.parametrize(
    ("source", "text", "message", "belongs"),
    [
        (
            "dx = dh / n",
            "dx = dh / (n - 1)",
            "`n` is not quite the right number here.",
            "`n - 1`",
        ),
        ("dx = W2", "dx = W2 * dh", "`W2` lacks the incoming gradient.", "`dh`"),
        ("dx = dh", "dx = dh * h", "A factor is missing beside `dh`.", "`h`"),
        ("dx = -dh", "dx = dh", "The minus in `-dh` should not be there.", ""),
        (
            f"dx = -{'h' * 50}",
            f"dx = {'h' * 50}",
            "The minus in this expression should not be there.",
            "",
        ),
        (
            "dx = dh",
            "dx = dh.sum(1, keepdim=True)",
            "`dh` still has to be summed over its axis 1.",
            "",
        ),
    ],
)
def test_what_is_said(source: str, text: str, message: str, belongs: str) -> None:
    found = [one for one in all_edits(source) if as_read(one.text) == as_read(text)]
    assert [(one.message, one.belongs) for one in found] == [(message, belongs)]


@pytest.mark.parametrize("at", ["h * dh / (n * n)", "h * dh", "h", "dh", "n * n"])
def test_every_expression_is_doubled_once(at: str) -> None:
    source = "dx = h * dh / (n * n)"
    doubled = [one for one in all_edits(source) if one.doubled]
    pieces = [one.source for one in doubled]
    assert pieces.count(at) == 1
