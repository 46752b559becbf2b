import contextlib
from pathlib import Path
from typing import Any

import pytest

from benchmarks.grade_peers import Pace, marginal
from benchmarks.peers.assignment import comparison_of, notebook
from benchmarks.peers.otter_course import TEST
from benchmarks.students import Paper
from corpus.readers.exercise_text import GRADIENTS, right_answers
from grader.submission.answer_cells import find_answer_cells
from grader.submission.notebook_file import cells_in


def run(with_answers: str) -> dict[str, bool]:
    """Whether each gradient's test passes, once all cells have run, whatever they raise."""
    filled = Paper.of(notebook(with_tests=False)).filled(with_answers, "somebody").encode()
    names: dict[str, Any] = {}
    for cell in cells_in(filled, Path("a.ipynb")):
        if cell.kind == "code":
            with contextlib.suppress(Exception):
                exec(cell.source or "", names)
    passed = {}
    for gradient in GRADIENTS:
        try:
            exec(comparison_of(gradient), names)
        except Exception:
            passed[gradient] = False
        else:
            passed[gradient] = True
    return passed


@pytest.mark.parametrize("style", ["lecture", "einsum", "one_hot"])
def test_a_right_answer_passes_the_tests_that_the_peers_are_given(style: str) -> None:
    assert run(right_answers()[style]) == dict.fromkeys(GRADIENTS, True)


def test_a_faulty_answer_fails_and_so_does_a_blank_one() -> None:
    faulty = right_answers()["lecture"].replace("db2 = dlogits.sum(0)", "db2 = dlogits.sum(1)")
    assert [gradient for gradient, passed in run(faulty).items() if not passed] == ["db2"]
    assert run("") == dict.fromkeys(GRADIENTS, False)


def test_the_peers_notebook_has_a_test_for_each_gradient_after_its_answer() -> None:
    cells = [cell["metadata"].get("nbgrader", {}) for cell in notebook(with_tests=True)["cells"]]
    tests = [cell["grade_id"] for cell in cells if cell.get("grade")]
    assert tests == [f"test-{gradient}" for gradient in GRADIENTS]
    assert sum(cell.get("points", 0) for cell in cells) == len(GRADIENTS)


def test_the_grader_takes_the_peers_notebook_for_notebook_1() -> None:
    filled = Paper.of(notebook(with_tests=True)).filled(right_answers()["lecture"], "somebody")
    found = find_answer_cells(cells_in(filled.encode(), Path("a.ipynb")))
    assert len(found) == 10
    assert {grade_id.partition("-")[0] for grade_id, _ in found} == {"ex1"}


def test_otters_tests_are_python() -> None:
    for gradient in GRADIENTS:
        text = TEST.format(gradient=gradient, tensor=gradient[1:], test=comparison_of(gradient))
        compile(text, f"{gradient}.py", "exec")
        assert f"def test_gradient({gradient}, {gradient[1:]}):" in text


def test_start_up_drops_out_of_amarginal_cost() -> None:
    runs = [(10, 5.0 + 10 * 2.0), (40, 5.0 + 40 * 2.0)]
    assert marginal(runs) == 2.0
    assert "2.000 s a submission (10 in 25.0 s, 40 in 85.0 s)" in str(
        Pace("a peer", tuple(runs), marginal(runs))
    )
