"""The derived formula of a gradient has autograd's value, of whatever forward program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from grader.diagnosis.derivation import Derivation
from grader.diagnosis.formula.arithmetic import Branch, Upstream
from grader.diagnosis.formula.node import Environment, Formula, walk
from grader.diagnosis.formula.opaque import Python, PythonVjp
from grader.diagnosis.formula.text import describe
from grader.program.exercises import EXERCISES, Exercise
from grader.program.forward_program import ForwardProgram, is_differentiable
from grader.program.references import Reference, prepare
from tests.generality.programs import OTHER_EXERCISES
from tests.helpers.written_programs import references_of, write_program

ROUNDING = 1e-9
"""Largest difference from autograd, relative to the size of what a gradient is made of."""

ALL = (*EXERCISES, *OTHER_EXERCISES)


def environment_of(reference: Reference) -> Environment:
    values = {**reference.instance.sizes, **reference.instance.values}
    return Environment(values, reference.cotangents)


def assert_like_autograd(
    references: Iterable[Reference], tensor: str, given: frozenset[str], formula: Formula
) -> None:
    for reference in references:
        due = reference.local_vjp(tensor, given)
        value = environment_of(reference)(formula)
        assert isinstance(value, Tensor)
        assert value.shape == due.shape, describe(formula)
        # Some gradients are zero by structure: their rounding is relative to their parts.
        tolerance = ROUNDING * max(1.0, reference.magnitude(tensor))
        assert float((value - due).abs().max()) <= tolerance, f"{tensor}: {describe(formula)}"


def differentiable(program: ForwardProgram, reference: Reference) -> list[str]:
    """The tensors with a gradient that the loss depends on."""
    return [
        name
        for name in reference.cotangents
        if is_differentiable(reference.instance.values[name])
        and program.loss in program.descendants(name)
    ]


def check_program(program: ForwardProgram, seed: int = 5) -> list[Formula]:
    """Compare every tensor's formula with autograd, given its readers, and given nothing."""
    references = references_of(program, seed)
    first = references.hidden[0]
    derivation = Derivation(program, first.instance)
    local = []
    for tensor in differentiable(program, first):
        readers = frozenset(program.readers(tensor))
        for handed in (readers, frozenset[str]()):
            formula = derivation.gradient(tensor, handed)
            assert_like_autograd(references.hidden, tensor, handed, formula)
            if handed is readers:
                local.append(formula)
    return local


def kept_as_python(formula: Formula) -> Iterator[Formula]:
    return (node for node, _ in walk(formula) if isinstance(node, PythonVjp))


# --- the course, and the programs it does not contain


@pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.prefix)
def test_every_tensor_has_autograds_gradient(exercise: Exercise) -> None:
    references = prepare(exercise)
    program, first = references.program, references.hidden[0]
    derivation = Derivation(program, first.instance)
    names = differentiable(program, first)
    assert names
    for tensor in names:
        readers = frozenset(program.readers(tensor))
        # Also as after a shortcut: every other reader, or all steps but the readers.
        beyond = frozenset(program.descendants(tensor)) - readers - {program.loss}
        for handed in (readers, frozenset[str](), frozenset(sorted(readers)[::2]), beyond):
            formula = derivation.gradient(tensor, handed)
            assert_like_autograd(references.hidden, tensor, handed, formula)


@pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.prefix)
def test_every_line_of_these_programs_is_taken_apart(exercise: Exercise) -> None:
    """Of what stays Python no mistake can be made."""
    references = prepare(exercise)
    derivation = Derivation(references.program, references.hidden[0].instance)
    for tensor in differentiable(references.program, references.hidden[0]):
        readers = frozenset(references.program.readers(tensor))
        assert not list(kept_as_python(derivation.gradient(tensor, readers))), tensor


def test_each_readers_part_is_a_branch() -> None:
    references = prepare(OTHER_EXERCISES[0])
    derivation = Derivation(references.program, references.hidden[0].instance)
    formula = derivation.gradient("x", frozenset({"mean", "var", "xhat", "out"}))
    branches = [child for child, _ in formula.children()]
    assert [b.through for b in branches if isinstance(b, Branch)] == ["mean", "var", "xhat", "out"]
    read = {node.name for node, _ in walk(formula) if isinstance(node, Upstream)}
    assert read == {"mean", "var", "xhat", "out"}


def test_a_tensor_that_the_loss_does_not_read_has_a_gradient_of_zero() -> None:
    program = write_program("unread = x + y\nloss = (x * x).sum()")
    instance = references_of(program).hidden[0].instance
    environment = Environment(instance.values, {})
    formula = Derivation(program, instance).gradient("y", frozenset())
    value = environment(formula)
    assert value.shape == instance.values["y"].shape
    assert not value.any()


# --- one form at a time

FORMS = """\
x + y
x - 2 * y
-x * y + row
3.5 / (1 + y**2)
x / column
x * row / vector
x**3
(x**2 + 1) ** -0.5
torch.pow(x, 2) + y.pow(3)
x.square() + (x**2 + 1).rsqrt() + (y**2 + 1).reciprocal()
torch.exp(x) + y.expm1()
(x**2 + 1).log() + (y**2).log1p()
x.tanh() * torch.sigmoid(y)
(x**2 + 1).sqrt() + F.softplus(y)
F.relu(x) + y.abs()
x.sin() * y.cos()
x.sum(0) * vector
x.sum(0, True) + row
x.sum(dim=1, keepdim=True) * y
x.sum((0, 1)) * y
x.sum() * y.mean()
torch.sum(x, 1) + y.mean(-1)
x.mean(axis=0, keepdims=True) + row
x.mean(1, keepdim=True) * column
z.mean((0, 2)) + z.sum(-1).mean(0)
x.var(1, unbiased=False, keepdim=True) * y
x.var(0) + vector
x.var(0, True)
x.var(1, False, True)
x.var(-1, correction=0)
torch.var(x, 0, keepdim=True)
x.var() * y
x.std(1, keepdim=True) + torch.std(y, 0)
x @ W
torch.matmul(x, W) + y.mm(W)
x.T @ y + square
x @ square.t() + y
(x @ W) @ W.T
x @ vector
vector @ W
vector @ row.T
z @ square
z @ z.transpose(-2, -1)
z @ z.mT
x @ z.transpose(1, 2)
z.transpose(0, 1) @ square
z.transpose(0, 1).transpose(-1, -2)
torch.transpose(x, 0, 1) @ y
z.permute(2, 0, 1) * 2
z.permute((1, 0, 2)) @ W
z @ vector
(z @ W).transpose(1, 2) @ (z @ W)
(x @ z.mT).transpose(0, 1)
x.softmax(1) * y
F.softmax(x, dim=-1) @ W
torch.softmax(z, -2)
F.log_softmax(x, 1) * y
z.log_softmax(dim=0)
x.logsumexp(1, keepdim=True) + torch.logsumexp(y, 0)
F.cross_entropy(x, labels)
F.cross_entropy(x * row, labels, label_smoothing=0.2)
x.max(1, keepdim=True).values + y
x.max(0).values * vector
x.max(dim=1)[0] + torch.max(y, 1, keepdim=True)[0].T
z.amax(-1, keepdim=True) * z
table[index] * x
table[index][:, 0]
-x.log_softmax(1)[range(x.shape[0]), labels].mean()
x[:, 1:] * y[:, :-1]
x[0] + x[-1] * y[::2].sum(0)
x[..., 0] * y[:, 1]
x[y > 0]
x[None] * z.sum(1)[:, None].transpose(0, 1)
vector[:, None] * square
x.view(-1) * y.flatten()
x.reshape(x.shape[1], -1) @ y
z.view(z.shape[0], -1) * 2
z.flatten(1).unflatten(1, (z.shape[1], -1)) + z
x.unsqueeze(1) * z
column.squeeze(1) * x.sum(1)
row.expand(x.shape[0], -1) * x
column.expand_as(x) + y
torch.broadcast_to(vector, x.shape) * x
torch.where(x > 0, x * y, row)
torch.where(y > 0, x, 0.0)
x.masked_fill(y > 0, 0.5) * y
x.masked_fill(y > y.mean(1, keepdim=True), float("-inf")).softmax(1)
x / math.sqrt(x.shape[1])
x / x.shape[1] ** 0.5 + y * x.numel()
x * (y > 0)
x / table.size(0)
"""
"""Expressions that are taken apart."""

AS_A_WHOLE = """\
x.cumsum(0)
x.prod(1) * vector.sum()
torch.einsum("nm,mk->nk", x, W)
torch.cat([x, y], 1)
torch.stack([x, y]).mean(0)
x.clamp(-1, 1) + y
torch.maximum(x, y) * 2
F.layer_norm(x, (x.shape[1],))
x.chunk(2, dim=0)[0] * 2
x.norm() + torch.outer(vector, vector).sum()
x.masked_fill(mask=y > 0, value=0.0)
torch.where(x > 0, x, y).tril()
sum(x[i] * i for i in range(3))
x ** y.sigmoid().detach() if False else x * y
F.cross_entropy(x, labels, reduction="sum")
F.cross_entropy(z, labels[:, None].expand(-1, z.shape[2]) % z.shape[1])
x.softmax(1, dtype=torch.float64)
x.sum(0, dtype=torch.float64)
F.gelu(x) * y
"""
"""Expressions of which a part stays Python: autograd differentiates it."""


def with_loss(expression: str) -> str:
    return f"out = {expression}\nloss = (out * out.sin()).sum()"


@pytest.mark.parametrize("expression", FORMS.splitlines())
def test_a_form_is_taken_apart(expression: str) -> None:
    for formula in check_program(write_program(with_loss(expression))):
        assert not list(kept_as_python(formula)), describe(formula)


@pytest.mark.parametrize("expression", AS_A_WHOLE.splitlines())
def test_what_is_not_known_is_differentiated_as_a_whole(expression: str) -> None:
    formulas = check_program(write_program(with_loss(expression)))
    assert any(list(kept_as_python(formula)) for formula in formulas)


@pytest.mark.parametrize("spelling", ["y.T", "y.t()", "y.transpose(1, 0)", "y.transpose(-2, -1)"])
def test_every_spelling_of_a_transpose_is_said_in_one_way(spelling: str) -> None:
    program = write_program(f"out = x @ {spelling}\nloss = out.sum()")
    instance = references_of(program).hidden[0].instance
    formula = Derivation(program, instance).gradient("y", frozenset({"out"}))
    assert describe(formula) == "dout.T @ x"


def test_what_is_detached_hands_nothing_on() -> None:
    check_program(write_program("out = x.detach() * x + (y * 2).detach()\nloss = out.sum()"))


@pytest.mark.parametrize(
    "expression",
    [
        "x.sum(0, keepdim=bool(1))",
        "F.softmax(x, dim=0 + 1)",
        "x.var(1, unbiased=bool(0))",
        "x.transpose(dim0=0, dim1=1)",
        "F.softplus(x, beta=2)",
        "x.sub(y, alpha=2)",
    ],
)
def test_an_option_that_is_not_understood_is_never_left_out(expression: str) -> None:
    check_program(write_program(with_loss(expression)))


def test_a_reading_with_another_value_than_the_text_is_dropped() -> None:
    """A function that is called like one of ours, and does something else."""

    def tanh(values: Tensor) -> Tensor:
        return torch.tanh(values) * 2

    program = write_program(with_loss("tanh(x) + y"))
    program = ForwardProgram(
        program.name,
        program.inputs,
        program.annotations,
        program.steps,
        {**program.scope, "tanh": tanh},
    )
    formulas = check_program(program)
    kept = [node for formula in formulas for node in kept_as_python(formula)]
    assert [node.of.expression for node in kept if isinstance(node, PythonVjp)] == ["tanh(x)"]


def test_indices_and_numbers_hand_nothing_on() -> None:
    program = write_program("count = x.shape[0]\nout = x * count / x.numel()\nloss = out.sum()")
    instance = references_of(program).hidden[0].instance
    formula = Derivation(program, instance).gradient("x", frozenset({"out"}))
    assert not any(isinstance(node, PythonVjp) for node, _ in walk(formula))
    assert sum(isinstance(node, Upstream) for node, _ in walk(formula)) == 1
    assert any(isinstance(node, Python) for node, _ in walk(formula))


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


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=programs())
def test_random_programs_are_derived_right(text: str) -> None:
    names = ("x", "y", "row", "column", "square")
    shapes = ("n, m", "n, m", "1, m", "n, 1", "m, m")
    check_program(write_program(text, dict(zip(names, shapes, strict=True))))
