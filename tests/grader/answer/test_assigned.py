from __future__ import annotations

import warnings

import pytest

from grader.answer.assigned import first_assignments, has_only_blanks

NAMES = ("dlogits", "dh", "dC")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("dlogits = x", {"dlogits": 1}),
        ("x = 1\n\ndlogits = x\ndlogits += 1", {"dlogits": 3}),
        ("dh, (dC, x) = f()", {"dh": 1, "dC": 1}),
        ("dlogits: Tensor = x", {"dlogits": 1}),
        ("dC[Xb] += demb", {"dC": 1}),
        ("dC[0][1] = 2", {"dC": 1}),
        ("for dh in y:\n    dC = dh", {"dh": 1, "dC": 2}),
        ("if (dh := f()) is None: pass", {"dh": 1}),
        ("print(dlogits)\ny = dh.sum()", {}),
        ("dlogits.shape == dh.shape", {}),
        ("f(dlogits=x)", {}),
        ("my_dlogits = dlogits_copy = 1", {}),
        ("# dlogits = x\n'dh = 1'", {}),
        ("def f():\n    dlogits = 1\n    return dlogits", {}),
        ("%time dlogits = x\n!ls\ndh = 1", {"dlogits": 1, "dh": 3}),
        ("%timeit dlogits = x\n%time dC =\ndh = 1", {"dh": 3}),
        # these do not parse: the text has to do
        ("dlogits = (\n", {"dlogits": 1}),
        ("x = = 1\n  dC[Xb] += demb\nprint(dh == x)\ndh != y", {"dC": 2}),
        ("dh = 1 \x00", {"dh": 1}),
    ],
)
def test_first_assignments(source: str, expected: dict[str, int]) -> None:
    assert first_assignments(source, NAMES) == expected


def test_code_of_any_depth_is_looked_through() -> None:
    for deep in ("(" * 5000, "-" * 50_000, "x" + ".a" * 50_000, "[" * 150 + "]" * 150):
        assert first_assignments(f"dh = 1\ny = {deep}", NAMES) == {"dh": 1}


def test_the_students_warnings_are_not_ours() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert first_assignments("dh = '\\d' is 1", NAMES) == {"dh": 1}


@pytest.mark.parametrize(
    ("source", "blank"),
    [
        ("", True),
        ("# answer: ex1-tanh\n\ndh = ...  # your turn\n", True),
        ("dh = None\npass\na, b = c = ...", True),
        ("...", True),
        ("dh = 0", False),
        ("dh = ... + 1", False),
        ("x = '...'", False),
        ("= " * 20_000, False),
        (" =  " * 20_000, False),
    ],
)
def test_has_only_blanks(source: str, blank: bool) -> None:
    assert has_only_blanks(source) is blank
