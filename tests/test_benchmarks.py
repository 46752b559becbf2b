import ast
from pathlib import Path

import pytest

from benchmarks.__main__ import FOLDER, main

MODULES = sorted(FOLDER.glob("[!_]*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_benchmark_says_what_it_measures_and_can_be_run(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert (ast.get_docstring(tree) or "").partition("\n")[0].endswith(".")
    assert "main" in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_an_unknown_benchmark_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sundials"]) == 2
    assert "There is no benchmark sundials; there are" in capsys.readouterr().out
