"""`pytest --nbval-lax`, in strict mode, fails where `grader check` does."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import nbformat
import pytest

from corpus.readers.places import PROJECT
from grader.authoring.blank import fill
from grader.authoring.source import checked_gradients
from grader.submission.answer_cells import role_comments

pytestmark = pytest.mark.tools

ANSWERS = PROJECT / "corpus" / "answers" / "ex1"
RAISING = "a line that raises"


def run(folder: Path, *words: str, strict: bool = True) -> str:
    """A command in a folder; what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**os.environ, "GRADER_STRICT": "1" if strict else ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def failed_cells(folder: Path, strict: bool = True) -> dict[int, str]:
    """The code cells that fail in pytest, by their numbers among the code cells; what it says."""
    words = ("-p", "no:cacheprovider", "--nbval-lax", "--junitxml", "nbval.xml", "work.ipynb")
    run(folder, "pytest", *words, strict=strict)
    cases = list(ET.parse(folder / "nbval.xml").getroot().iter("testcase"))
    assert all(case.get("name") == f"Cell {number}" for number, case in enumerate(cases))
    failures = {number: case.find("failure") for number, case in enumerate(cases)}
    return {n: found.text or "" for n, found in failures.items() if found is not None}


def text_of(answers: str) -> str:
    if answers != RAISING:
        return (ANSWERS / f"{answers}.py").read_text(encoding="utf-8")
    right = text_of("right/lecture")
    assert right.count("dW2 = h.T @") == 1
    return right.replace("dW2 = h.T @", "dW2 = h @")


@pytest.mark.parametrize(
    "answers",
    ["right/lecture", "samples/half_done", "samples/one_fault", RAISING, None],
)
def test_the_check_cells_that_fail_are_those_with_a_gradient_that_does_not_pass(
    answers: str | None, tmp_path: Path
) -> None:
    blank = nbformat.read(PROJECT / "notebooks/01_atomic_backprop.ipynb", as_version=4)
    notebook = blank if answers is None else fill(blank, text_of(answers))
    nbformat.write(notebook, tmp_path / "work.ipynb")
    report: dict[str, Any] = json.loads(run(tmp_path, "grader", "check", "--json", "work.ipynb"))
    passed = {g["name"] for g in report["gradients"] if g["verdict"] == "pass"}
    everything = [gradient["name"] for gradient in report["gradients"]]

    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    checks = {
        number: checked_gradients(source) or everything
        for number, source in enumerate(code)
        if "check(" in source
    }
    assert sum(map(len, checks.values())) >= 2 * len(everything)  # a cell each, then all at once
    failed = failed_cells(tmp_path)
    assert {n for n in failed if n in checks} == {n for n, g in checks.items() if set(g) - passed}
    for number in failed.keys() & checks.keys():
        assert "Traceback (most recent call last)" not in failed[number]
        sentence = failed[number].strip().splitlines()[-1]
        assert sentence.startswith("Not every gradient of this check passes: ")
        assert {f for f in checks[number] if f"{f} (" in sentence} == set(checks[number]) - passed
    # What else fails is an answer of the student's own that raises.
    others = {next(role_comments(code[n]))[0] for n in failed.keys() - checks.keys()}
    assert others <= {"answer"}
    assert bool(others) is (answers == RAISING)


def test_without_strict_mode_a_notebook_with_mistakes_runs_through(tmp_path: Path) -> None:
    blank = nbformat.read(PROJECT / "notebooks/01_atomic_backprop.ipynb", as_version=4)
    nbformat.write(fill(blank, text_of("samples/one_fault")), tmp_path / "work.ipynb")
    assert failed_cells(tmp_path, strict=False) == {}
