"""Other functions, arguments and indices: which, and what that mistake is called."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.edits.calls import (
    change_attribute,
    change_call,
    change_index,
    change_indices,
)
from grader.diagnosis.kinds import Kind
from tests.helpers.own_edits import changes, edits_by


@pytest.mark.parametrize(
    ("source", "kind", "text"),
    [
        ("db = dh.mean(0)", Kind.MEAN_FOR_SUM, "db = dh.sum(0)"),
        ("db = torch.mean(dh, 0)", Kind.MEAN_FOR_SUM, "db = torch.sum(dh, 0)"),
        ("db = dh.sum(0)", Kind.SUM_FOR_MEAN, "db = dh.mean(0)"),
        ("db = dh.sum(0)", Kind.LOST_KEEPDIM, "db = dh.sum(0, keepdim=True)"),
        ("db = dh.sum(dim=0)", Kind.LOST_KEEPDIM, "db = dh.sum(dim=0, keepdim=True)"),
        ("db = torch.sum(dh, 0)", Kind.LOST_KEEPDIM, "db = torch.sum(dh, 0, keepdim=True)"),
        ("db = dh.sum(0, keepdim=True)", Kind.WRONG_SHAPE, "db = dh.sum(0)"),
        ("db = dh.sum()", Kind.WRONG_AXIS, "db = dh.sum(0, keepdim=True)"),
        ("db = torch.sum(dh)", Kind.WRONG_AXIS, "db = torch.sum(dh, 0)"),
        ("db = dh.sum(0)", Kind.WRONG_SHAPE, "db = dh"),
        ("db = (dh * h).sum(0)", Kind.WRONG_SHAPE, "db = (dh * h)"),
        ("db = dh.add(h)", Kind.SIGN, "db = dh.sub(h)"),
        ("db = dh.mul(h)", Kind.OPERATOR, "db = dh.div(h)"),
        ("db = torch.ones_like(dh)", Kind.WRONG_NAME, "db = torch.zeros_like(dh)"),
        ("db = torch.zeros_like(dh)", Kind.MISSING_BRANCH, "db = dh"),
        ("dC.index_add(0, Xb, dh)", Kind.STATEMENT, "dC.index_add_(0, Xb, dh)"),
        ("dC.scatter_(0, Xb, dh)", Kind.NOT_ACCUMULATED, "dC.scatter_add_(0, Xb, dh)"),
        ("dC.copy_(dh)", Kind.OVERWRITTEN_BRANCH, "dC.add_(dh)"),
        ("db = F.log_softmax(logits, 1)", Kind.WRONG_NAME, "db = F.softmax(logits, 1)"),
        ("db = logits.argmin(1)", Kind.MISROUTED_MAX, "db = logits.argmax(1)"),
        ("db = logits.exp()", Kind.MISSING_FACTOR, "db = logits.softmax(1)"),
        ("db = F.one_hot(Yb)", Kind.ONLY_THIS_BATCH, "db = F.one_hot(Yb, vocab_size)"),
        ("db = dh.t()", Kind.TRANSPOSED, "db = dh"),
        ("db = dh.flip(0)", Kind.PERMUTED, "db = dh"),
        ("db = dh.permute(1, 0).reshape(2, 3)", Kind.PERMUTED, "db = dh.reshape(2, 3)"),
        ("db = dh.tanh()", Kind.OPERATOR, "db = dh"),
        ("db = torch.matmul(h, dh)", Kind.WRONG_ORDER, "db = torch.matmul(dh, h)"),
        ("db = f(a, b, c, k=1)", Kind.WRONG_ORDER, "db = f(a, c, b, k=1)"),
    ],
)
def test_another_call(source: str, kind: Kind, text: str) -> None:
    assert (kind, text) in changes(edits_by(change_call, ast.Call, source))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("db = torch.tanh(h)", "db = torch"),
        ("db = h.view(3, 2)", "db = h"),
        ("db = h.clone()", "db = h"),
        ("db = dh.sum(0, keepdim=True)", "db = dh.sum(0, keepdim=True, keepdim=True)"),
        ("db = dh.sum()", "db = dh.sum(, keepdim=True)"),
        ("db = torch.sum(dh)", "db = torch.sum(dh, keepdim=True)"),
    ],
)
def test_no_other_call(source: str, text: str) -> None:
    assert text not in {new for _, new in changes(edits_by(change_call, ast.Call, source))}


@pytest.mark.parametrize(
    ("source", "kind", "text"),
    [
        ("dh = dlogits @ W2.T", Kind.TRANSPOSED, "dh = dlogits @ W2"),
        ("dh = (a + b).mT", Kind.TRANSPOSED, "dh = (a + b)"),
        ("dh = dlogits @ W2.t", Kind.TRANSPOSED, "dh = dlogits @ W2.t()"),
        ("dh = dlogits.sum", Kind.BRACKETS, "dh = dlogits.sum()"),
    ],
)
def test_another_attribute(source: str, kind: Kind, text: str) -> None:
    assert (kind, text) in changes(edits_by(change_attribute, ast.Attribute, source))


@pytest.mark.parametrize("source", ["dh = W2.t()", "dh = dlogits.sum(0)", "dh = W2.shape[0]"])
def test_no_other_attribute(source: str) -> None:
    assert changes(edits_by(change_attribute, ast.Attribute, source)) == set()


@pytest.mark.parametrize(
    ("source", "kind", "text"),
    [
        ("dh = C[Xb]", Kind.WRONG_INDEX, "dh = C"),
        ("dh = Xb[0]", Kind.WRONG_NAME, "dh = Yb"),
        ("dh = h[:, Yb]", Kind.WRONG_INDEX, "dh = h[range(n), Yb]"),
        ("dh = h[range(n), Yb]", Kind.WRONG_INDEX, "dh = h[range(n), :]"),
        ("dh = h[range(n), Yb]", Kind.WRONG_INDEX, "dh = h[:, Yb]"),
    ],
)
def test_another_index(source: str, kind: Kind, text: str) -> None:
    assert (kind, text) in changes(edits_by(change_index, ast.Subscript, source))


@pytest.mark.parametrize(
    ("source", "kind", "text"),
    [
        ("dh[:, Yb] = 1", Kind.WRONG_INDEX, "dh[range(n), Yb] = 1"),
        ("dh[:, Yb] = 1", Kind.WRONG_INDEX, "dh[Yb, :] = 1"),
        ("dh = h[Yb, range(n)]", Kind.WRONG_INDEX, "dh = h[range(n), Yb]"),
        ("dh = h[(Yb, range(n))]", Kind.WRONG_INDEX, "dh = h[(range(n), Yb)]"),
        ("dh = h[i, j, k]", Kind.WRONG_INDEX, "dh = h[k, j, i]"),
    ],
)
def test_other_indices(source: str, kind: Kind, text: str) -> None:
    assert (kind, text) in changes(edits_by(change_indices, ast.Tuple, source))


def test_a_tuple_that_is_no_index_stays() -> None:
    assert changes(edits_by(change_indices, ast.Tuple, "dh = f((a, b))")) == set()
