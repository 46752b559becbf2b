"""Notebook 1's last cell: answers that pass take the steps that autograd would take."""

from __future__ import annotations

import pytest
import torch

from corpus.readers.exercise_text import read_cells, right_answers
from corpus.readers.lecture_course import ATOMIC
from grader import train_with_my_answers
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.notebook.running_notebook import Lesson
from grader.notebook.training.answers_train import STEPS
from grader.notebook.training.first_prints import SHOWN
from makemore_data import atomic, begin_run, build_splits
from makemore_data.model.parameters import Parameters

(X, Y), _, _ = build_splits(["emma", "olivia", "ava", "isabella", "sophia", "mia", "ninja"] * 9, 3)
"""Some windows to train on."""


def lesson_with(monkeypatch: pytest.MonkeyPatch, runner: Runner, answers: str) -> None:
    """Make a text the answer of the notebook that seems to run."""
    cells = tuple(AnswerCell(grade_id, source) for grade_id, source in read_cells(answers))
    lesson = Lesson({}, cells, ATOMIC)
    monkeypatch.setattr("grader.notebook.training.answers_train.open_lesson", lambda prefix: lesson)
    monkeypatch.setattr("grader.notebook.running_notebook.worker", lambda: runner)


@pytest.mark.parametrize("style", ["lecture", "greek_names", "functional_tools", "recursion"])
def test_a_step_is_autograds(monkeypatch: pytest.MonkeyPatch, runner: Runner, style: str) -> None:
    lesson_with(monkeypatch, runner, right_answers()[style])
    run = train_with_my_answers(X, Y, seconds=0)
    assert run is not None
    assert run.step == 1

    other = begin_run(ATOMIC.sizes["n_hidden"])
    ix = torch.randint(0, X.shape[0], (32,), generator=other.generator)
    watched = [p.clone().requires_grad_() for p in other.parameters]
    gradients = torch.autograd.grad(atomic(X[ix], Y[ix], *watched), watched)
    for name, ours, before, gradient in zip(
        Parameters._fields, run.parameters, other.parameters, gradients, strict=True
    ):
        assert torch.allclose(ours, before - 0.1 * gradient, atol=1e-6), name


def test_whoever_only_tests_the_notebook_trains_for_fewer_steps(
    monkeypatch: pytest.MonkeyPatch, runner: Runner
) -> None:
    monkeypatch.setenv(STEPS, "5")
    lesson_with(monkeypatch, runner, right_answers()["lecture"])
    run = train_with_my_answers(X, Y, seconds=3600)
    assert run is not None
    assert run.step == 5


def test_while_something_is_to_do_nothing_is_trained(
    monkeypatch: pytest.MonkeyPatch, runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    text = right_answers()["lecture"]
    assert text.count("dh = dlogits @ W2.T") == 1
    lesson_with(monkeypatch, runner, text.replace("dh = dlogits @ W2.T", "dh = -dlogits @ W2.T"))
    assert train_with_my_answers(X, Y, seconds=0) is None
    assert capsys.readouterr().out == "to do: the training waits for dh\n"


def test_a_print_in_an_answer_does_not_flood_the_training(
    monkeypatch: pytest.MonkeyPatch, runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    text = right_answers()["lecture"]
    line = "dh = dlogits @ W2.T"
    lesson_with(monkeypatch, runner, text.replace(line, f"{line}\nprint('dh', dh.shape)"))
    run = train_with_my_answers(X, Y, seconds=0.5)
    assert run is not None
    assert run.step > SHOWN
    first, *shown, last = capsys.readouterr().out.splitlines()
    assert first.startswith("Training for ")
    assert shown == ["dh torch.Size([32, 64])"] * SHOWN
    assert last == "Your answer prints at every step: from here on that is left out."
