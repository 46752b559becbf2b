"""Watching: signs of arithmetic that differentiates, in what a statement computes with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch._C._functorch import get_unwrapped, is_batchedtensor
from torch.nn import Parameter

MOST_SIGHTS, LARGEST_SIGHT = 10_000, 2**16
"""Values that are looked at, and numbers of one. Right answers of the tests show at most 1,700."""

TENSORS = frozenset({Tensor, Parameter})

FLOATS = frozenset({float, np.float64, np.float32, np.longdouble})
"""Types of single numbers: others round too much to take a difference of."""

LARGEST_INTEGER = 2**64
"""Larger ones are decimal numbers without a point; seeds and hashes are below."""

FEW, NEAR, SAME = 4, 0.05, 1e-13
"""Numbers that may be like others by chance; distances of neighbouring points and of rounding,
relative to the largest number."""

LIBRARIES = ("torch.distributions", "numpy.polynomial", "scipy", "mpmath")
DERIVATIVES = frozenset({"gradient", "deriv", "polyder"})
SOLVERS = frozenset({"solve", "lstsq", "inv", "pinv", "inverse", "pinverse", "polyfit"})
"""Where derivatives are kept, what NumPy and PyTorch call them, and by what a linear map is found
from what it makes of some vectors."""

PRODUCTS = frozenset({"@", "einsum", "mm", "bmm", "matmul", "tensordot"})
"""What is linear in each of its operands: no slope shows in neighbouring ones."""

TELLING = frozenset(
    f"__{side}{name}__"
    for name in ("add", "sub", "mul", "matmul", "truediv", "floordiv", "pow")
    for side in ("", "r", "i")
) | {"__neg__", "__eq__", "__torch_function__", "__torch_dispatch__", "__array_ufunc__", "__del__"}
"""Methods by which an object takes part in arithmetic, passes for another, or acts when nobody
looks; pipes do none of it."""

HEAP_TYPE = 1 << 9
"""The flag of a type that is not built in, whatever it calls itself."""

Array = NDArray[np.floating[Any]]


class Watch:
    """Looks at what statements compute with; `signs` are their numbers with kinds of flags."""

    def __init__(self) -> None:
        self.statement = -1
        self.signs: set[tuple[int, str]] = set()
        self._left = MOST_SIGHTS
        self._last: dict[tuple[str, tuple[int, ...]], Any] = {}
        self._seen = Counter[object]()

    def see(self, value: Any, use: str) -> Any:
        """The value as it is, once it was looked at; `use` is what is done with it."""
        if self._left > 0:
            self._left -= 1
            if type(value) in FLOATS:
                if self._is_near_others(value, use):
                    self.signs.add((self.statement, "numerical"))
            else:
                # A student's own object, or a tensor without numbers, shows nothing.
                with suppress(Exception):
                    self.signs.update((self.statement, kind) for kind in self._look(value, use))
            if self._left == 0:
                self.signs.add((self.statement, "work"))
        return value

    def forget(self) -> None:
        """Begin anew, before what failed runs again: all of it would be seen twice."""
        self._last.clear()
        self._seen.clear()

    def _look(self, value: Any, use: str) -> Iterator[str]:
        if type(value) in (list, tuple) and type(value[0]) is float:
            value = np.array(value[:LARGEST_SIGHT])
        kind = type(value)
        # Not `isinstance`, which asks a student's object.
        if kind in TENSORS or issubclass(kind, np.ndarray):
            if kind in TENSORS:
                while is_batchedtensor(value):
                    value = get_unwrapped(value)
                if value.is_complex():
                    yield "complex"
                value = value.detach().numpy()
            if value.dtype.kind == "O" and value.size <= LARGEST_SIGHT:
                for one in value.flat:
                    yield from self._look(one, use)
                value = value.astype(float)
            if value.dtype.kind == "c":
                yield "complex"
            elif use and value.dtype.kind == "f" and value.size <= LARGEST_SIGHT:
                yield from self._look_at_array(np.asarray(value), use)
        elif issubclass(kind, complex | np.complexfloating):
            yield "complex"
        elif issubclass(kind, Decimal | Fraction) or (kind is int and abs(value) > LARGEST_INTEGER):
            self._seen[kind, self.statement] += 1
            # A few are a formula's constants.
            if self._seen[kind, self.statement] > 2 * FEW:
                yield "numerical"
        else:
            is_module = kind is ModuleType
            owner = value if issubclass(kind, type | FunctionType) else kind
            module = value.__name__ if is_module else owner.__module__
            asks = is_module and use in DERIVATIVES | SOLVERS
            if asks or kind is np.poly1d or module.startswith(LIBRARIES):
                yield "derivative"
            if kind.__flags__ & HEAP_TYPE and _is_strange(kind):
                yield "class"

    def _is_near_others(self, number: float, use: str) -> bool:
        """True if too many numbers were a small step away from the one before."""
        apart = abs(number - self._last.get((use, ()), 0.0))
        self._last[use, ()] = number
        is_near = SAME * abs(number) < apart < NEAR / FEW * abs(number)
        self._seen[use] += 1
        self._seen[use, "near"] += is_near
        # What another line, perhaps a check, has counted is not held against this one.
        return is_near and self._seen[use, "near"] > max(FEW, self._seen[use] / FEW)

    def _look_at_array(self, array: Array, use: str) -> Iterator[str]:
        size, shape = array.size, array.shape
        if size < FEW:
            for number in array.flat:
                if self._is_near_others(float(number), use):
                    yield "numerical"
            return
        if use not in PRODUCTS:
            last = self._last.get((use, shape))
            self._last[use, shape] = array.copy()
            # `a - 1` is a step away from `a`, and innocent.
            if last is not None and _are_neighbours(array, last, even=use != "-"):
                yield "numerical"
        if use == "-":
            return
        if array.ndim == 1:
            yield from self._look_at_row(array, use)
            return
        for rows in (array, array.T) if use not in PRODUCTS else ():
            few = 1 < len(rows) <= size / FEW
            if few and all(_are_neighbours(a, b) for a, b in pairwise(rows)):
                yield "numerical"
        if shape[-1] == shape[-2]:
            if use in {*PRODUCTS, "call"} and np.array_equal(array, np.eye(len(array))):
                yield "numerical"
            for part in (shape[-1] - 1, shape[-1] // 2):
                if _carries_along(array, part) or _carries_along(array.swapaxes(-1, -2), part):
                    yield "derivative"

    def _look_at_row(self, row: Array, use: str) -> Iterator[str]:
        least, most, scale = row.min(), row.max(), np.abs(row).max()
        if SAME * scale < most - least < NEAR * scale:
            yield "numerical"
        if np.count_nonzero(row) == 1:
            number = least + most
            self._seen[use, row.size, number, int(np.abs(row).argmax())] += 1
            # Every unit vector once: that writes down the matrix of a linear function.
            if {self._seen[use, row.size, number, place] for place in range(row.size)} == {1}:
                yield "numerical"


def _are_neighbours(a: Array, b: Array, even: bool = True) -> bool:
    """True if one is the other with a step added to one number, to all if `even`, or small ones."""
    apart = np.abs(a - b)
    least, most, scale = apart.min(), apart.max(), np.abs(a).max()
    if not SAME * scale < most:
        return False
    is_even = even and most - least < 1e-9 * most and a.std() > 1e-9 * scale
    is_one = np.count_nonzero(apart) == 1 and 2 * np.count_nonzero(a) > a.size
    return bool(most < NEAR * scale or is_even or is_one)


def _carries_along(matrices: Array, part: int) -> bool:
    """True for equal blocks on the diagonal, zeros in one corner, something above them."""
    rest = matrices.shape[-1] - part
    same = np.array_equal(matrices[..., :part, :part], matrices[..., rest:, rest:])
    return same and not matrices[..., part:, :rest].any() and bool(np.triu(matrices, 1).any())


def _is_strange(kind: type) -> bool:
    """True for a mock, a tensor of another class, and arithmetic that the answer has defined."""
    is_other = issubclass(kind, Tensor) and not kind.__module__.startswith("torch")
    methods = (
        getattr(method, "__func__", method)
        for base in kind.__mro__
        for name, method in vars(base).items()
        if name in TELLING
    )
    return (is_other or kind.__module__ == "unittest.mock") or any(
        isinstance(one, FunctionType) and one.__code__.co_filename.startswith("<answer")
        for one in methods
    )
