"""The lesson's functions in real notebooks."""

import base64
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from grader.exercises import ATOMIC
from grader.program import body_source
from tests.exercise_text import read_cells, right_answers

CELLS = dict(read_cells(right_answers()["lecture"]))
SETUP = (
    "import torch\nimport torch.nn.functional as F\nfrom grader import board, check, cmp, heat_map"
)
INPUTS = """\
torch.manual_seed(1)
n_embd, n_hidden, vocab_size, block_size = 10, 64, 27, 3
Xb, Yb = torch.randint(27, (32, 3)), torch.randint(27, (32,))
C, W1, b1 = torch.randn(27, 10), torch.randn(30, 64) / 5, torch.randn(64)
bngain, bnbias = torch.randn(1, 64), torch.randn(1, 64)
W2, b2 = torch.randn(64, 27) / 8, torch.randn(27)
"""
FORWARD = body_source(ATOMIC.forward)
LINEAR2 = CELLS["ex1-linear2"]
WRONG = LINEAR2.replace("dh = dlogits", "dh = 2 * dlogits")
RAISING = LINEAR2.replace("dh = dlogits @ W2.T", "dh = dlogits @ W2")
BLANK = "# answer: ex1-linear2\ndh = ...  # your turn\ndW2 = ...\ndb2 = ..."
PASS = "| exact: True  | approximate: True  | maxdiff: 0.0 | pass"

SCRIPT = {
    "setup": SETUP,
    "before anything": "check('dh')",
    "board before anything": "board()",
    "inputs": INPUTS,
    "forward": FORWARD,
    "not started": "check('dlogprobs')",
    "late section": CELLS["ex1-softmax"],
    "early section": CELLS["ex1-loss"],
    "late section again": CELLS["ex1-softmax"],
    "jumped": "check('dlogprobs', 'dprobs', 'counts')",
    "max": CELLS["ex1-max"],
    "blank": BLANK,
    "check blank": "check('dh')",
    "heat map of nothing": "heat_map('dh')",
    "wrong": WRONG,
    "check wrong": "check('dh', 'db2')",
    "heat map of wrong": "heat_map('h')",
    "wrong shape": "keep, dh = dh, dh.T\nheat_map('dh')\ndh = keep",
    "tanh": CELLS["ex1-tanh"],
    "check carried": "check('dhpreact')",
    "raising": RAISING,
    "check raising": "check('dh')",
    "right": LINEAR2,
    "check right": "check('dh', 'W2')",
    "check stale": "check('dhpreact')",
    "heat map of right": "heat_map('dW2')",
    "set outside": "dbngain = torch.ones(1, 64)",
    "check outside": "check('dbngain')",
    "unknown": "check('dnothing', 'dh')",
    "unknown heat map": "heat_map('dnothing')",
    "no string": "check(dh)",
    "without gradients": "with torch.no_grad(): check('dh')",
    "changed input": "keep, W1 = W1, None\ncheck('dh')\nW1 = keep",
    "missing input": "keep = W1\ndel W1\ncheck('dh')\nW1 = keep",
    "all": "check()",
    "board": "board()",
    "value": "result = check('dh')\nresult",
}


def execute(
    script: dict[str, str], project: Path, store_history: bool = True
) -> dict[str, list[Any]]:
    """Run the cells in one kernel; their outputs, by the cells' keys."""
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in script.values()]
    resources = {"metadata": {"path": str(project)}}
    client = NotebookClient(
        notebook, kernel_name="python3", resources=resources, allow_errors=True, timeout=120
    )
    with client.setup_kernel():
        for number, cell in enumerate(notebook.cells):
            client.execute_cell(cell, number, store_history=store_history)
    return {key: cell.outputs for key, cell in zip(script, notebook.cells, strict=True)}


@pytest.fixture(scope="module")
def outputs() -> dict[str, list[Any]]:
    return execute(SCRIPT, Path(__file__).parents[2])


def text(outputs: list[Any]) -> str:
    assert all(output.output_type == "stream" for output in outputs), outputs
    return "".join(output.text for output in outputs)


def picture(outputs: list[Any]) -> str:
    """The words that go with the one picture that was shown."""
    (output,) = outputs
    assert base64.b64decode(output.data["image/png"]).startswith(b"\x89PNG")
    words: str = output.data["text/plain"]
    return words


def test_nothing_ends_in_a_traceback(outputs: dict[str, list[Any]]) -> None:
    errors = [key for key, shown in outputs.items() if any(o.output_type == "error" for o in shown)]
    # The student's own exceptions, in the student's own cells.
    assert errors == ["late section", "raising"]


NOT_STARTED = "run the cells from the top down to the forward pass."
OUTSIDE = "dbngain has a value, but no answer cell you ran assigns it"
STALE = "Your code is right, but the value in the notebook is not what it gives now"


@pytest.mark.parametrize(
    ("key", "lines"),
    [
        ("before anything", ["Xb, Yb, C, W1, b1, bngain, bnbias, W2, b2 is not defined: "]),
        ("not started", ["dlogprobs       | to do"]),
        ("jumped", [f"{name:15s} {PASS}" for name in ("dlogprobs", "dprobs", "dcounts")]),
        ("check blank", ["dh              | to do"]),
        (
            "check wrong",
            [
                "dh              | exact: False | approximate: False",
                "  ex1-linear2, line 2: dh = 2 * dlogits @ W2.T",
                "  This is not the gradient of the loss with respect to h.",
                f"{'db2':15s} {PASS}",
            ],
        ),
        (
            "check carried",
            [
                "dhpreact        | exact: False | approximate: False",
                "  Right by itself; what it was handed is not: see dh.",
            ],
        ),
        (
            "check raising",
            [
                "dh              | error",
                "  ex1-linear2, line 2: dh = dlogits @ W2",
                "  This line raised RuntimeError: mat1 and mat2 shapes",
            ],
        ),
        ("check right", [f"dh              {PASS}", f"dW2             {PASS}"]),
        ("check stale", ["dhpreact        | exact: False", f"  {STALE}"]),
        ("check outside", ["dbngain         | exact: False", f"  {OUTSIDE}"]),
        ("unknown", ["dnothing is no gradient of this exercise; it asks for dlogprobs, "]),
        ("unknown heat map", ["dnothing is no gradient of this exercise; it asks for dlogprobs, "]),
        ("no string", ['Give gradients by name, in quotes: check("dlogits").']),
        ("without gradients", [f"dh              {PASS}"]),
        ("changed input", ["The forward pass does not run with the notebook's Xb, Yb, "]),
        ("missing input", [f"W1 is not defined: {NOT_STARTED}"]),
        ("heat map of nothing", ["dh has no value in this notebook yet: there is nothing"]),
        ("value", [f"dh              {PASS}"]),
    ],
)
def test_what_is_printed(outputs: dict[str, list[Any]], key: str, lines: list[str]) -> None:
    printed = text(outputs[key]).splitlines()
    assert len(printed) == len(lines), printed
    for line, beginning in zip(printed, lines, strict=True):
        assert line.startswith(beginning)


@pytest.mark.parametrize(
    ("key", "verdict"),
    [("check wrong", "fail"), ("check carried", "carried"), ("check raising", "error")],
)
def test_the_verdict_ends_the_line(outputs: dict[str, list[Any]], key: str, verdict: str) -> None:
    assert text(outputs[key]).splitlines()[0].endswith(f" | {verdict}")


def test_without_names_every_gradient_is_checked(outputs: dict[str, list[Any]]) -> None:
    names = [line.split(" ")[0] for line in text(outputs["all"]).splitlines() if line[0] != " "]
    assert tuple(names) == ATOMIC.gradients


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("board before anything", "0 of 26 gradients pass."),
        ("board", "12 of 26 gradients pass."),
        ("heat map of wrong", "dh: largest error "),
        ("wrong shape", "dh has shape (64, 32), but a gradient has its tensor's shape, (32, 64)."),
        ("heat map of right", "dW2: "),
    ],
)
def test_pictures_come_with_words(outputs: dict[str, list[Any]], key: str, words: str) -> None:
    assert picture(outputs[key]).startswith(words)


def test_the_heat_map_of_a_right_gradient_says_so(outputs: dict[str, list[Any]]) -> None:
    words = picture(outputs["heat map of right"])
    assert "right, up to rounding" in words or "equal to the reference" in words


def test_cells_that_are_run_without_being_stored_count_too(project: Path) -> None:
    script = {
        "setup": SETUP,
        "inputs": INPUTS,
        "forward": FORWARD,
        "first try": CELLS["ex1-loss"].replace("-1", "-2"),
        "answer": CELLS["ex1-loss"],
        "check": "check('dlogprobs')",
    }
    outputs = execute(script, project, store_history=False)
    assert text(outputs["check"]) == f"dlogprobs       {PASS}\n"


def test_outside_of_a_notebook_there_is_a_sentence(project: Path) -> None:
    code = "from grader import board, check, heat_map; check('dh'); board(); heat_map('dh')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert all("`grader check`" in line for line in lines)
