"""The answer cells among what a kernel ran."""

from types import SimpleNamespace
from typing import Any

import pytest

from grader.answer import AnswerCell
from grader.exercises import ATOMIC
from grader.history import History, in_order, latest_answers


class Shell:
    """As much of an IPython shell as the history follows."""

    def __init__(self, *stored: str) -> None:
        self.history_manager = SimpleNamespace(input_hist_raw=["", *stored])
        self.events = self
        self.callbacks: list[Any] = []

    def register(self, event: str, callback: Any) -> None:
        assert event == "pre_run_cell"
        self.callbacks.append(callback)

    def run(self, source: str) -> None:
        for callback in self.callbacks:
            callback(SimpleNamespace(raw_cell=source))


def test_history_begins_with_what_is_stored_and_goes_on() -> None:
    shell, history = Shell("a = 1"), History()
    history.follow(shell)
    shell.run("b = 2")
    assert history.sources == ["", "a = 1", "b = 2"]


@pytest.mark.parametrize(
    ("source", "grade_id"),
    [
        ("# answer: ex1-loss\na = 1", "ex1-loss"),
        ("\n\n  #answer:ex1-loss  \r\na = 1", "ex1-loss"),
        ("# answer: ex1_loss", "ex1_loss"),
        ("a = 1\n# answer: ex1-loss", None),
        ("# answer: ex1-loss, the first try\na = 1", None),
        ("# answers: ex1-loss", None),
        ("# Answer: ex1-loss", None),
        ("'# answer: ex1-loss'", None),
        ("", None),
    ],
)
def test_an_answer_begins_with_its_comment(source: str, grade_id: str | None) -> None:
    expected = () if grade_id is None else (AnswerCell(grade_id, source),)
    assert latest_answers([source]) == expected


def test_of_each_cell_the_last_text_counts() -> None:
    sources = ["# answer: a\n1", "# answer: b\n1", "x", "# answer: a\n2"]
    cells = latest_answers(sources)
    assert [(cell.grade_id, cell.source[-1]) for cell in cells] == [("a", "2"), ("b", "1")]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2)])
def test_cells_stand_as_in_the_notebook_whatever_ran_first(order: tuple[int, ...]) -> None:
    cells = [
        AnswerCell("ex1-own", "def helper(d): return d"),
        AnswerCell("ex1-loss", "dlogprobs = ..."),
        AnswerCell("ex1-softmax", "dcounts = 1\ndprobs = (1 +"),
        AnswerCell("ex1-linear2", "dh, dW2 = 1, 2"),
    ]
    assert in_order([cells[i] for i in order], ATOMIC.gradients) == tuple(cells)
