"""Formulas: trees with a value, a text, and edits that leave the rest as it is."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from grader.diagnosis.formula.arithmetic import (
    Branch,
    Elementwise,
    Number,
    Positive,
    Power,
    Product,
    Slope,
    Sum,
    Upstream,
    Value,
    add,
    multiply,
    negative,
)
from grader.diagnosis.formula.axes import (
    Count,
    Expand,
    Matmul,
    Permute,
    Reduce,
    Reshape,
    Softmax,
    Transpose,
    orders,
)
from grader.diagnosis.formula.node import DoesNotFit, Environment, Formula, size, walk
from grader.diagnosis.formula.opaque import Python, PythonVjp
from grader.diagnosis.formula.places import Holds, OneHot, Part, Permuted, Route, Scatter
from grader.diagnosis.formula.text import describe

GENERATOR = torch.Generator().manual_seed(1)
A = torch.randn(3, 4, generator=GENERATOR, dtype=torch.float64)
B = torch.randn(3, 4, generator=GENERATOR, dtype=torch.float64)
M = torch.randn(4, 5, generator=GENERATOR, dtype=torch.float64)
Z = torch.randn(2, 3, 4, generator=GENERATOR, dtype=torch.float64)
DA = torch.randn(3, 4, generator=GENERATOR, dtype=torch.float64)
INDEX = torch.tensor([2, 0, 2])

a, b, m, z, da, n = (*map(Value, ("a", "b", "m", "z")), Upstream("a"), Value("n"))
index = Value("index")


def python(expression: str, *reads: str) -> Python:
    scope = {"torch": torch}
    return Python(expression, compile(expression, "<test>", "eval"), scope, reads)


@pytest.fixture
def environment() -> Environment:
    values = {"a": A, "b": B, "m": M, "z": Z, "n": 3, "index": INDEX, "mask": A > 0}
    return Environment(values, {"a": DA})


ADDED = torch.zeros(3, 4, dtype=torch.float64)
for place, taken in enumerate(INDEX):
    ADDED[taken] += A[place]
LARGEST = torch.zeros(3, 4, dtype=torch.float64)
LARGEST[range(3), A.argmax(1)] = 1.0


@pytest.mark.parametrize(
    ("formula", "due", "text"),
    [
        (a, A, "a"),
        (da, DA, "da"),
        (Sum((a, negative(b))), A - B, "a - b"),
        (add(a, negative(multiply(a, b))), A - A * B, "a - a * b"),
        (multiply(a, add(b, Number(1.0))), A * (B + 1), "a * (b + 1)"),
        (negative(add(a, b)), -(A + B), "-(a + b)"),
        (Power(a, 2.0), A**2, "a**2"),
        (Power(add(a, b), -1.0), 1 / (A + B), "1/(a + b)"),
        (Power(Power(a, 2.0), -0.5), A.abs() ** -1, "(a**2)**-0.5"),
        (multiply(Power(Number(-3.0), 2.0), a), 9 * A, "((-3)**2) * a"),
        (multiply(Number(0.123456789), a), 0.123456789 * A, "0.123456789 * a"),
        (Elementwise("tanh", a), A.tanh(), "tanh(a)"),
        (Elementwise("sqrt", Power(a, 2.0)), A.abs(), "sqrt(a**2)"),
        (multiply(a, Elementwise("sqrt", n)), A * math.sqrt(3), "a * sqrt(n)"),
        (multiply(a, Positive(b)), A * (B > 0), None),
        (Reduce(a, (0,), False), A.sum(0), "a.sum(0)"),
        (Reduce(a, (), False), A.sum(), "a.sum()"),
        (Reduce(a, (), True), A.sum().reshape(1, 1), "a.sum()"),
        (Reduce(add(a, b), (0, 1), False, mean=True), (A + B).mean(), "(a + b).mean(0, 1)"),
        (multiply(a, Power(Count(a, (1,)), -1.0)), A / 4, "a * (1/(a.shape[1]))"),
        (multiply(a, Count(z, ())), A * 24, None),
        (Expand(Reduce(a, (1,), False), a, (1,), False), A.sum(1)[:, None].expand(3, 4), None),
        (Expand(Reduce(a, (0,), True), a, (0,), True), A.sum(0).expand(3, 4), None),
        (Expand(Number(2.0), a, (), False), torch.full_like(A, 2.0), "2"),
        (Matmul(a, m), A @ M, "a @ m"),
        (Matmul(Transpose(a), da), A.T @ DA, "a.T @ da"),
        (Transpose(z, batched=True), Z.mT, "z.mT"),
        (Transpose(z, (0, 1)), Z.transpose(0, 1), "z.transpose(0, 1)"),
        (Permute(z, (2, 0, 1)), Z.permute(2, 0, 1), "z.permute(2, 0, 1)"),
        (Reshape(a, python("a.view(-1)", "a")), A.flatten(), "a"),
        (Scatter(a, index, a), ADDED, None),
        (
            Scatter(Number(1.0), python("(slice(None), 0)"), a),
            torch.eye(4, dtype=torch.float64)[[0, 0, 0]],
            None,
        ),
        (Route(Number(1.0), a, 1), LARGEST, None),
        (Softmax(a, 1), A.softmax(1), "softmax(a)"),
        (OneHot(index, a), torch.eye(4, dtype=torch.float64)[INDEX], "one_hot(index)"),
        (multiply(a, Holds(Value("mask"))), A.clamp(min=0), "a * mask"),
        (multiply(a, Holds(Value("mask"), negated=True)), A.clamp(max=0), "a * ~mask"),
        (Part(a, 0, 1, None), torch.cat([torch.zeros(1, 4, dtype=torch.float64), A[1:]]), None),
        (Permuted(a, a, (1, 0)), A.reshape(4, 3).T, None),
        (python("torch.cumsum(a, 0)", "a"), A.cumsum(0), "torch.cumsum(a, 0)"),
        (
            PythonVjp(da, python("torch.cumsum(a, 0)", "a"), "a"),
            DA.flip(0).cumsum(0).flip(0),
            None,
        ),
        (PythonVjp(da, python("a.detach()", "a"), "a"), torch.zeros_like(A), None),
        (Slope(Power(a, 2.0), "tanh"), A**2, "a**2"),
        (Branch(multiply(da, b), "y", "a"), DA * B, "da * b"),
    ],
    ids=lambda part: type(part).__name__ if isinstance(part, Formula) else "",
)
def test_value_and_text(
    formula: Formula, due: Tensor, text: str | None, environment: Environment
) -> None:
    value = environment(formula)
    assert value.shape == due.shape
    assert torch.allclose(value, due, rtol=1e-12, atol=1e-12)
    if text is not None:
        assert describe(formula) == text


@pytest.mark.parametrize(
    "formula",
    [
        Matmul(a, b),
        add(a, m),
        Reduce(a, (2,), False),
        Transpose(n),
        Value("nobody"),
        Upstream("nobody"),
        multiply(a, Power(add(n, Number(-3.0)), -1.0)),
        Elementwise("tanh", Matmul(a, b)),
        python("a.nothing"),
        Expand(m, a, (0,), True),
    ],
    ids=lambda formula: describe(formula),
)
def test_what_has_no_value_says_so(formula: Formula, environment: Environment) -> None:
    with pytest.raises(DoesNotFit):
        environment(formula)


def test_values_are_computed_once(environment: Environment) -> None:
    shared = multiply(a, b)
    environment(add(shared, negative(shared)))
    first = environment(shared)
    assert environment(shared) is first


def test_sums_and_products_are_flat_and_without_ones() -> None:
    total = add(add(a, b), add(m, da))
    assert isinstance(total, Sum)
    assert total.terms == (a, b, m, da)
    product = multiply(multiply(a, Number(1.0)), multiply(b, m))
    assert isinstance(product, Product)
    assert product.factors == (a, b, m)
    assert multiply(Number(1.0), a) is a
    assert add(a) is a
    one = multiply()
    assert isinstance(one, Number)
    assert one.value == 1


def test_walk_puts_another_node_in_every_place(environment: Environment) -> None:
    formula = add(multiply(da, b), Reduce(multiply(a, Power(b, 2.0)), (0,), True), Slope(a, "tanh"))
    places = list(walk(formula))
    assert len(places) == size(formula) == 11
    assert places[0][0] is formula
    zero = Number(0.0)
    for node, put in places:
        edited = put(zero)
        assert size(edited) == size(formula) - size(node) + 1
        assert sum(inner is zero for inner, _ in walk(edited)) == 1
        # What is not on the way from the edit to the root is shared.
        kept = {id(inner) for inner, _ in walk(formula)}
        path = [inner for inner, _ in walk(edited) if id(inner) not in kept and inner is not zero]
        assert len(path) <= 4
        assert put(node) is formula or describe(put(node)) == describe(formula)
    assert torch.equal(environment(places[0][1](a)), A)


def test_places_and_shapes_are_no_parts_of_a_value() -> None:
    """Mistakes are made in what a value is computed from, not in what says how large it is."""
    formula = Scatter(multiply(a, b), index, m)
    assert [describe(node) for node, _ in walk(formula)][1:] == ["a * b", "a", "b"]
    assert [node for node, _ in walk(Expand(a, z, (0,), True))][1:] == [a]


def test_numbers_are_constants(environment: Environment) -> None:
    for formula in (multiply(n, Number(2.0)), Elementwise("sqrt", n), Count(a, (0,))):
        assert isinstance(environment(formula), int | float)


def test_orders_leave_out_the_usual_one() -> None:
    assert list(orders(2)) == [(1, 0)]
    assert len(list(orders(3))) == 5


def test_what_is_evaluated_aside_is_forgotten(environment: Environment) -> None:
    product = multiply(a, b)
    environment(product)
    known = dict(environment.known)
    aside = environment.aside()
    assert torch.equal(aside(negative(product)), -(A * B))
    assert aside(product) is environment(product), "what is known here is known there"
    assert environment.known == known
