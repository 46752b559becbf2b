"""The parser of formulas: what a text says, what it does not know, what it never runs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.diagnosis.formula.arithmetic import Number, Power, Upstream, Value
from grader.diagnosis.formula.axes import Reduce, Reshape
from grader.diagnosis.formula.node import Environment, Formula, walk
from grader.diagnosis.formula.opaque import Python, PythonVjp
from grader.diagnosis.formula.text import describe
from grader.diagnosis.formula_parser import (
    FormulaParser,
    NotAFormula,
    read_axes,
    read_call,
    read_number,
    read_truth,
)
from tests.helpers.written_programs import SCOPE

NAMES = frozenset({"a", "b", "s", "n"})
UPSTREAMS = frozenset({"a", "y"})
READER = FormulaParser(NAMES, UPSTREAMS)
"""As for a student's code: without a scope, nothing can be run."""

AUTHOR = FormulaParser(NAMES, UPSTREAMS, SCOPE)
"""As for the forward program's own text."""


@pytest.fixture(scope="module")
def environment() -> Environment:
    generator = torch.Generator().manual_seed(2)
    a, b, s, da, dy = (
        torch.rand(3, 3, generator=generator, dtype=torch.float64) + 0.5 for _ in range(5)
    )
    return Environment({"a": a, "b": b, "s": s, "n": 3}, {"a": da, "y": dy})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a + b", "a + b"),
        ("a - b - 1", "a - b - 1"),
        ("-a * b", "-a * b"),
        ("a / b", "a * (1/b)"),
        ("a**-0.5", "a**-0.5"),
        ("da * (1 - a ** 2)", "da * (1 - (a**2))"),
        ("a @ dy.T", "a @ dy.T"),
        ("dy.mT @ a.t()", "dy.T @ a.T"),
        ("a.transpose(0, 1) @ dy", "a.transpose(0, 1) @ dy"),
        ("torch.matmul(a, b)", "a @ b"),
        ("a.mm(b)", "a @ b"),
        ("torch.tanh(a) + b.tanh() + tanh(s)", "tanh(a) + tanh(b) + tanh(s)"),
        ("a.square() * b.rsqrt()", "(a**2) * (b**-0.5)"),
        ("torch.pow(a, -2) + b.pow(3)", "a**-2 + b**3"),
        ("(dy * a).sum(0)", "(dy * a).sum(0)"),
        ("dy.sum((0, 1))", "dy.sum(0, 1)"),
        ("torch.sum(dy, dim=-1)", "dy.sum(-1)"),
        ("dy.mean()", "dy.mean()"),
        ("a.softmax(1)", "softmax(a)"),
        ("F.softmax(a, dim=1)", "softmax(a)"),
        ("a.permute(1, 0)", "a.permute(1, 0)"),
    ],
)
def test_what_a_text_says(text: str, said: str) -> None:
    assert describe(READER.parse(text)) == said


@pytest.mark.parametrize(
    ("text", "keepdim", "mean", "axes"),
    [
        ("a.sum(0, True)", True, False, (0,)),
        ("a.sum(0, keepdim=True)", True, False, (0,)),
        ("a.mean(axis=(0, -1), keepdims=False)", False, True, (0, -1)),
        ("torch.mean(a, 1, keepdim=True)", True, True, (1,)),
        ("a.sum([0])", False, False, (0,)),
    ],
)
def test_a_reduction(text: str, keepdim: bool, mean: bool, axes: tuple[int, ...]) -> None:
    match READER.parse(text):
        case Reduce(Value("a"), found, kept, is_mean):
            assert (found, kept, is_mean) == (axes, keepdim, mean)
        case other:
            pytest.fail(describe(other))


def test_names_that_are_both_are_forward_values() -> None:
    """`dy` may be an input of the program: its value is meant, as in the program's own text."""
    assert isinstance(FormulaParser({"dy"}, {"y"}).parse("dy"), Value)
    assert isinstance(READER.parse("dy"), Upstream)


UNKNOWN = (
    "c",
    "a.cumsum(0)",
    "a.sum(k)",
    "a.sum(0, keepdim=k)",
    "a.sum(0, dtype=torch.float64)",
    "a.sum(0, axis=1)",
    "a.sum(0, dim=0)",
    "a.sum(*axes)",
    "a.softmax(k)",
    "a.tanh(out=b)",
    "a**b",
    "a if True else b",
    "a[0]",
    "a.view(-1)",
    "a.reshape(b.shape)",
    "True",
    "'a'",
    "a < b",
    "lambda: a",
    "[a, b]",
    "+a",
    "~a",
    "helper(a, b)",
    "a.b",
    "(a := b)",
)


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_is_not_known_is_refused_without_a_scope(text: str) -> None:
    with pytest.raises(NotAFormula):
        READER.parse(text)
    # Also as a part of something that is known.
    with pytest.raises(NotAFormula):
        READER.parse(f"b + 2 * ({text})")


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_is_not_known_stays_python_with_a_scope(text: str) -> None:
    kept = [node for node, _ in walk(AUTHOR.parse(text)) if isinstance(node, Python)]
    reshapes = [node for node, _ in walk(AUTHOR.parse(text)) if isinstance(node, Reshape)]
    assert kept or reshapes


@pytest.mark.parametrize("scope", [None, SCOPE])
@pytest.mark.parametrize(
    "attack",
    [
        "open({path!r}, 'w')",
        "__import__('pathlib').Path({path!r}).touch()",
        "a.sum(open({path!r}, 'w'))",
        "a + tanh(open({path!r}, 'w'))",
        "a.view(open({path!r}, 'w'))",
        "[open({path!r}, 'w') for _ in a]",
        "a @ (lambda: open({path!r}, 'w'))().T",
        "f\"{{open({path!r}, 'w')}}\"",
        "torch.open({path!r}, 'w') ** 2",
    ],
)
def test_reading_runs_nothing(attack: str, scope: dict[str, object] | None, tmp_path: Path) -> None:
    path = tmp_path / "made"
    text = attack.format(path=str(path))
    try:
        formula: Formula | None = FormulaParser(NAMES, UPSTREAMS, scope).parse(text)
    except NotAFormula:
        formula = None
    assert not path.exists()
    assert (formula is None) == (scope is None)


def test_without_a_scope_no_formula_holds_python(environment: Environment) -> None:
    """Whatever is read without a scope can be evaluated without running any of its text."""
    for text in ("a @ b.T + da.sum(0)", "(1 - a**2) * dy / n", "a.softmax(1).permute(1, 0)"):
        formula = READER.parse(text)
        assert not any(isinstance(node, Python | PythonVjp) for node, _ in walk(formula))
        environment(formula)


# --- round trips


def expressions() -> st.SearchStrategy[str]:
    """Expressions of square matrices."""
    leaves = st.sampled_from(
        ["a", "b", "s", "da", "dy", "n", "0.5", "2", "3.25e-05", "1.123456789"]
    )

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        one = [
            *("-({})", "({}).abs().sqrt()", "torch.tanh(({}) * da)", "((da * ({})) ** 2)"),
            *(
                "(da * ({})).T",
                "(da + ({})).sum(0)",
                "(dy + ({})).mean(1)",
                "(1 + ({}) ** 2) ** -1",
            ),
            *("(dy * ({})).softmax(1)", "a.exp() * ({})"),
        ]
        two = ["({}) + ({})", "({}) - ({})", "({}) * ({})", "({}) / (1 + ({}) ** 2)"]
        two += ["(da * ({})) @ (dy + ({}))"]
        return st.one_of(
            st.builds(lambda form, x: form.format(x), st.sampled_from(one), inner),
            st.builds(lambda form, x, y: form.format(x, y), st.sampled_from(two), inner, inner),
        )

    return st.recursive(leaves, larger, max_leaves=6)


@settings(max_examples=200, deadline=None)
@given(text=expressions())
def test_a_formula_read_from_its_own_text_has_the_same_value(text: str) -> None:
    generator = torch.Generator().manual_seed(3)
    names = ("a", "b", "s", "da", "dy")
    tensors = {name: torch.rand(3, 3, generator=generator, dtype=torch.float64) for name in names}
    values = {**tensors, "n": 3}
    environment = Environment(values, {"a": tensors["da"], "y": tensors["dy"]})
    formula = READER.parse(text)
    try:
        due = eval(text, {**SCOPE, **values})
    except (RuntimeError, AttributeError):  # `2 .abs()`, `(2).T`
        return
    due_value = torch.as_tensor(due, dtype=torch.float64)
    again = READER.parse(with_axes(describe(formula)))
    for read in (formula, again):
        value = torch.as_tensor(environment(read), dtype=torch.float64)
        assert torch.allclose(value, due_value, rtol=1e-9, equal_nan=True)
    assert describe(again) == describe(formula)


def with_axes(text: str) -> str:
    """A softmax with the axis that its description leaves out."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "softmax":
            node.args.append(ast.Constant(1))
    return ast.unparse(tree)


# --- small readers


@pytest.mark.parametrize(
    ("text", "number"), [("3", 3.0), ("-0.5", -0.5), ("--2", 2.0), ("True", None), ("n", None)]
)
def test_read_number(text: str, number: float | None) -> None:
    assert read_number(ast.parse(text, mode="eval").body) == number


@pytest.mark.parametrize(
    ("texts", "axes"),
    [([], ()), (["1"], (1,)), (["(0, -1)"], (0, -1)), (["[2]"], (2,)), (["k"], None)],
)
def test_read_axes(texts: list[str], axes: tuple[int, ...] | None) -> None:
    assert read_axes([ast.parse(text, mode="eval").body for text in texts]) == axes


@pytest.mark.parametrize(
    ("texts", "truth"), [([], False), (["True"], True), (["False"], False), (["1"], None)]
)
def test_read_truth(texts: list[str], truth: bool | None) -> None:
    assert read_truth([ast.parse(text, mode="eval").body for text in texts]) is truth


@pytest.mark.parametrize(
    ("text", "name", "arguments", "options"),
    [
        ("x.sum(0, keepdim=True)", "sum", ["x", "0"], ["keepdim"]),
        ("torch.sum(x)", "sum", ["x"], []),
        ("sum(x)", "sum", ["x"], []),
        ("F.f(x, y)", "f", ["x", "y"], []),
        ("(x + y).f()", "f", ["x + y"], []),
    ],
)
def test_read_call(text: str, name: str, arguments: list[str], options: list[str]) -> None:
    call = read_call(ast.parse(text, mode="eval").body)
    assert call is not None
    assert call.name == name
    assert [ast.unparse(argument) for argument in call.arguments] == arguments
    assert list(call.options) == options


@pytest.mark.parametrize("text", ["x.f(*y)", "x.f(**y)", "f()()", "x"])
def test_what_is_no_plain_call(text: str) -> None:
    assert read_call(ast.parse(text, mode="eval").body) is None


def test_options_given_twice_or_too_many_are_not_understood() -> None:
    call = read_call(ast.parse("x.var(1, False, True, 3)", mode="eval").body)
    assert call is not None
    assert "?" in call.options_after(1, "dim", "unbiased", "keepdim")
    twice = read_call(ast.parse("x.var(1, dim=2)", mode="eval").body)
    assert twice is not None
    assert "?" in twice.options_after(1, "dim")
    fine = read_call(ast.parse("x.var(1, keepdim=True)", mode="eval").body)
    assert fine is not None
    assert list(fine.options_after(1, "dim", "unbiased", "keepdim")) == ["dim", "keepdim"]


def test_a_division_is_a_power() -> None:
    match READER.parse("1 / a"):
        case Power(Value("a"), exponent):
            assert exponent == -1
        case other:
            pytest.fail(describe(other))
    assert isinstance(READER.parse("2"), Number)
