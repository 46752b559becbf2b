"""Each forward line's backward, as text: right by autograd, and as a good solution reads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from corpus.readers.lecture_course import ATOMIC
from grader.authoring.backward.derive import Derived, derive
from grader.program.compare import agrees
from grader.program.forward_program import ForwardProgram, is_differentiable
from grader.program.references import Reference, References, prepare
from grader.user_error import UserError
from tests.helpers.written_programs import SCOPE, references_of, write_program


def lines_of(references: References, tensor: str) -> str:
    return "\n".join(derive(references, tensor).lines)


def values_of(reference: Reference) -> dict[str, Any]:
    return {**SCOPE, **reference.instance.sizes, **reference.instance.values}


def run(lines: str, names: dict[str, Any], gradient: str) -> Tensor:
    exec(lines, names)
    value = names[gradient]
    assert isinstance(value, Tensor)
    return value


def assert_local(references: References, tensor: str) -> None:
    """The lines hand random upstreams on as autograd does, on each hidden instance."""
    readers = frozenset(references.program.readers(tensor))
    lines = lines_of(references, tensor)
    for reference, due in zip(
        references.hidden, references.local_vjps(tensor, readers), strict=True
    ):
        drawn = reference.cotangents
        upstreams = {f"d{reader}": drawn[reader] for reader in readers if reader in drawn}
        value = run(lines, {**values_of(reference), **upstreams}, f"d{tensor}")
        assert agrees(value, due, floor=1.0, tolerance=1e-9), lines


def assert_all_local(program: ForwardProgram) -> None:
    references = references_of(program)
    values = references.hidden[0].instance.values
    tensors = [name for name in values if is_differentiable(values[name])]
    for tensor in tensors:
        if tensor != program.loss:
            assert_local(references, tensor)


# --- the lecture's exercise

SOLUTION = """\
dlogprobs = torch.zeros_like(logprobs)
dlogprobs[range(n), Yb] = -1 / n
dprobs = dlogprobs / probs
dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)
dcounts_sum = -dcounts_sum_inv / counts_sum**2
dcounts = counts_sum_inv * dprobs + dcounts_sum
dnorm_logits = counts * dcounts
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
largest = logits.argmax(1, keepdim=True)
dlogits = dnorm_logits + torch.zeros_like(logits).scatter(1, largest, dlogit_maxes)
dh = dlogits @ W2.T
dW2 = h.T @ dlogits
db2 = dlogits.sum(0)
dhpreact = (1 - h**2) * dh
dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
dbnraw = bngain * dhpreact
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
dbndiff2 = dbnvar.expand_as(bndiff2) / (n - 1)
dbndiff = bnvar_inv * dbnraw + 2 * bndiff * dbndiff2
dbnmeani = -dbndiff.sum(0, keepdim=True)
dhprebn = dbndiff + dbnmeani / n
dembcat = dhprebn @ W1.T
dW1 = embcat.T @ dhprebn
db1 = dhprebn.sum(0)
demb = dembcat.reshape(emb.shape)
dC = torch.zeros_like(C).index_put((Xb,), demb, accumulate=True)"""


def test_the_lectures_exercise_reads_as_its_solution() -> None:
    references = prepare(ATOMIC)
    lines = [lines_of(references, gradient[1:]) for gradient in ATOMIC.gradients]
    assert "\n".join(lines) == SOLUTION


# --- one line at a time

SIZES = "n = x.shape[0]\nm = x.shape[1]\n"


@pytest.mark.parametrize(
    ("expression", "tensor", "expected"),
    [
        ("x + row", "x", "dx = dout"),
        (
            "x * torch.ones(x.shape, dtype=x.dtype).tril()",
            "x",
            "tril = torch.ones(x.shape, dtype=x.dtype).tril()\ndx = tril * dout",
        ),
        ("y - torch.ones(x.size(0), 1, dtype=x.dtype) * x.detach() + 2 * x", "x", "dx = 2 * dout"),
        ("x + row", "row", "drow = dout.sum(0, keepdim=True)"),
        ("x - 2 * y", "y", "dy = -2 * dout"),
        ("x - (y - row)", "row", "drow = dout.sum(0, keepdim=True)"),
        ("x * vector", "vector", "dvector = (x * dout).sum(0)"),
        ("x * x", "x", "dx = 2 * x * dout"),
        ("3.0 / (1 + y**2)", "y", "dy = -6 * y * dout / (1 + y**2) ** 2"),
        ("x / column", "column", "dcolumn = -(x * dout / column**2).sum(1, keepdim=True)"),
        ("x / y / 2", "x", "dx = dout / (2 * y)"),
        ("x / 0.7", "x", "dx = dout / 0.7"),
        ("0.3 * x / 3", "x", "dx = 0.1 * dout"),
        ("x / 3 * 2", "x", "dx = 2 * dout / 3"),
        ("2.0 * x", "x", "dx = 2 * dout"),
        ("x * row + vector", "x", "dx = row * dout"),
        ("(x**2).sum(0) / 2", "x", "dx = x * dout"),
        ("(x**2 + 1) ** -0.5", "x", "dx = -x * (x**2 + 1) ** -1.5 * dout"),
        ("x**-1", "x", "dx = -dout / x**2"),
        ("x**n", "x", "dx = n * x ** (n - 1) * dout"),
        ("x @ W", "W", "dW = x.T @ dout"),
        ("x @ square.t()", "x", "dx = dout @ square"),
        ("x @ square.t()", "square", "dsquare = dout.T @ x"),
        ("z @ W", "W", "dW = (z.mT @ dout).sum(0)"),
        ("z @ z.transpose(-2, -1)", "z", "dz = dout @ z + dout.mT @ z"),
        ("x @ y.T / math.sqrt(m)", "y", "dy = dout.T @ x / math.sqrt(m)"),
        ("x @ vector", "x", "dx = torch.outer(dout, vector)"),
        ("x @ vector", "vector", "dvector = x.T @ dout"),
        ("vector @ vector", "vector", "dvector = 2 * vector * dout"),
        ("F.linear(x, square, vector)", "vector", "dvector = dout.sum(0)"),
        ("x.sum()", "x", "dx = dout.expand_as(x)"),
        ("torch.sum(x, 1)", "x", "dx = dout.unsqueeze(1).expand_as(x)"),
        ("x.mean(0)", "x", "dx = dout.expand_as(x) / n"),
        (
            "x.mean(axis=1, keepdims=True) * y",
            "y",
            "mean = x.mean(axis=1, keepdims=True)\ndy = mean * dout",
        ),
        ("(x + row).sum(0)", "row", "drow = n * dout.expand_as(row)"),
        ("x.var(0)", "x", "dx = 2 * (x - x.mean(0, keepdim=True)) * dout / (n - 1)"),
        ("x.std(0)", "x", "dx = (x - x.mean(0, keepdim=True)) * dout / ((n - 1) * out)"),
        ("x.exp()", "x", "dx = out * dout"),
        ("2 * torch.exp(x)", "x", "dx = out * dout"),
        ("x.log()", "x", "dx = dout / x"),
        ("torch.tanh(x)", "x", "dx = (1 - out**2) * dout"),
        ("torch.sigmoid(x)", "x", "dx = out * (1 - out) * dout"),
        ("F.relu(x)", "x", "dx = (out > 0) * dout"),
        ("(x * x + 1).sqrt()", "x", "dx = x * dout / out"),
        ("x.T", "x", "dx = dout.T"),
        ("z.transpose(0, 1)", "z", "dz = dout.transpose(0, 1)"),
        ("z.permute(2, 0, 1)", "z", "dz = dout.permute((1, 2, 0))"),
        ("x.view(-1)", "x", "dx = dout.reshape(x.shape)"),
        ("x[:, None]", "x", "dx = dout.reshape(x.shape)"),
        ("row.expand(n, -1)", "row", "drow = dout.sum(0, keepdim=True)"),
        ("x.softmax(1)", "x", "dx = out * (dout - (out * dout).sum(1, keepdim=True))"),
        ("x.log_softmax(1)", "x", "dx = dout - out.exp() * dout.sum(1, keepdim=True)"),
        ("x.masked_fill(y > 0, 0.5)", "x", "dx = dout.masked_fill(y > 0, 0)"),
        ("torch.where(y > 0, 0.5, x)", "x", "dx = torch.where(y > 0, 0, dout)"),
        ("x[:, 1:]", "x", "dx = torch.zeros_like(x)\ndx[:, 1:] = dout"),
        ("2 * x[y > 0]", "x", "dx = torch.zeros_like(x)\ndx[y > 0] = 2 * dout"),
        (
            "x[range(n), labels]",
            "x",
            "dx = torch.zeros_like(x)\ndx[range(n), labels] = dout",
        ),
        (
            "table[index]",
            "table",
            "dtable = torch.zeros_like(table).index_add(0, index, dout)",
        ),
        (
            "x.max(1).values",
            "x",
            "largest = x.argmax(1, keepdim=True)\n"
            "dx = torch.zeros_like(x).scatter(1, largest, dout.unsqueeze(1))",
        ),
        (
            "x[0] + x[1]",
            "x",
            "dx = torch.zeros_like(x)\ndx[0] += dout\ndx[1] += dout",
        ),
        (
            "0.5 * F.cross_entropy(x, labels)",
            "x",
            "dx = 0.5 * (x.softmax(1) - F.one_hot(labels, m)) * dout / n",
        ),
        ("y - x.clamp(min=0)", "x", "dx = -dout * (x >= 0)"),
        (
            "y - x.amax(1, keepdim=True)",
            "x",
            "amax = x.amax(1, keepdim=True)\nlargest = (x == amax).type_as(x)\n"
            "dx = -largest * dout.sum(1, keepdim=True) / largest.sum(1, keepdim=True)",
        ),
        ("(z @ W).flatten(1)", "W", "dW = (z.mT @ dout.reshape((n, t, k))).sum(0)"),
        ("x.detach() * y", "y", "dy = x.detach() * dout"),
        ("y.sum() * x.shape[0]", "x", "dx = torch.zeros_like(x)"),
    ],
)
def test_the_text_of_a_line(expression: str, tensor: str, expected: str) -> None:
    program = write_program(f"{SIZES}out = {expression}\nloss = (out * out).sum()")
    assert lines_of(references_of(program), tensor) == expected


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ("x.sum()", "dx = torch.ones_like(x)"),
        ("x.mean()", "dx = torch.ones_like(x) / (n * m)"),
        ("x.clamp(min=0).sum()", "dx = (x >= 0).type_as(x)"),
        ("-x.clamp(min=0).sum()", "dx = (-1 * (x >= 0)).type_as(x)"),
        ("-(x * y).mean()", "dx = -y / (n * m)"),
        ("F.mse_loss(x, y)", "dx = 2 * (x - y) / (n * m)"),
    ],
)
def test_at_the_loss_no_gradient_arrives(loss: str, expected: str) -> None:
    assert lines_of(references_of(write_program(f"loss = {loss}")), "x") == expected


def test_later_readers_come_first_and_what_was_computed_has_its_name() -> None:
    program = write_program(
        "mean = x.mean(0, keepdim=True)\n"
        "var = x.var(0, keepdim=True)\n"
        "loss = (mean * var).sum() - (x * y).sum()"
    )
    expected = "dx = 2 * (x - mean) * dvar / (n - 1) + dmean / n - y"
    assert lines_of(references_of(program), "x") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "first = torch.tanh(x * row.mean() * y)\nsecond = (x + 1) @ square @ square.T\n"
            "out = x.log_softmax(1)\nloss = first.sum() + second.sum() + out.sum()",
            "through_out = dout - out.exp() * dout.sum(1, keepdim=True)\n"
            "through_first = row.mean() * y * (1 - first**2) * dfirst\n"
            "dx = through_out + dsecond @ square @ square.T + through_first",
        ),
        (
            "out = torch.tanh(torch.tanh(x @ W) @ W.T)\nloss = out.sum()",
            "dproduct = (1 - out**2) * dout\ntanh = torch.tanh(x @ W)\n"
            "dproduct2 = (1 - tanh**2) * (dproduct @ W)\ndx = dproduct2 @ W.T",
        ),
    ],
)
def test_a_long_line_becomes_several(text: str, expected: str) -> None:
    assert lines_of(references_of(write_program(text)), "x") == expected


FORMS = """\
x.square() + (x**2 + 1).rsqrt() + (y**2 + 1).reciprocal() + y.abs() + x.clamp(-1, 1)
(x**2 + 1).log() + (y**2).log1p() + y.expm1() + x.sin() * y.cos() + F.silu(x) + F.softplus(y)
x.sum(dim=1, keepdim=True) * y + x.sum((0, 1)) * x.sum() * y.mean()
torch.sum(x, 1) + y.mean(-1)
z.mean((0, 2)) + z.sum(-1).mean(0)
x.var(1, False, True) * y + x.var(0) * vector + x.var() * x.var(-1, correction=0).sum()
x.std(1, keepdim=True) + torch.std(y, 0)
(x - x.mean(0)) / x.std(0)
torch.matmul(x, W) + y.mm(W)
(x @ W) @ W.T
vector @ W
vector @ row.T
x @ z.transpose(1, 2)
z.transpose(0, 1).transpose(-1, -2)
(z @ W).transpose(1, 2) @ (z @ W)
F.linear(z, square).sum(1) + F.linear(y, square, vector)
F.softmax(x, dim=-1) @ W
x.logsumexp(1, keepdim=True) + torch.logsumexp(y, 0)
F.cross_entropy(x * row, labels, label_smoothing=0.2)
x.max(1, keepdim=True).values + torch.max(y, 1, keepdim=True)[0] + x.max() + x.min()
x.min(0).values + torch.relu(y).max(1)[0].sum()
(z[:, None] @ z[:, None].mT).softmax(-1).transpose(1, 2).flatten(2) @ z.permute(0, 1, 2)
x.amax(1) + y.amin(0).sum()
table[index][:, 0]
table[labels % 2, index % 3]
F.embedding(index[:, None], table) * 2
-x.log_softmax(1)[range(x.shape[0]), labels].mean()
x[0] + x[-1] * y[::2].sum(0) + x[..., :2].sum()
x.gather(1, labels[:, None]) + y.index_select(1, labels % 2).sum()
z[:, :, index % 3] * 2
x[None] * z.sum(1)[:, None].transpose(0, 1)
z.flatten(1).unflatten(1, (z.shape[1], -1)) + z
column.squeeze(1) * x.sum(1)
column.expand_as(x) + torch.broadcast_to(vector, x.shape) * x
torch.where(x > 0, x * y, row).cumsum(0)
x.masked_fill(y > y.mean(1, keepdim=True), float("-inf")).softmax(1)
x / x.shape[1] ** 0.5 + y * x.numel()
"""


@pytest.mark.parametrize("expression", FORMS.splitlines())
def test_every_form_is_differentiated_as_autograd_does(expression: str) -> None:
    assert_all_local(write_program(f"out = {expression}\nloss = (out * out.sin()).sum()"))


# --- random programs

Shape = tuple[str, ...]

UNARY = (
    *("torch.tanh({a})", "{a}.sigmoid()", "({a} ** 2 + 1) ** -0.5", "(0.3 * {a}).sin()"),
    *("(-({a} ** 2)).exp()", "({a} * {a} + 0.5).log()", "F.softplus({a})", "-{a} / 3", "{a} - 1"),
    *("({a}**2 + 1).sqrt()", "{a}.cos()", "2 * {a}", "torch.where({a} > 0, {a}, 0.1)"),
)
BINARY = ("{a} + {b}", "{a} - 0.5 * {b}", "{a} * {b}", "{a} / ({b} ** 2 + 1)")
OF_MATRICES = (
    ("{a}.sum(0, keepdim=True)", (0,)),
    ("{a}.mean(0, keepdim=True)", (0,)),
    ("{a}.sum(-1, keepdim=True)", (1,)),
    ("{a}.mean(1, keepdim=True)", (1,)),
    ("{a}.logsumexp(1, keepdim=True)", (1,)),
    ("{a}.amax(0, keepdim=True)", (0,)),
    ("{a}.var(0, unbiased=False, keepdim=True)", (0,)),
    ("{a}.var(1, keepdim=True)", (1,)),
    ("{a}.softmax(1)", ()),
    ("F.log_softmax({a}, dim=0)", ()),
    ("{a}.flatten().view_as({a})", ()),
)


def broadcast(one: Shape, other: Shape) -> Shape:
    return tuple(b if a == "1" else a for a, b in zip(one, other, strict=True))


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A straight-line program over two-dimensional tensors."""
    shapes: dict[str, Shape] = {
        "x": ("n", "m"),
        "y": ("n", "m"),
        "row": ("1", "m"),
        "column": ("n", "1"),
        "square": ("m", "m"),
    }
    lines = []
    for number in range(draw(st.integers(2, 6))):
        names = sorted(shapes)
        a = draw(st.sampled_from(names))
        sort = draw(st.sampled_from(["unary", "binary", "matrix", "product", "transpose"]))
        name, own = f"s{number}", shapes[a]
        fitting = [b for b in names if fits(own, shapes[b])]
        right = [b for b in names if shapes[b][0] == own[1] and own[1] != "1"]
        if sort == "binary" and fitting:
            b = draw(st.sampled_from(fitting))
            expression = draw(st.sampled_from(BINARY)).format(a=a, b=b)
            own = broadcast(own, shapes[b])
        elif sort == "matrix" and "1" not in own:
            text, reduced = draw(st.sampled_from(OF_MATRICES))
            expression = text.format(a=a)
            own = tuple("1" if axis in reduced else length for axis, length in enumerate(own))
        elif sort == "product" and right:
            b = draw(st.sampled_from(right))
            # Divided, for otherwise long chains of products outgrow float64's digits.
            expression = f"0.2 * {a} @ {b}"
            own = (own[0], shapes[b][1])
        elif sort == "transpose":
            expression, own = f"{a}.T * 1.5", own[::-1]
        else:
            expression = draw(st.sampled_from(UNARY)).format(a=a)
        lines.append(f"{name} = {expression}")
        shapes[name] = own
    last = [line.split(" = ")[0] for line in lines[-2:]]
    lines.append("loss = " + " + ".join(f"(0.1 * {name}).tanh().mean()" for name in last))
    return "\n".join(lines)


def fits(one: Shape, other: Shape) -> bool:
    return all(a == b or "1" in (a, b) for a, b in zip(one, other, strict=True))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=programs())
@pytest.mark.slow
def test_random_programs_are_differentiated_as_autograd_does(text: str) -> None:
    names = ("x", "y", "row", "column", "square")
    shapes = ("n, m", "n, m", "1, m", "n, 1", "m, m")
    assert_all_local(write_program(text, dict(zip(names, shapes, strict=True))))


# --- what is not known


@pytest.mark.parametrize(
    ("expression", "operation"),
    [
        ("x.median(1).values", "x.median"),
        ("x.repeat(2, 1)", "x.repeat"),
        ("torch.cat([*x])", "torch.cat"),
        ("x if True else y", "x if True else y"),
        ("(lambda value: value * 2)(x)", "lambda value: value * 2"),
        ("torch.einsum('nm,mk,nk->n', x, W, x @ W)", "torch.einsum"),
        ("2**x", "2**x"),
        ("x[:, index % 3, None]", "x[:, index % 3, None]"),
        ("x.sum(0, dtype=torch.float64)", "x.sum"),
        ("F.cross_entropy(x, labels, ignore_index=1)", "F.cross_entropy"),
        ("F.cross_entropy(x[0], labels[0])", "F.cross_entropy"),
    ],
)
def test_an_unknown_operation_gets_a_sentence(expression: str, operation: str) -> None:
    program = write_program(f"out = {expression}\nloss = out.sum()")
    with pytest.raises(UserError) as raised:
        lines_of(references_of(program), "x")
    assert str(raised.value) == (
        f"There is no backward for `{operation}` in the line `out = {expression}`:"
        " dx has to be written by hand."
    )


def test_a_line_that_autograd_does_not_confirm_is_never_returned() -> None:
    """A function that is called like one of the table, and does something else."""
    program = write_program("out = tanh(x)\nloss = out.sum()")
    program = replace(program, scope={**SCOPE, "tanh": lambda x: torch.tanh(x) * 2})
    with pytest.raises(UserError, match=r"dx from `out = tanh\(x\)` differs from autograd"):
        lines_of(references_of(program), "x")


# --- rules


def test_the_rules_that_lead_from_each_reader_back_are_told() -> None:
    references = prepare(ATOMIC)
    rules = {name: derive(references, name).rules for name in ("bndiff", "b1", "bnmeani", "W2")}
    assert rules == {
        "bndiff": {"bnraw": ("product",), "bndiff2": ("power",)},
        "b1": {"hprebn": ("addition", "copied axis")},
        "bnmeani": {"bndiff": ("addition", "copied axis")},
        "W2": {"logits": ("addition", "matrix product")},
    }
    assert [*rules["bndiff"]] == ["bnraw", "bndiff2"]
    assert derive(references, "logits").rules["logit_maxes"] == ("router",)


def test_what_fills_places_is_a_lookup() -> None:
    program = write_program("first = x[:, 1:]\nout = x * y\nloss = first.sum() + out.sum()")
    assert derive(references_of(program), "x").rules == {"out": ("product",), "first": ("lookup",)}


def test_a_tensor_that_nothing_reads_follows_no_rule() -> None:
    derived = derive(references_of(write_program("loss = y.sum()")), "x")
    assert derived == Derived(("dx = torch.zeros_like(x)",), {})


def test_a_helper_takes_no_name_of_the_program() -> None:
    program = write_program(
        "product = x @ W\nlargest = x.sum()\n"
        "out = torch.tanh(x @ W * product) @ W.T\nlast = x.max(1).values\n"
        "loss = out.sum() + last.sum() + largest"
    )
    lines = derive(references_of(program), "x").lines
    assigned = [line.partition(" ")[0] for line in lines]
    assert {*assigned}.isdisjoint(
        {*program.names, *(f"d{name}" for name in program.names)} - {"dx"}
    )
    assert len({*assigned}) == len(assigned)


def test_where_autograd_has_no_numbers_either_that_is_said() -> None:
    program = write_program("out = (x - x).log() * 0\nloss = out.sum()")
    with pytest.raises(UserError, match="dx is NaN or infinite on a hidden instance"):
        lines_of(references_of(program), "x")
