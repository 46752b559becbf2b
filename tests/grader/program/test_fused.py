from __future__ import annotations

import ast
from pathlib import Path

import pytest

from grader.program import fused
from grader.program.exercises import EXERCISES
from grader.program.fused import PLAIN, fused_formulas, seal, unseal


def test_every_formula_is_of_a_tensor_whose_gradient_is_asked_for() -> None:
    for exercise in EXERCISES:
        for tensor, formulas in fused_formulas(exercise.prefix).items():
            assert f"d{tensor}" in exercise.gradients
            for formula in formulas:
                ast.parse(formula, mode="eval")


def test_an_exercise_may_have_none() -> None:
    assert fused_formulas("ex99") == {}


def test_a_sealed_file_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = {exercise.prefix: fused_formulas(exercise.prefix) for exercise in EXERCISES}
    sealed = tmp_path / "fused.sealed"
    sealed.write_bytes(seal(PLAIN.read_bytes()))
    monkeypatch.setattr(fused, "PLAIN", tmp_path / "gone.toml")
    monkeypatch.setattr(fused, "SEALED", sealed)
    fused_formulas.cache_clear()
    try:
        assert {prefix: fused_formulas(prefix) for prefix in plain} == plain
    finally:
        fused_formulas.cache_clear()


def test_what_is_sealed_is_not_read_by_accident() -> None:
    sealed = seal(PLAIN.read_bytes())
    assert b"dhpreact" not in sealed
    assert unseal(sealed) == PLAIN.read_bytes()
