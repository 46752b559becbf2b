import ast
import inspect
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

import pytest
import torch
from torch import Tensor

from corpus.readers.places import BUGS
from grader.diagnosis.kinds import Kind
from tests.helpers.annotated_functions import SIZES, Run, definition, run

pytestmark = pytest.mark.slow

NAMES = sorted(path.stem for path in BUGS.glob("[!_]*.py"))

every_bug = pytest.mark.parametrize("name", NAMES)
every_instance = pytest.mark.parametrize("lengths", SIZES, ids=["small", "other"])


def bug(name: str) -> ModuleType:
    return import_module(f"corpus.bugs.{name}")


def returned_by(function: Callable[..., Tensor | tuple[Tensor, ...]], of: Run) -> list[Tensor]:
    arguments = {name: of.values[name] for name in inspect.signature(function).parameters}
    copies = {
        name: value.clone() if isinstance(value, Tensor) else value
        for name, value in arguments.items()
    }
    gradients = function(**copies)
    for name, value in arguments.items():
        if isinstance(value, Tensor):
            assert torch.equal(value, copies[name]), f"{name} was changed"  # type: ignore[arg-type]
    return [gradients] if isinstance(gradients, Tensor) else list(gradients)


def agrees(found: Tensor, expected: Tensor) -> bool:
    return found.shape == expected.shape and torch.allclose(found, expected, 1e-9, 1e-11)


def wrong_gradients(function: Callable[..., Tensor | tuple[Tensor, ...]], of: Run) -> set[str]:
    returned = zip(of.asked, returned_by(function, of), strict=True)
    return {name for name, found in returned if not agrees(found, of.gradients[name])}


def stored_in(node: ast.AST) -> list[str]:
    names = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return [name.id for name in names if isinstance(name.ctx, ast.Store)]


def wrong_by_themselves(module: ModuleType, of: Run) -> set[str]:
    """The gradients that stay wrong when all others are put right as soon as they are assigned."""
    *lines, _ = definition(module.backward).body
    wrong = set()
    for judged in {name for line in lines for name in stored_in(line)} & of.gradients.keys():
        scope = {**vars(module), **of.values}
        for line in lines:
            exec(compile(ast.Module([line], []), "<backward>", "exec"), scope)
            for name in {*stored_in(line)} & of.gradients.keys() - {judged}:
                scope[name] = of.gradients[name]
        if not agrees(scope[judged], of.gradients[judged]):
            wrong.add(judged)
    return wrong


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
    assert wrong_gradients(module.backward, result) == said & {*result.asked}
    assert said & {*result.asked}
    assert wrong_by_themselves(module, result) == {*module.WRONG}


def test_the_kinds_are_those_of_the_diagnosis() -> None:
    for name in NAMES:
        kinds = bug(name).KINDS
        assert kinds
        assert set(kinds) <= {kind.value for kind in Kind}


def test_the_table_names_every_bug_once_with_its_source() -> None:
    table = (BUGS / "README.md").read_text(encoding="utf-8")
    rows = [line for line in table.splitlines() if line.startswith("| [")]
    assert [row.split("](")[0].removeprefix("| [") for row in rows] == NAMES
    for name, row in zip(NAMES, rows, strict=True):
        assert bug(name).SOURCE in row
