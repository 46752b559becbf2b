"""One name for another: which, and what that mistake is called."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.edits.edit import EXPECTED, LIKELY, POSSIBLE
from grader.diagnosis.edits.names import rename, rename_everywhere
from grader.diagnosis.kinds import Kind
from tests.helpers.own_edits import SCOPE, all_edits, changes, edits_by, own_of


@pytest.mark.parametrize(
    ("source", "kind", "text"),
    [
        ("dhpreact = h * dlogits", Kind.WRONG_UPSTREAM, "dhpreact = h * dh"),
        ("dhpreact = h * dlogits", Kind.WRONG_NAME, "dhpreact = logits * dlogits"),
        ("dhpreact = h * dlogits", Kind.WRONG_ACTIVATION_POINT, "dhpreact = hpreact * dlogits"),
        ("dhpreact = h * dlogits", Kind.WRONG_NAME, "dhpreact = tmp * dlogits"),
        (
            "dhpreact = (1 - hpreact**2) * dh",
            Kind.WRONG_ACTIVATION_POINT,
            "dhpreact = (1 - h**2) * dh",
        ),
        ("dhpreact = W2 * h", Kind.MISSING_D, "dhpreact = W2 * dh"),
        ("dhpreact = dh * tmp", Kind.WRONG_NAME, "dhpreact = dh * h"),
        ("dhpreact = dhpreact * tmp", Kind.WRONG_NAME, "dhpreact = dh * tmp"),
        ("dhpreact = dh / n", Kind.BESSEL, "dhpreact = dh / (n - 1)"),
        ("dhpreact = dh / n", Kind.BESSEL, "dhpreact = dh / (n + 1)"),
        ("dhpreact = dh / n", Kind.CONSTANT_FACTOR, "dhpreact = dh / vocab_size"),
        ("dhpreact = dh / n", Kind.CONSTANT_FACTOR, "dhpreact = dh / 1"),
        ("dhpreact[range(n)] = dh", Kind.WRONG_INDEX, "dhpreact[range(vocab_size)] = dh"),
        ("dhpreact = h[Yb]", Kind.WRONG_NAME, "dhpreact = h[Xb]"),
        ("dhpreact = h[Yb]", Kind.MISROUTED_MAX, "dhpreact = h[hpreact.argmax(1)]"),
        ("dC = C", Kind.ALIASED, "dC = torch.zeros_like(C)"),
        (
            "dC = C.index_add_(0, Xb, dh)",
            Kind.WRONG_NAME,
            "dC = torch.zeros_like(C).index_add_(0, Xb, dh)",
        ),
    ],
)
def test_another_name(source: str, kind: Kind, text: str) -> None:
    assert (kind, text) in changes(edits_by(rename, ast.Name, source))


@pytest.mark.parametrize(
    "source",
    [
        "dhpreact = tanh(1)",
        "dhpreact = unknown * 1",
        "dhpreact = torch.ones(2)",
        "h = 1",
    ],
    ids=["a function", "a name of no one's", "a module", "what is assigned"],
)
def test_no_other_name(source: str) -> None:
    assert changes(edits_by(rename, ast.Name, source)) == set()


def test_a_tensor_that_is_no_start_is_not_zeroed() -> None:
    found = changes(edits_by(rename, ast.Name, "dhpreact = h * h"))
    assert not [text for _, text in found if "zeros_like" in text]


@pytest.mark.parametrize(
    ("text", "likelihood"),
    [
        ("dhpreact = logits * dh", EXPECTED),
        ("dhpreact = logits * dlogits", EXPECTED),
        ("dhpreact = logits * hpreact", LIKELY),
        ("dhpreact = logits * tmp", LIKELY),
        ("dhpreact = logits * C", POSSIBLE),
    ],
)
def test_what_arrives_is_likelier_than_what_is_far_off(text: str, likelihood: int) -> None:
    source = "dhpreact = logits * " + ("logits" if "dlogits" in text else "W2")
    (found,) = {one.likelihood for one in edits_by(rename, ast.Name, source) if one.text == text}
    assert found == likelihood


def test_what_belongs_there_stands_in_the_hint_alone() -> None:
    (found,) = [
        one
        for one in edits_by(rename, ast.Name, "dhpreact = W2 * dh")
        if one.text.endswith("= h * dh")
    ]
    assert found.belongs == "`h`"
    assert "`h`" not in found.message
    assert "`W2`" in found.message


def test_a_gradient_that_arrives_may_be_named() -> None:
    (found,) = {
        one.message
        for one in edits_by(rename, ast.Name, "dhpreact = h * dlogits")
        if one.text == "dhpreact = h * dh"
    }
    assert found == "`dh` arrives here, not `dlogits`."


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("dhpreact = dh * (1 - hpreact * hpreact)", "dhpreact = dh * (1 - h * h)"),
        ("dhpreact = W2 - W2 * W2", "dhpreact = tmp - tmp * tmp"),
        ("dhpreact = (dlogits -\n    h * dlogits)", "dhpreact = (dh -\n    h * dh)"),
    ],
)
def test_a_name_may_be_another_everywhere(source: str, text: str) -> None:
    (own,) = own_of(source)[2]
    assert text in {one.text for one in rename_everywhere(own, own.top, SCOPE)}
    assert text in {one.text for one in all_edits(source)}


def test_a_name_that_is_read_once_is_not_renamed_everywhere() -> None:
    (own,) = own_of("dhpreact = dh * h")[2]
    assert [*rename_everywhere(own, own.top, SCOPE)] == []
