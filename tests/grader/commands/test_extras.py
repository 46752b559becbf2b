"""Where the packages of an extra are missing, the commands that need them say which extra it is."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from grader import cli
from grader.commands import exit_codes
from grader.commands.extras import PACKAGES
from tests.grader.authoring.draft import forwards

FORWARD = forwards.__file__ or ""
COMMANDS = {
    "grader new": ("author", "nbformat", [FORWARD]),
    "grader build": ("author", "ipykernel", ["norms"]),
    "grader export otter": ("author", "jupytext", ["--course", "norms", "--out", "out"]),
    "grader export gradescope": ("grade", "filelock", ["--notebook", "01"]),
    "grader grade": ("grade", "yaml", ["class", "--out", "gradebook"]),
    "grader grade --scheduler": ("dask", "distributed", ["tcp://nowhere:1", "class", "--out", "g"]),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_names_the_extra_that_it_needs(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    extra, package, arguments = COMMANDS[command]
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new", FORWARD, "--out", "norms"]) == exit_codes.PASSED
    capsys.readouterr()
    before = sorted(Path().rglob("*"))
    monkeypatch.setitem(sys.modules, package, None)
    assert cli.main([*command.split()[1:], *arguments]) == exit_codes.UNREADABLE
    said = f"{package} is missing: `{command}` needs `pip install 'backprop-ninja[{extra}]'`.\n"
    assert capsys.readouterr().err == said
    assert sorted(Path().rglob("*")) == before


def test_every_package_belongs_to_its_extra(project: Path) -> None:
    table = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra, modules in PACKAGES.items():
        needed = " ".join(table["optional-dependencies"][extra])
        for module in modules:
            assert module in needed, f"{module} is not part of {extra}"
