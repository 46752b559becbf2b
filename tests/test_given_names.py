"""A notebook's own cells give an answer the modules that the check gives it."""

from __future__ import annotations

import ast
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

from corpus.readers.places import NOTEBOOKS
from grader.answer.cell_source import hide_magics
from grader.authoring.source import role_of
from grader.worker.execution import GIVEN

MODULES = {name for name, value in GIVEN.items() if isinstance(value, ModuleType)}
BLANKS = sorted([*NOTEBOOKS.glob("*.ipynb"), *NOTEBOOKS.glob("encore/*.ipynb")])


@pytest.mark.parametrize("path", BLANKS, ids=lambda path: path.stem)
def test_what_passes_the_check_runs_in_the_notebook(path: Path) -> None:
    imported = set[str]()
    for cell in nbformat.read(path, as_version=4).cells:
        role = role_of(cell)
        if role and role.kind == "answer":
            break
        if cell.cell_type == "code":
            nodes = ast.walk(ast.parse(hide_magics(cell.source)))
            imports = (n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom))
            imported |= {alias.asname or alias.name for node in imports for alias in node.names}
    assert imported >= MODULES
