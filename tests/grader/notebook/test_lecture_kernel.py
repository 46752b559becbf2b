"""`check()` and the others where the lecture's own notebook runs, without a tag in it."""

import nbformat
import pytest
from nbclient import NotebookClient

from tests.grader.notebook.test_lesson import named
from tests.helpers.lecture_notebook import (
    BATCH,
    CHEAP,
    EXERCISE_1,
    EXERCISE_2,
    FORWARD,
    NORM,
    SETUP,
)

PARAMETERS = """\
import warnings
warnings.simplefilter("ignore")
Xtr, Ytr = torch.randint(0, 27, (500, 3)), torch.randint(0, 27, (500,))
C, W1, b1 = torch.randn(27, 10), torch.randn(30, 64) / 5, torch.randn(64)
W2, b2 = torch.randn(64, 27) / 8, torch.randn(27)
bngain, bnbias = torch.randn(1, 64), torch.randn(1, 64)
parameters = [C, W1, b1, W2, b2, bngain, bnbias]
for p in parameters:
    p.requires_grad = True"""

SCRIPT = {
    "setup": SETUP.replace("%matplotlib inline", "torch.manual_seed(1)"),
    "parameters": PARAMETERS,
    "batch": BATCH,
    "forward": FORWARD,
    "wrong": EXERCISE_1.replace("= -0.5", "= 0.5"),
    "check": "from grader import board, check, heat_map, nudge\ncheck()",
    "board": "board()",
    "nudge": "nudge('dC', 3, 5)",
    "cheap": CHEAP,
    "another exercise": EXERCISE_2,
    "check another": "check()",
    "check one of the first": "check('dbnvar')",
    "norm": NORM,
    "blank": "dhprebn = None",
    "check blank": "check()",
    "board of the first": "board('ex1')",
    "batch again": BATCH,
    "forward again": FORWARD,
    "check old": "check('dhpreact')",
}


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    """What each cell prints, and shows in words."""
    cells = [nbformat.v4.new_code_cell(source) for source in SCRIPT.values()]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return {
        name: "\n".join(
            output.get("text") or output.get("data", {}).get("text/plain", "")
            for output in cell.outputs
        )
        for name, cell in zip(SCRIPT, notebook.cells, strict=True)
    }


def test_the_cell_with_gradients_that_ran_last_is_checked(printed: dict[str, str]) -> None:
    outcomes = named(printed["check"])
    assert len(outcomes) == 26
    assert outcomes["dbnvar"] == "fail"
    assert outcomes["dhprebn"] == "carried"
    assert outcomes["dbnmeani"] == "pass"  # what comes through the variance sums to zero
    assert "✗ fail: dbnvar (cell 5, line 16)" in printed["check"]
    assert "`0.5` has the wrong sign here." in printed["check"]
    assert [*named(printed["check another"])] == ["dlogits"]


def test_a_gradient_by_name_is_looked_for_in_all_exercises(printed: dict[str, str]) -> None:
    assert "✗ fail: dbnvar (cell 5, line 16)" in printed["check one of the first"]


def test_what_is_to_do_has_no_value_of_another_exercise(printed: dict[str, str]) -> None:
    assert printed["check blank"].split() == ["…", "to", "do:", "dhprebn"]


def test_a_value_of_an_earlier_batch_is_said(printed: dict[str, str]) -> None:
    assert "run your cells again from the top down" in printed["check old"]


def test_the_others_work_too(printed: dict[str, str]) -> None:
    assert "fail: dbnvar" in printed["board"]
    assert "fail: dbnvar" in printed["board of the first"]
    assert "autograd" in printed["nudge"]
