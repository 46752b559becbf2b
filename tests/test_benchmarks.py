import ast
import subprocess
from pathlib import Path

import pytest

from benchmarks.__main__ import FOLDER, LONG, TOOLS, main

MODULES = sorted(FOLDER.glob("[!_]*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_benchmark_says_what_it_measures_and_can_be_run(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert (ast.get_docstring(tree) or "").partition("\n")[0].endswith(".")
    assert "main" in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_those_that_are_set_apart_are_there() -> None:
    assert {path.stem for path in MODULES} >= LONG | TOOLS


@pytest.mark.parametrize(
    ("names", "left_out"), [([], LONG | TOOLS), (["all"], TOOLS)], ids=["no name", "all"]
)
def test_the_long_ones_are_run_when_they_are_asked_for(
    names: list[str], left_out: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run: list[str] = []

    def note(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        run.append(command[-1].removeprefix("benchmarks."))
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", note)
    assert main(names) == 0
    assert run == [path.stem for path in MODULES if path.stem not in left_out]


def test_an_unknown_benchmark_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sundials"]) == 2
    assert "There is no benchmark sundials; there are" in capsys.readouterr().out
