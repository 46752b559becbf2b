"""An answer as a function."""

from __future__ import annotations

import inspect
import traceback

import pytest
import torch

from corpus.readers.lecture_course import TRAINING
from grader.notebook.training.manual_step import (
    PARAMETERS,
    Unfinished,
    backward_source,
    write_backward,
)
from grader.program.references import prepare
from tests.helpers.exercise_four import STYLES, as_cells, right_answer, with_mistake


@pytest.mark.parametrize("style", STYLES)
def test_the_function_returns_the_loss_and_the_seven_gradients(style: str) -> None:
    grounds = prepare(TRAINING)
    program, values = grounds.program, grounds.lecture.values
    backward = write_backward(TRAINING, as_cells(right_answer(style)))
    loss, gradients = backward(*(values[name] for name in program.inputs))
    assert torch.equal(loss, values["loss"])
    for name, gradient in zip(PARAMETERS, gradients, strict=True):
        assert gradient.shape == values[name].shape
        assert torch.allclose(gradient, grounds.lecture_gradients[name], atol=1e-6), name


def test_its_text_is_the_students_with_the_forward_pass_before_it() -> None:
    source = backward_source(TRAINING, as_cells(right_answer()))
    assert source.startswith("def my_backward(Xb, Yb, C, W1, b1, bngain, bnbias, W2, b2):\n")
    assert "    # tanh and batch normalisation\n    dhpreact = (1 - h**2) * dh\n" in source
    assert source.endswith("    return loss, (dC, dW1, db1, dbngain, dbnbias, dW2, db2)\n")
    assert "# answer:" not in source
    assert inspect.getsource(write_backward(TRAINING, as_cells(right_answer()))) == source


def test_marks_of_the_builder_do_not_show() -> None:
    marked = with_mistake("dh = ", "### END SOLUTION\n### BEGIN SOLUTION\ndh = ")
    assert "SOLUTION" not in backward_source(TRAINING, as_cells(marked))


def test_the_functions_names_are_the_notebooks() -> None:
    text = with_mistake("(1 - h**2) * dh", "slope_of_tanh(h) * dh")
    backward = write_backward(
        TRAINING, as_cells(text), {"torch": torch, "slope_of_tanh": lambda h: 1 - h**2}
    )
    assert backward.__globals__["slope_of_tanh"] is not None


def test_an_exception_shows_the_students_line() -> None:
    backward = write_backward(TRAINING, as_cells(with_mistake("dlogits @ W2.T", "dlogits @ W2")))
    values = prepare(TRAINING).lecture.values
    inputs = [values[name] for name in ("Xb", "Yb", *PARAMETERS)]
    with pytest.raises(RuntimeError) as caught:
        backward(*inputs)
    assert "dh = dlogits @ W2\n" in "".join(traceback.format_tb(caught.tb))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# answer: ex4-output\n", "to do: dW2, db2, dbngain, dbnbias, dW1, db1, dC"),
        (
            with_mistake("dh = dlogits @ W2.T", "dh = ...  # your turn"),
            "to do: dh",
        ),
        (with_mistake("dh = dlogits @ W2.T", "dh = dlogits @"), "Python cannot read this cell"),
        (
            with_mistake("dh = ", "from math import *\ndh = "),
            r"^Your answer becomes a function, where Python does not accept"
            r" `from math import \*`: import \* only allowed at module level\.$",
        ),
        (with_mistake("dh = ", "global dlogits\ndh = "), "`global dlogits`: name 'dlogits' is "),
        (with_mistake("dh = ", "from __future__ import division\ndh = "), "`from __future__ imp"),
    ],
)
def test_an_unfinished_answer_is_no_function(text: str, sentence: str) -> None:
    with pytest.raises(Unfinished, match=sentence):
        write_backward(TRAINING, as_cells(text))
