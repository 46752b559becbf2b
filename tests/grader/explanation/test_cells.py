"""A forward pass and its backward pass, read off a notebook's cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from IPython.core.interactiveshell import InteractiveShell
from torch import Tensor
from traitlets.config import Config

from grader.explanation.magic import explain_cell
from grader.reports import wording
from grader.user_error import BadInput

SETUP = """\
n, d, k = 5, 4, 3
x = torch.randn(n, d)
y = torch.randint(k, (n,))
W = torch.randn(d, k, requires_grad=True)
b = torch.zeros(k, requires_grad=True)"""

FORWARD = """\
z = x @ W + b
p = F.softmax(z, 1)
for t in (z, p):
    t.retain_grad()
loss = -p[range(n), y].log().mean()
loss.backward()"""

RIGHT = """\
dz = p / n
dz[range(n), y] -= 1 / n
dW = x.T @ dz
db = dz.sum(0)"""


def run(*cells: str) -> dict[str, Any]:
    """The names of a notebook that has run these cells."""
    names: dict[str, Any] = {"torch": torch, "F": F}
    torch.manual_seed(1)
    for cell in cells:
        exec(cell, names)
    return names


def outcomes(backward: str, forward: str = FORWARD, result: str = "loss") -> dict[str, str]:
    """The outcome of each gradient of a cell."""
    cells = [SETUP, forward]
    explanation = explain_cell(cells, backward, run(*cells, backward), result)
    return {one.name: str(one.outcome) for one in explanation.verdicts}


def test_a_right_backward_pass_passes() -> None:
    assert outcomes(RIGHT) == {"dz": "pass", "dW": "pass", "db": "pass"}


def test_a_wrong_line_is_told_and_what_comes_of_it_is_carried() -> None:
    assert outcomes(RIGHT.replace("-= 1 / n", "-= 1")) == {
        "dz": "fail",
        "dW": "carried",
        "db": "carried",
    }


def test_sizes_vary_where_the_code_allows_it() -> None:
    written_in = RIGHT.replace("1 / n", "1 / 5")
    cells = [SETUP, FORWARD]
    explanation = explain_cell(cells, written_in, run(*cells, written_in), "loss")
    assert explanation.verdicts[0].diagnosis[0].message.startswith("5 is written in.")
    fixed = FORWARD.replace("range(n)", "range(5)")
    assert outcomes(written_in, fixed)["dz"] == "pass"


def test_the_numbers_shown_are_the_notebooks() -> None:
    cells = [SETUP, FORWARD]
    names = run(*cells, RIGHT)
    explanation = explain_cell(cells, RIGHT, names, "loss")
    assert explanation.live["dW"].approximate
    assert explanation.live["dW"].shape == (4, 3)
    assert isinstance(names["dW"], Tensor)
    names["dW"] = names["dW"] + 1
    explanation = explain_cell(cells, RIGHT, names, "loss")
    assert not explanation.live["dW"].approximate
    assert explanation.verdicts[1].outcome == "pass"
    assert "Your code gives the right value, but the notebook has another" in str(explanation)


def test_the_gradient_that_arrives_at_a_result_is_given() -> None:
    backward = "dz = torch.randn(5, 3)\ndW = x.T @ dz\ndb = dz.sum(0)"
    assert outcomes(backward, "z = x @ W + b", "z") == {"dW": "pass", "db": "pass"}
    wrong = backward.replace("sum(0)", "mean(0)")
    assert outcomes(wrong, "z = x @ W + b", "z")["db"] == "fail"


def test_what_the_code_makes_itself_has_the_precision_of_the_rest() -> None:
    forward = "z = x @ W\nm = torch.ones(n, n).tril() @ z\nloss = (m**2).sum()"
    backward = "dm = 2 * m\ndz = torch.ones(n, n).tril().T @ dm\ndW = x.T @ dz"
    assert outcomes(backward, forward) == {"dm": "pass", "dz": "pass", "dW": "pass"}


def test_what_cannot_be_read_becomes_an_input() -> None:
    forward = "z = x @ W\nz += b\nloss = (z**2).mean()"
    backward = "dz = 2 * z / z.numel()"
    cells = [SETUP, forward]
    explanation = explain_cell(cells, backward, run(*cells, backward), "loss")
    assert explanation.ok
    assert explanation.remarks == ("`z += b` cannot be read as a step, so `z` is an input here.",)
    assert wording.note(explanation.verdicts[0]) == ""


def test_without_a_forward_pass_one_sentence_says_so() -> None:
    with pytest.raises(BadInput, match="No cell that ran computes loss in a line of its own"):
        explain_cell([SETUP], RIGHT, run(SETUP), "loss")


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """An IPython of its own, which leaves nothing behind."""
    in_memory = Config({"HistoryManager": {"hist_file": ":memory:"}})
    yield InteractiveShell.instance(config=in_memory)
    InteractiveShell.clear_instance()


def test_the_magic_runs_the_cell_and_tells_what_there_is_to_tell(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_line_magic("load_ext", "grader")
    for cell in ("import torch\nimport torch.nn.functional as F", SETUP, FORWARD):
        assert shell.run_cell(cell, store_history=True).success  # type: ignore[no-untyped-call]
    capsys.readouterr()
    shell.run_cell(f"%%backward\n{RIGHT.replace('sum(0)', 'mean(0)')}", store_history=True)  # type: ignore[no-untyped-call]
    said = capsys.readouterr().out
    assert "✓ pass: dW | exact:" in said
    assert "`mean` is the wrong function here." in said
    assert "db" in shell.user_ns
    assert "2 of 3 points, 1 to mend" in said
    assert "fail: db (the cell, line 5)" in said  # the magic's own line is the first
    shell.run_cell("import grader\ngrader.explain()", store_history=True)  # type: ignore[no-untyped-call]
    assert said.strip().endswith(capsys.readouterr().out.partition("]: ")[2].strip())
    shell.run_cell("%%backward\ndb = 2 *", store_history=True)  # type: ignore[no-untyped-call]
    assert "grader" not in "".join(capsys.readouterr())


def test_what_a_cell_only_shows_is_not_run_again(capsys: pytest.CaptureFixture[str]) -> None:
    backward = RIGHT.replace("dW =", "print(1); dW =")
    assert outcomes(backward) == {"dz": "pass", "dW": "pass", "db": "pass"}
    assert capsys.readouterr().out == "1\n"
