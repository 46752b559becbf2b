"""Signs of arithmetic that differentiates, and what looks like them."""

from __future__ import annotations

import types
from collections import namedtuple
from dataclasses import make_dataclass
from decimal import Decimal
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
import torch
from numpy.polynomial import Chebyshev
from torch import Tensor
from torch.distributions.transforms import TanhTransform

from grader.worker import watching
from grader.worker.watching import Watch

X = torch.randn(5, 7, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
Y = torch.randn(5, 7, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
ONE = torch.zeros_like(X)
ONE[2, 3] = 1.0
JETS = torch.stack([torch.stack([X, torch.ones_like(X)], -1), torch.stack([0 * X, X], -1)], -2)
A = torch.diag(X[0])
BLOCKS = torch.cat([torch.cat([A, torch.diag(Y[0])], 1), torch.cat([0 * A, A], 1)], 0)


def signs(*values: object, use: str = "tanh") -> set[str]:
    watch = Watch()
    for value in values:
        assert watch.see(value, use) is value
    return {kind for _, kind in watch.signs}


def own(source: str) -> type:
    """A class as an answer's code makes it."""
    names = {
        "__name__": "__main__",
        "make_dataclass": make_dataclass,
        "types": types,
        "Tensor": Tensor,
        "Base": BASE,
    }
    exec(compile(source, "<answer ex1-cell>", "exec"), names)
    found = names["A"]
    assert isinstance(found, type)
    return found


BASE = namedtuple("BASE", "x slope")


@pytest.mark.parametrize(
    "value",
    [
        *(1j, np.complex128(1), np.clongdouble(1j), torch.zeros(2, dtype=torch.complex64)),
        *(np.zeros(2, complex), np.ma.zeros(2, complex), np.array([1j, 2], object)),
    ],
    ids=str,
)
@pytest.mark.parametrize("use", ["", "tanh", "@"])
def test_complex_numbers_are_seen(value: object, use: str) -> None:
    assert signs(value, use=use) == {"complex"}


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n    def __mul__(self, other): return 1",
        "class A:\n    def __eq__(self, other): return True",
        "__name__ = 'builtins'\nclass A:\n    def __mul__(self, other): return 1",
        "class A: pass\nA.__rpow__ = lambda self, other: 1",
        "class B:\n    def __neg__(self): return self\nclass A(B): pass",
        "A = make_dataclass('A', [], namespace={'__add__': lambda a, b: a})",
        "A = types.new_class('A', (), {}, lambda n: n.update(__sub__=lambda a, b: a))",
        "class A(Base):\n    def __mul__(self, other): return other\n"
        "    def __new__(cls): return Base.__new__(cls, 1, 2)",
        "class A(Tensor): pass",
    ],
)
def test_operators_are_seen_by_whatever_road_a_class_was_made(source: str) -> None:
    assert signs(own(source)(), use="") == {"class"}


def test_mocks_are_seen() -> None:
    assert signs(mock.MagicMock(), use="") == {"class"}


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n    def __init__(self): self.x = 1\n    def __call__(self): return 2",
        "A = make_dataclass('A', [])",
        "A = Base._make\nclass A(list): pass",
        "class A(dict):\n    def __getattr__(self, name): return self[name]",
        "class A:\n    def __ror__(self, x): return x\n    def __hash__(self): return 1",
        "class A:\n    def __aiter__(self): return self\n    def __lt__(self, o): return True",
    ],
)
def test_a_class_that_keeps_things_is_innocent(source: str) -> None:
    assert signs(own(source)(), own(source), use="") == set()


@pytest.mark.parametrize(
    "values",
    [
        (X + 1e-5, X - 1e-5),
        (X + 0.5, X),
        (X * 1.01, X),
        (X + ONE, X),
        (X[..., None] + torch.arange(3.0) / 100,),
        (torch.stack([X, X + 1e-3]),),
        (X[0, 0] + torch.arange(9.0) / 1000,),
        ((X + 1e-5).numpy(), X.numpy()),
        tuple(x + step for x in X[0].tolist() for step in (1e-5, -1e-5)),
        tuple(x + step for x in X[0] for step in (1e-5, -1e-5)),
        tuple(torch.eye(7)),
        tuple(-2.0 * torch.eye(7)),
        tuple(map(Decimal, range(9))),
        tuple(map(Fraction, range(9))),
        tuple(number + 10**20 for number in range(9)),
        tuple(np.longdouble(x) + step for x in X[0].tolist() for step in (1e-5, -1e-5)),
        ((X + 1e-5).numpy().astype(object), X.numpy().astype(object)),
        ((X[0] + 1e-5).tolist(), X[0].tolist()),
        (torch.nn.Parameter(X + 1e-5), X),
    ],
)
def test_neighbouring_points_are_seen(values: tuple[object, ...]) -> None:
    assert signs(*values) == {"numerical"}


@pytest.mark.parametrize(
    "values",
    [
        (X, X),
        (X, X + 1e-16),
        (X, Y),
        (X, X.T.contiguous().T),
        (X, X[:4]),
        (X.float(), Y.float()),
        tuple(X),
        tuple(X.flatten().tolist()),
        (torch.ones(3, 4), torch.zeros(3, 4)),
        (torch.full((5,), 0.2), torch.full((5,), 0.3)),
        (torch.nn.functional.one_hot(torch.tensor([0, 1, 1, 2, 2, 1]), 3).double().unbind()),
        tuple(map(Decimal, range(3))),
        (X.long(), X.long() + 1),
        tuple(torch.diag(X[0])),
        (X.to_sparse(), torch.empty(3, device="meta"), None, "text", print, torch),
        (torch.full((4,), float("nan")), torch.full((4,), float("inf"))),
        (torch.zeros(0, 3), torch.tensor(1.0)),
    ],
)
def test_other_points_are_innocent(values: tuple[object, ...]) -> None:
    assert signs(*values) == set()


def test_what_a_check_has_counted_is_not_held_against_the_next_line() -> None:
    watch = Watch()
    for k in range(20):
        watch.see(1.0 + k / 1000, "-")
    watch.statement += 1
    watch.see(5.0, "-")
    assert watch.signs == {(-1, "numerical")}


@pytest.mark.parametrize("module", [torch.linalg, np.linalg, torch, np])
def test_to_solve_for_a_map_is_seen(module: types.ModuleType) -> None:
    solver = next(name for name in ("lstsq", "inverse", "polyfit") if hasattr(module, name))
    assert signs(module, use=solver) == {"derivative"}
    assert signs(module, use="norm") == set()


def test_what_is_linear_has_no_neighbours() -> None:
    assert signs(X, X + 1e-3, use="@") == set()
    assert signs(X, X - 1, use="-") == set()
    assert signs(X, X - 1e-3, use="-") == {"numerical"}


def test_the_identity_as_an_operand_is_seen() -> None:
    assert signs(torch.eye(4), use="@") == {"numerical"}
    assert signs(torch.eye(4), use="-") == set()


@pytest.mark.parametrize("matrices", [JETS, JETS.mT, BLOCKS, BLOCKS.T, torch.ones(3, 3).triu()])
def test_a_matrix_that_carries_a_derivative_is_seen(matrices: Tensor) -> None:
    assert signs(matrices, use="matrix_exp") == {"derivative"}
    assert signs(matrices, use="@") == {"derivative"}


@pytest.mark.parametrize("matrices", [X[:, :5], A, torch.eye(3), torch.zeros(4, 4)])
def test_another_matrix_does_not(matrices: Tensor) -> None:
    assert signs(matrices, use="inv") == set()


@pytest.mark.parametrize(
    "value",
    [TanhTransform(), TanhTransform, Chebyshev([1, 2]), np.polynomial, np.poly1d([1, 2])],
    ids=lambda value: type(value).__name__,
)
def test_libraries_that_keep_derivatives_are_seen(value: object) -> None:
    assert signs(value, use="") == {"derivative"}


def test_functions_that_differentiate_are_seen_by_their_module() -> None:
    assert signs(np, use="gradient") == {"derivative"}
    assert signs(torch, use="tanh") == set()
    assert signs(own("class A: pass")(), use="gradient") == set()


def test_much_work_is_seen_and_no_more_of_it_looked_at() -> None:
    watch = Watch()
    for number in range(watching.MOST_SIGHTS):
        watch.see(None, "")
        assert bool(watch.signs) is (number == watching.MOST_SIGHTS - 1)
    watch.see(1j, "")
    assert watch.signs == {(-1, "work")}


def test_signs_belong_to_the_statement_that_runs() -> None:
    watch = Watch()
    for watch.statement, value in ((3, 1.0), (5, 1j), (8, X)):
        watch.see(value, "")
    assert watch.signs == {(5, "complex")}


class Hostile:
    """Ends whoever asks it for anything."""

    def __getattribute__(self, name: str) -> object:
        raise SystemExit


def test_a_hostile_object_is_not_asked() -> None:
    assert signs(Hostile(), use="") == set()
