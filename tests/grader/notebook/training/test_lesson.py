"""What notebook 4's cells say, with an answer in place of a running notebook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from corpus.readers.lecture_course import TRAINING
from grader.execution.runner import Runner
from grader.notebook.running_notebook import Lesson, NotInTheLesson
from grader.notebook.training import lesson as training_lesson
from grader.notebook.training.first_prints import SHOWN
from grader.notebook.training.lesson import check_training, my_backward, show_code
from grader.program.instances import HIDDEN_SIZES
from makemore_data import begin_run
from makemore_data.training.train import train_steps
from tests.helpers.exercise_four import as_cells, right_answer, with_mistake

Answer = Callable[[str], None]


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch, runner: Runner) -> Answer:
    """Makes a text the answer of the notebook that seems to run."""

    def put(text: str) -> None:
        lesson = Lesson({}, as_cells(text), TRAINING)
        monkeypatch.setattr(training_lesson, "open_lesson", lambda prefix: lesson)

    monkeypatch.setattr(training_lesson, "worker", lambda: runner)
    monkeypatch.setattr("grader.notebook.running_notebook.worker", lambda: runner)
    return put


def test_the_exercise_is_the_one_that_trains(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def not_here(prefix: str) -> Lesson:
        raise NotInTheLesson(f"{prefix} is not here")

    monkeypatch.setattr(training_lesson, "open_lesson", not_here)
    monkeypatch.setattr(training_lesson, "training", lambda: replace(TRAINING, prefix="t7"))
    check_training()
    my_backward()
    assert capsys.readouterr().out == "t7 is not here\n" * 2


@pytest.mark.slow
def test_a_right_answer_trains_as_autograd_does(
    answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(right_answer())
    check_training()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(HIDDEN_SIZES)
    assert all(line.startswith("100 steps, a ") and line.endswith("| pass") for line in lines)


def test_a_blank_is_to_do(answer: Answer, capsys: pytest.CaptureFixture[str]) -> None:
    answer(with_mistake("dh = dlogits @ W2.T", "dh = ...  # your turn"))
    check_training()
    assert capsys.readouterr().out == "training        | to do: dh\n"
    assert my_backward() is None
    assert capsys.readouterr().out == "to do: dh\n"


@pytest.mark.slow
def test_a_mistake_is_said_with_where_to_mend_it(
    answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(with_mistake("dh = dlogits @ W2.T", "dh = -dlogits @ W2.T"))
    check_training()
    lines = capsys.readouterr().out.splitlines()
    assert [line.endswith("| fail") for line in lines] == [True, False] * (
        1 + len(HIDDEN_SIZES)
    ) + [False]
    assert lines[1].startswith("  At step 1, dC, dW1, ")
    assert lines[-1] == "Mend dh first: see the check above."


@pytest.mark.parametrize(
    ("mistake", "named"),
    [
        ("dh = -dlogits @ W2.T", "dh (fail)"),
        ("dh = dlogits @ W2", "dh (error)"),
        ("dh = torch.autograd.grad(loss, h)[0]", "dh (refused)"),
    ],
)
def test_a_wrong_answer_becomes_a_function_only_when_told_to(
    answer: Answer,
    capsys: pytest.CaptureFixture[str],
    mistake: str,
    named: str,
) -> None:
    answer(with_mistake("dh = dlogits @ W2.T", mistake))
    assert my_backward() is None
    assert capsys.readouterr().out == (
        f"Not yet a function: mend {named} first, see the check above. To train with the mistake,"
        " call my_backward(anyway=True).\n"
    )
    backward = my_backward(anyway=True)
    assert backward is not None
    assert backward.__doc__ == f"This function has a mistake in it: {named}."
    assert capsys.readouterr().out == f"{backward.__doc__}\n"


def test_what_cannot_stand_in_a_function_is_said(
    answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(with_mistake("dh = ", "from math import *\ndh = "))
    assert my_backward() is None
    assert "does not accept `from math import *`" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("line", ["from math import *", "import math as dcount"])
def test_training_takes_what_a_cell_may_hold(
    answer: Answer, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    answer(with_mistake("dh = ", f"{line}\ndh = "))
    check_training()
    assert all(text.endswith("| pass") for text in capsys.readouterr().out.splitlines())


def test_autograd_is_refused(answer: Answer, capsys: pytest.CaptureFixture[str]) -> None:
    answer(with_mistake("db2 = dlogits.sum(0)", "db2 = torch.autograd.grad(loss, b2)[0]"))
    check_training()
    said = capsys.readouterr().out
    assert said == "training        | refused: autograd was asked for db2\n"


def test_a_cell_that_is_not_python_is_said_to_be_so(
    answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(with_mistake("dh = dlogits @ W2.T", "dh = dlogits @"))
    check_training()
    assert "Python cannot read this cell" in capsys.readouterr().out


def test_outside_of_a_notebook_there_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nowhere(prefix: str) -> Lesson:
        raise NotInTheLesson("There is no notebook.")

    monkeypatch.setattr(training_lesson, "open_lesson", nowhere)
    check_training()
    assert my_backward() is None
    assert capsys.readouterr().out == "There is no notebook.\n" * 2


def test_my_backward_can_be_shown(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, str]] = []
    monkeypatch.setattr(training_lesson, "show", shown.append)
    answer(right_answer())
    backward = my_backward()
    assert backward is not None
    show_code(backward)
    assert shown[0]["text/plain"].startswith("def my_backward(Xb, Yb, C, ")
    assert shown[0]["text/markdown"] == f"```python\n{shown[0]['text/plain']}\n```"


def test_a_print_in_an_answer_does_not_flood_a_training(
    answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(with_mistake("dh = dlogits @ W2.T", "dh = dlogits @ W2.T\nprint(dh.shape)"))
    backward = my_backward()
    assert backward is not None
    X = torch.arange(81).view(27, 3) % 27
    with torch.no_grad():
        train_steps(begin_run(), backward, X, X[:, 0], 20)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:SHOWN] == ["torch.Size([32, 200])"] * SHOWN
    assert lines[SHOWN:] == ["Your answer prints at every step: from here on that is left out."]
