"""The table of mistakes: what each entry makes of a line, and what that mistake is called."""

from __future__ import annotations

import ast
import re

import pytest

from grader.answer.sites import AXIS, CALLEE, INDEX, SIZE, STATEMENT, VALUE
from grader.diagnosis.edit import LAST
from grader.diagnosis.kinds import Kind
from grader.diagnosis.mistakes import (
    ANY_SIGN,
    METHODS,
    NAMED,
    TWICE,
    rules,
    sign_of,
    table,
)
from tests.helpers.own_edits import all_edits, as_read

RULES = table()

PLACES = (VALUE, CALLEE, AXIS, INDEX, SIZE, STATEMENT)


@pytest.mark.parametrize(
    ("source", "kind", "text"),
    [
        ("dh = -h", Kind.SIGN, "dh = h"),
        ("dx = h.T()", Kind.STATEMENT, "dx = h.T"),
        ("dx = C - bnvar", Kind.SIGN, "dx = bnvar - C"),
        ("dh = -(h + W2)", Kind.SIGN, "dh = (h + W2)"),
        ("dh = h + W2", Kind.SIGN, "dh = (h - W2)"),
        ("dh = h - W2", Kind.SIGN, "dh = (h + W2)"),
        ("dh = h / W2", Kind.OPERATOR, "dh = (h * W2)"),
        ("dh = h * W2", Kind.OPERATOR, "dh = (h @ W2)"),
        ("dh = h * W2", Kind.MULTIPLIED_BRANCHES, "dh = (h + W2)"),
        ("dh = h * W2", Kind.EXTRA_FACTOR, "dh = h"),
        ("dh = h * W2", Kind.EXTRA_FACTOR, "dh = W2"),
        ("dh = h + W2", Kind.EXTRA_TERM, "dh = h"),
        ("dh = h - W2", Kind.EXTRA_TERM, "dh = (-W2)"),
        ("dh = h / W2", Kind.EXTRA_FACTOR, "dh = (1 / W2)"),
        ("dh = -1 * h", Kind.SIGN, "dh = h"),
        ("dh = h / (n - 1)", Kind.BESSEL, "dh = h / (n)"),
        ("dh = h - W2", Kind.SIGN, "dh = (W2 - h)"),
        ("dh = h / W2", Kind.OPERATOR, "dh = (W2 / h)"),
        ("dh = W2 @ dlogits", Kind.WRONG_ORDER, "dh = (dlogits @ W2)"),
        ("dh = dlogits @ W2", Kind.TRANSPOSED, "dh = (dlogits @ W2.mT)"),
        ("dh = dlogits @ W2", Kind.TRANSPOSED, "dh = (dlogits.mT @ W2)"),
        ("dh = W2 @ dlogits", Kind.WRONG_ORDER, "dh = (dlogits @ W2.mT)"),
        ("dh = h.T @ dlogits", Kind.OPERATOR, "dh = (h * dlogits).sum(0, keepdim=True)"),
        ("dh = h ** 2", Kind.POWER_RULE, "dh = h"),
        ("dh = 2 * h", Kind.POWER_RULE, "dh = (h ** 2)"),
        ("dh = (-h) ** 2", Kind.SIGN, "dh = (-(h ** 2))"),
        ("dh = (1 - h) ** 2", Kind.BRACKETS, "dh = (1 - h ** 2)"),
        ("dh = 1 - h**2 * dlogits", Kind.BRACKETS, "dh = ((1 - (h**2)) * dlogits)"),
        ("dh = (1 - h) * W2", Kind.BRACKETS, "dh = (1 - (h * W2))"),
        ("dh = 1 / n - 1", Kind.BRACKETS, "dh = (1 / (n - 1))"),
        ("dh = a - (b - c)", Kind.BRACKETS, "dh = ((a - b) - c)"),
        ("dh = a * b + c * d", Kind.BRACKETS, "dh = ((a * (b + c)) * d)"),
        ("dh = a * b * c * d", Kind.MULTIPLIED_BRANCHES, "dh = (a * b + c * d)"),
        ("dh = a * b / c", Kind.MULTIPLIED_BRANCHES, "dh = (a + b / c)"),
        ("dh = a.sum(0) * b", Kind.WRONG_ORDER, "dh = ((a * b).sum(0))"),
        ("dh = a.sum(0) * b.sum(0)", Kind.WRONG_ORDER, "dh = ((a * b).sum(0))"),
        ("dh = a * b.sum(0)", Kind.WRONG_ORDER, "dh = ((b * a).sum(0))"),
        ("dhpreact = -1.0 * dh", Kind.CONSTANT_FACTOR, "dhpreact = -(2.0) * dh"),
        ("dhpreact = 2 * dh", Kind.CONSTANT_FACTOR, "dhpreact = (1) * dh"),
        ("dhpreact = 2 * dh", Kind.CONSTANT_FACTOR, "dhpreact = (0.5) * dh"),
        ("dhpreact = 2 * dh", Kind.SIGN, "dhpreact = (-2) * dh"),
        ("dhpreact = 0.5 * dh", Kind.CONSTANT_FACTOR, "dhpreact = (1 - smoothing) * dh"),
        ("dhpreact = 1 * dh", Kind.SUM_FOR_MEAN, "dhpreact = (1 / n) * dh"),
        ("dbnvar = (bnvar + 1e-3) ** -0.5", Kind.MISSING_EPS, "dbnvar = (bnvar + (1e-05)) ** -0.5"),
        ("dbnvar = bnvar ** 0.5", Kind.POWER_RULE, "dbnvar = bnvar ** (-1.5)"),
        ("dhpreact = dh.sum(1)", Kind.WRONG_AXIS, "dhpreact = dh.sum((0))"),
        ("dC[Xb[0]] += dh", Kind.WRONG_INDEX, "dC[Xb[tmp]] += dh"),
        (
            "for row in range(n):\n    dh[row] = h * W2",
            Kind.WRONG_INDEX,
            "for row in range(n):\n    dh[row] = h[row] * W2",
        ),
        ("dx = bnvar**-1.5 + 1e-5", Kind.BRACKETS, "dx = (bnvar + 1e-5) ** (-1.5)"),
        ("dx = dh.copy()", Kind.WRONG_NAME, "dx = dh.clone()"),
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
        ("dbnvar = bnvar ** 0.5", Kind.POWER_RULE, "dbnvar = bnvar ** (-0.5)"),
        ("dbnvar = bnvar ** 2", Kind.POWER_RULE, "dbnvar = bnvar ** (-2)"),
        (
            "for i in range(1, n):\n    dC[i] = dh[i]",
            Kind.PARTIAL_ROWS,
            "for i in range((0), n):\n    dC[i] = dh[i]",
        ),
        ("dC[1:] += dh", Kind.PARTIAL_ROWS, "dC[(0):] += dh"),
        ("dhpreact = dh * 2 ** -1", Kind.CONSTANT_FACTOR, "dhpreact = dh * 2 ** -(2)"),
        ("db = dh.mean(0)", Kind.MEAN_FOR_SUM, "db = dh.sum(0)"),
        ("db = torch.mean(dh, 0)", Kind.MEAN_FOR_SUM, "db = dh.sum(0)"),
        ("db = dh.sum(0)", Kind.LOST_KEEPDIM, "db = dh.sum(0, keepdim=True)"),
        ("db = dh.sum(dim=0)", Kind.LOST_KEEPDIM, "db = dh.sum(dim=0, keepdim=True)"),
        ("dx = torch.flip(dh, (0,))", Kind.PERMUTED, "dx = dh"),
        ("dx = torch.pow(h, 2)", Kind.POWER_RULE, "dx = 2 * h ** (2 - 1)"),
        ("dx = dh.expand(-1, vocab_size)", Kind.WRONG_SHAPE, "dx = dh"),
        ("dx = (a + dh) * W2", Kind.BRACKETS, "dx = a * W2 + dh"),
        ("db = torch.sum(dh, 0)", Kind.LOST_KEEPDIM, "db = dh.sum(0, keepdim=True)"),
        ("db = dh.sum()", Kind.WRONG_AXIS, "db = dh.sum(0, keepdim=True)"),
        ("db = torch.sum(dh)", Kind.WRONG_AXIS, "db = dh.sum(0)"),
        ("db = dh.sum(0)", Kind.WRONG_SHAPE, "db = dh"),
        ("db = (dh * h).sum(0)", Kind.WRONG_SHAPE, "db = (dh * h)"),
        ("db = torch.ones_like(dh)", Kind.WRONG_NAME, "db = torch.zeros_like(dh)"),
        ("db = torch.zeros_like(dh)", Kind.MISSING_BRANCH, "db = dh"),
        ("dC.index_add(0, Xb, dh)", Kind.STATEMENT, "dC.index_add_(0, Xb, dh)"),
        ("dC.copy_(dh)", Kind.OVERWRITTEN_BRANCH, "dC.add_(dh)"),
        ("db = F.log_softmax(logits, 1)", Kind.WRONG_NAME, "db = logits.softmax(1)"),
        ("db = logits.argmin(1)", Kind.MISROUTED_MAX, "db = logits.argmax(1)"),
        ("db = logits.exp()", Kind.MISSING_FACTOR, "db = logits.softmax(1)"),
        ("db = F.one_hot(Yb)", Kind.ONLY_THIS_BATCH, "db = F.one_hot(Yb, vocab_size)"),
        ("db = dh.flip(0)", Kind.PERMUTED, "db = dh"),
        ("db = dh.permute(1, 0).reshape(2, 3)", Kind.PERMUTED, "db = dh.reshape(2, 3)"),
        ("db = dh.tanh()", Kind.WRONG_ACTIVATION_POINT, "db = dh"),
        ("db = torch.matmul(h, dh)", Kind.WRONG_ORDER, "db = torch.matmul(dh, h)"),
        ("dh = dlogits @ W2.T", Kind.TRANSPOSED, "dh = dlogits @ W2"),
        ("dh = dlogits @ W2.t", Kind.TRANSPOSED, "dh = dlogits @ W2.t()"),
        ("dh = Xb[0]", Kind.WRONG_NAME, "dh = Yb"),
        ("dh = h[:, Yb]", Kind.WRONG_INDEX, "dh = h[range(n), Yb]"),
        ("dh[:, Yb] = 1", Kind.WRONG_INDEX, "dh[range(n), Yb] = 1"),
        ("dh[:, Yb] = 1", Kind.WRONG_INDEX, "dh[Yb, :] = 1"),
        ("dh = h[Yb, range(n)]", Kind.WRONG_INDEX, "dh = h[range(n), Yb]"),
        ("dh = h[(Yb, range(n))]", Kind.WRONG_INDEX, "dh = h[(range(n), Yb)]"),
        ("dhpreact = h * dlogits", Kind.WRONG_UPSTREAM, "dhpreact = h * dh"),
        ("dhpreact = h * dlogits", Kind.WRONG_ACTIVATION_POINT, "dhpreact = hpreact * dlogits"),
        (
            "dhpreact = (1 - hpreact**2) * dh",
            Kind.WRONG_ACTIVATION_POINT,
            "dhpreact = (1 - h**2) * dh",
        ),
        ("dhpreact = W2 * h", Kind.MISSING_D, "dhpreact = W2 * dh"),
        ("dhpreact = dh * tmp", Kind.WRONG_NAME, "dhpreact = dh * h"),
        ("dhpreact = dhpreact * tmp", Kind.WRONG_UPSTREAM, "dhpreact = dh * tmp"),
        ("dhpreact = dh / n", Kind.BESSEL, "dhpreact = dh / (n - 1)"),
        ("dhpreact = dh / n", Kind.CONSTANT_FACTOR, "dhpreact = dh / vocab_size"),
        ("dhpreact = dh / n", Kind.CONSTANT_FACTOR, "dhpreact = dh / 1"),
        ("dhpreact[range(n)] = dh", Kind.PARTIAL_ROWS, "dhpreact[range(vocab_size)] = dh"),
        ("dC = C", Kind.ALIASED, "dC = torch.zeros_like(C)"),
        (
            "dC = C.index_add_(0, Xb, dh)",
            Kind.WRONG_NAME,
            "dC = torch.zeros_like(C).index_add_(0, Xb, dh)",
        ),
        ("dx = h", Kind.WRONG_UPSTREAM, "dx = (h * dh)"),
        ("dx = h", Kind.MISSING_BRANCH, "dx = (h - F.one_hot(Yb, vocab_size))"),
        ("dC[Yb[i]] += dh", Kind.WRONG_INDEX, "dC[Xb[i, tmp]] += dh"),
        ("dx = dh", Kind.MISSING_FACTOR, "dx = (dh * hpreact)"),
        ("dx = dh", Kind.MISSING_FACTOR, "dx = (dh * tmp)"),
        ("dx = dh", Kind.MISSING_FACTOR, "dx = (dh * slope_of_h_)"),
        ("dx = dh", Kind.CONSTANT_FACTOR, "dx = (dh / n)"),
        ("dx = dh * W2", Kind.EXTRA_FACTOR, "dx = dh * 1.0"),
        ("dx = h * dh", Kind.MISSING_BRANCH, "dx = ((h * dh) - hpreact)"),
        ("dx = bnvar ** 2", Kind.MISSING_EPS, "dx = (bnvar + 1e-5) ** 2"),
        ("dx = W2 @ dh", Kind.TRANSPOSED, "dx = W2.mT @ dh"),
        ("dx = h * dh", Kind.TRANSPOSED, "dx = (h * dh).mT"),
        ("dx = h * dh", Kind.MISSING_SUM, "dx = (h * dh).sum(1, keepdim=True)"),
        ("dx = h * dh", Kind.POWER_RULE, "dx = (h ** 2) * dh"),
        ("dx = dh", Kind.MISSING_BRANCH, "dx = (dh + torch.softmax(hpreact, 1))"),
        ("dC[: i + 1] = dh", Kind.WRONG_INDEX, "dC[: (i + 1) * n] = dh"),
        ("dC[i:] = dh", Kind.WRONG_INDEX, "dC[i * vocab_size:] = dh"),
        ("dC[0] = b", Kind.OVERWRITTEN_BRANCH, "dC[0] += b"),
        ("dx = b", Kind.OVERWRITTEN_BRANCH, "dx += b"),
        ("dx = (b +\n      c)", Kind.OVERWRITTEN_BRANCH, "dx += (b +\n      c)"),
        ("dx += b", Kind.SIGN, "dx -= b"),
        ("dx -= b", Kind.SIGN, "dx += b"),
        ("dx *= b", Kind.MULTIPLIED_BRANCHES, "dx += b"),
        ("dx[0] *= b", Kind.OPERATOR, "dx[0] += b"),
        ("dx + b", Kind.STATEMENT, "dx = dx + b"),
        ("dx.add(b, alpha=2)", Kind.STATEMENT, "dx.add_(b, alpha=2)"),
        ("dx = dh.sum(-2)", Kind.WRONG_AXIS, "dx = dh.sum(-1)"),
        ("dx = dh.sum(-2)", Kind.WRONG_AXIS, "dx = dh.sum(2)"),
        ("dx = dh * (hpreact == dh)", Kind.WRONG_NAME, "dx = dh * (hpreact == h)"),
        ("dx = dh / (vocab_size - 1)", Kind.CONSTANT_FACTOR, "dx = dh / vocab_size"),
        ("dx = smoothing * dh", Kind.CONSTANT_FACTOR, "dx = (1 - smoothing) * dh"),
        ("dx = dh * torch.log(h)", Kind.WRONG_NAME, "dx = dh * slope_of_h_"),
        ("dx = -dh.gather(1, Yb)", Kind.PARTIAL_ROWS, "dx = -dh.sum(1, keepdim=True)"),
        ("dx = dh - Yb.unsqueeze(1)", Kind.WRONG_NAME, "dx = dh - F.one_hot(Yb, vocab_size)"),
        (
            "dx = dh.softmax(1) / F.softmax(h / n, 1)",
            Kind.BRACKETS,
            "dx = dh.softmax(1) / (F.softmax(h, 1) / n)",
        ),
        ("dx = (a + b + c) * d", Kind.BRACKETS, "dx = a * d + b + c"),
        ("dx = torch.sum(a, 0) * torch.sum(b, 0)", Kind.WRONG_ORDER, "dx = (a * b).sum(0)"),
        ("dx = torch.outer(a.sum(0), b.sum(0))", Kind.WRONG_ORDER, "dx = a.T @ b"),
        ("dx = (dh * h**2).sum(0)", Kind.WRONG_ORDER, "dx = h * (dh * h).sum(0)"),
        ("dx = dh * h * (1 - h)", Kind.WRONG_NAME, "dx = dh * slope_of_h_"),
        ("dx = bnvar.std(0)", Kind.MISSING_EPS, "dx = (bnvar.var(0) + 1e-5).sqrt()"),
        ("dx = dh.sum(0)", Kind.MISSING_FACTOR, "dx = (dh * (h - hpreact)).sum(0)"),
        ("dx = (a @ b.T).T", Kind.OPERATOR, "dx = a * b"),
        ("dx = b - a * dh", Kind.BRACKETS, "dx = (b - a) * dh"),
        ("dx == b; dx = b <= c", Kind.OVERWRITTEN_BRANCH, "         dx += b <= c"),
        ("for tmp in dh:\n    dx += tmp", Kind.WRONG_NAME, "for tmp in dh:\n    dx += h"),
        ("dx -= h", Kind.EXTRA_TERM, "pass"),
        ("dx[range(n), Yb] - 1", Kind.STATEMENT, "dx[range(n), Yb] = dx[range(n), Yb] - 1"),
        ("dx = dh * tmp**2", Kind.BRACKETS, "dx = dh * (1 - h**2)"),
        ("dx[:, Yb[i]] = 1", Kind.WRONG_INDEX, "dx[i, Yb[i]] = 1"),
        ("dx = dh * h[i]", Kind.WRONG_INDEX, "dx = dh * h[:, 0]"),
        ("dx[i, Yb[i]] += dh[i]", Kind.PARTIAL_ROWS, "dx[i] += dh[i]"),
        ("dx[:, Yb] = h[:, Yb] - 1", Kind.WRONG_INDEX, "dx[range(n), Yb] = h[range(n), Yb] - 1"),
        ("dx = torch.where(h > 0, dh, 0.0)", Kind.WRONG_NAME, "dx = dh * slope_of_h_"),
        ("dx = dh * (h > 0).float()", Kind.WRONG_NAME, "dx = dh * slope_of_h_"),
        ("dx = dh.std(0)", Kind.WRONG_NAME, "dx = dh.sum(0)"),
        ("dx = h.view(n, -1).T", Kind.PERMUTED, "dx = h.view(-1, n)"),
        ("dx = h.view(n, 2, 3).permute(1, 0, 2)", Kind.PERMUTED, "dx = h.view(2, n, 3)"),
        (
            "dx = torch.einsum('ij,ij->i', h, dh)[:, None]",
            Kind.WRONG_AXIS,
            "dx = torch.einsum('ij,ij->i'[:-1] + 'ij,ij->i'[1], h, dh)[None]",
        ),
        (
            "dx = torch.einsum('ij->i', dh)",
            Kind.LOST_KEEPDIM,
            "dx = torch.einsum('ij->i', dh)[:, None]",
        ),
        ("dx = a + smoothing * b", Kind.MISSING_FACTOR, "dx = (1 - smoothing) * a + smoothing * b"),
        ("tmp = 1 - smoothing", Kind.MISSING_BRANCH, "tmp = 1 - smoothing + smoothing / n"),
    ],
)
def test_what_a_line_may_be_meant_as(source: str, kind: Kind, text: str) -> None:
    found = [one.kind for one in all_edits(source) if as_read(one.text) == as_read(text)]
    assert kind in found


@pytest.mark.parametrize(
    ("source", "text"),
    [
        # a function is not a value
        ("db = torch.tanh(h)", "db = torch"),
        ("dh = W2.t()", "dh = W2()"),
        ("dhpreact = tanh(1)", "dhpreact = h(1)"),
        # what changes no value is not taken away
        ("db = h.view(3, 2)", "db = h"),
        ("db = h.clone()", "db = h"),
        # Python has no line like it
        ("db = dh.sum()", "db = dh.sum(, keepdim=True)"),
        # the same again
        ("dh = h + W2", "dh = (W2 + h)"),
        ("dh = h * W2", "dh = (W2 * h)"),
        ("dh = h * W2", "dh = (h * W2)"),
        # signs of no derivative
        ("dh = h // 2", "dh = h"),
        ("dh = h & mask", "dh = h"),
        ("dh = +h", "dh = h"),
        # a gradient is not added to itself, what is not a start is not zeroed
        ("dhpreact = h", "dhpreact = (h + dhpreact)"),
        ("dhpreact = h * h", "dhpreact = torch.zeros_like(h) * h"),
        # no tensor, nothing missing
        ("dx = dh / n", "dx = dh / (n * dh)"),
        ("dx = dh[Yb]", "dx = dh[(Yb * dh)]"),
        ("dx = dh.view(h.shape)", "dx = dh.view((h.shape * dh))"),
        ("dh = f((a, b))", "dh = f((b, a))"),
        ("dhpreact = f(b'ij,jk')", "dhpreact = f(b'ji,jk')"),
        (
            "for row in range(n):\n    dh[row] = h[row]",
            "for row in range(n) * dh:\n    dh[row] = h[row]",
        ),
        ("for tmp in range(n):\n    dh[tmp] = h[tmp]", "for tmp in range(n):\n    dh[tmp] = h[dh]"),
        (
            "for row in range(n):\n    dh[row] = h[row]",
            "for row in range * n:\n    dh[row] = h[row]",
        ),
        ("dx = dh.sum(0) / h.shape[0]", "dx = dh.sum(0) / (h.shape[0] * dh)"),
        ("dx = dh / len(h)", "dx = dh / len(h ** 2)"),
        # zeros, whatever they are multiplied by; a result that is thrown away
        ("dx = torch.zeros_like(h)", "dx = torch.zeros_like(h) * dh"),
        ("dx.add_(dh)", "dx.add_(dh) * dh"),
        # which side is larger shows no exponent, and no factor
        ("dx = dh * (h > 0.3)", "dx = dh * (h ** 2 > 0.3)"),
        ("dx = dh * (h > 0.3)", "dx = dh * (h * W2 > 0.3)"),
        # nothing is in it yet, no loop counts, it changes its tensor already
        ("db = h", "db += h"),
        ("dh = h * W2", "dh = h[row] * W2"),
        ("dh.add_(h)", "dh.add__(h)"),
    ],
)
def test_what_a_line_is_not_meant_as(source: str, text: str) -> None:
    assert as_read(text) not in {as_read(one.text) for one in all_edits(source)}


def test_what_an_equation_makes_is_doubted_before_what_it_reads() -> None:
    edits = all_edits("dx = torch.einsum('ij,ik->ij', h, dh)")
    kinds = [one.kind for one in edits if one.message.startswith("The letters")]
    assert kinds.index(Kind.WRONG_AXIS) < kinds.index(Kind.WRONG_INDEX)


def test_no_entry_stands_twice() -> None:
    entries = [(ast.dump(rule.pattern), rule.new, rule.places) for rule in RULES]
    assert len({*entries}) == len(entries)


def test_every_entry_of_the_table_is_for_some_node() -> None:
    assert len(RULES) > 200
    methods = ["exp", "sum", "view", "index_add_", "copy_", "permute", "tril", "zeros", "mm"]
    for rule in RULES:
        sign = sign_of(rule.pattern)
        signs = methods if sign in METHODS else [ast.Mult if sign in ANY_SIGN else sign]
        sort: type = type(rule.pattern)
        places = rule.places or frozenset({VALUE})
        assert any(rule in rules(sort, one, places, rule.likelihood) for one in signs)


def test_a_rule_is_not_tried_where_its_sign_is_another() -> None:
    value = frozenset({VALUE})
    minus = next(r for r in RULES if r.kind is Kind.SIGN and r.new == "$that - $this")
    assert minus in rules(ast.BinOp, ast.Sub, value, minus.likelihood)
    assert minus not in rules(ast.BinOp, ast.Add, value, minus.likelihood)
    assert minus not in rules(ast.Call, "sum", value, minus.likelihood)
    any_sign = next(r for r in RULES if r.new == "($this | $that) ^ $other")
    assert any_sign in rules(ast.BinOp, ast.Div, value, any_sign.likelihood)
    assert any_sign not in rules(ast.BinOp, ast.Pow, value, any_sign.likelihood)
    assert {rule.likelihood for rule in RULES} == {*range(LAST + 1)}


def test_a_rule_is_tried_in_its_own_places_only() -> None:
    of_axes = next(r for r in RULES if r.places == {AXIS})
    sort: type = type(of_axes.pattern)
    sign = sign_of(of_axes.pattern)
    asked = {place: rules(sort, sign, frozenset({place}), of_axes.likelihood) for place in PLACES}
    assert [place for place, found in asked.items() if of_axes in found] == [AXIS]
    anywhere = next(r for r in RULES if not r.places and isinstance(r.pattern, ast.Name))
    asked = {
        place: rules(ast.Name, "", frozenset({place}), anywhere.likelihood) for place in PLACES
    }
    assert [place for place, found in asked.items() if anywhere not in found] == [CALLEE]


def test_an_entry_names_only_what_its_pattern_has() -> None:
    for rule in RULES:
        nodes = (node for node in ast.walk(rule.pattern) if isinstance(node, ast.Name))
        names = {node.id.removeprefix(NAMED) for node in nodes if node.id.startswith(NAMED)}
        assert {*rule.marks} - {"op"} <= names
        assert {*re.findall(r"\$(\w+)", rule.new)} <= names


def test_few_rules_stay_for_a_teachers_sake() -> None:
    assert sum(rule.is_taught for rule in RULES) <= 30
    for rule in RULES:
        assert rule.says == TWICE or rule.says.endswith(".")
        assert len(rule.says) <= 80
