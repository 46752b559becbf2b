"""What an expression is for."""

from __future__ import annotations

import pytest

from grader.diagnosis.edits.roles import (
    AXIS,
    CALLEE,
    EXPONENT,
    INDEX,
    KINDS,
    RANGE,
    SIZE,
    VALUE,
    role,
)
from grader.diagnosis.kinds import Kind
from tests.helpers.own_edits import all_edits, site_of


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
    found = [one for one in all_edits(source) if one.own.text[slice(*one.piece)] == at]
    assert found
    assert {one.kind for one in found} <= {kind, Kind.PARTIAL_ROWS, Kind.HARD_CODED_SIZE}
