import ast
import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import Tensor

from grader.diagnosis.kinds import Kind
from tests.helpers.annotated_functions import SIZES, Run, definition, run, steps

FOLDER = Path(__file__).parents[2] / "benchmarks" / "gradient_bugs"
NAMES = sorted(path.stem for path in FOLDER.glob("[!_]*.py"))

every_bug = pytest.mark.parametrize("name", NAMES)
every_instance = pytest.mark.parametrize("lengths", SIZES, ids=["small", "other"])


def bug(name: str) -> ModuleType:
    return import_module(f"benchmarks.gradient_bugs.{name}")


def returned_by(function: Callable[..., Tensor | tuple[Tensor, ...]], of: Run) -> list[Tensor]:
    asked = {name: of.values[name] for name in inspect.signature(function).parameters}
    copies = {
        name: value.clone() if isinstance(value, Tensor) else value for name, value in asked.items()
    }
    gradients = function(**copies)
    for name, value in asked.items():
        if isinstance(value, Tensor):
            assert torch.equal(value, copies[name]), f"{name} was changed"  # type: ignore[arg-type]
    return [gradients] if isinstance(gradients, Tensor) else list(gradients)


def wrong_gradients(function: Callable[..., Tensor | tuple[Tensor, ...]], of: Run) -> set[str]:
    pairs = zip(of.gradients.items(), returned_by(function, of), strict=True)
    return {
        name
        for (name, expected), found in pairs
        if found.shape != expected.shape or not torch.allclose(found, expected, 1e-9, 1e-11)
    }


def test_there_are_enough_to_measure_with() -> None:
    assert len(NAMES) >= 30


@every_bug
@every_instance
def test_the_mended_backward_agrees_with_autograd(name: str, lengths: tuple[int, ...]) -> None:
    module = bug(name)
    assert wrong_gradients(module.mended, run(module, "forward", lengths, seed=1)) == set()


@every_bug
@every_instance
def test_the_bug_makes_wrong_what_it_says_and_nothing_else(
    name: str, lengths: tuple[int, ...]
) -> None:
    module = bug(name)
    result = run(module, "forward", lengths, seed=1)
    said = {*module.WRONG, *getattr(module, "CARRIED", [])}
    assert wrong_gradients(module.backward, result) == said & result.gradients.keys()
    assert said & result.gradients.keys()


@every_bug
def test_each_wrong_gradient_is_that_of_a_tensor_and_assigned(name: str) -> None:
    module = bug(name)
    tensors = {
        *inspect.signature(module.forward).parameters,
        *(n for n, _ in steps(module.forward)),
    }
    assigned = {
        node.id
        for node in ast.walk(definition(module.backward))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for gradient in [*module.WRONG, *getattr(module, "CARRIED", [])]:
        assert gradient.removeprefix("d") in tensors
        assert gradient in assigned


@every_bug
def test_the_kinds_are_those_of_the_diagnosis(name: str) -> None:
    kinds = bug(name).KINDS
    assert kinds
    assert set(kinds) <= {kind.value for kind in Kind}


def test_the_table_names_every_bug_once_with_its_source() -> None:
    table = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = [line for line in table.splitlines() if line.startswith("| [")]
    assert [row.split("](")[0].removeprefix("| [") for row in rows] == NAMES
    for name, row in zip(NAMES, rows, strict=True):
        assert bug(name).SOURCE in row
