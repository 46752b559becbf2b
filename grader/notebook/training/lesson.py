"""Check an answer by training with it, and make it a function for notebook 4's training."""

from __future__ import annotations

from collections.abc import Callable
from inspect import getsource

from grader.answer.parse import parse_answer
from grader.notebook.lesson import show, told
from grader.notebook.running_notebook import NotInTheLesson, open_lesson, worker
from grader.notebook.training.first_prints import first_prints
from grader.notebook.training.manual_step import (
    Unfinished,
    missing_gradients,
    training,
    write_backward,
)
from grader.notebook.training.trajectory import STEPS, compare_trajectories
from grader.printable import listed
from grader.reports import wording
from grader.verdict import Outcome
from makemore_data.training.train import Backward


@told(NotInTheLesson)
def check_training() -> None:
    """Train a hundred steps with your answer and compare them with autograd's, on three networks.

    It prints a line for each network: one of the lecture's sizes and two hidden ones of other
    sizes. If answers are missing, wrong or refused, it prints which. It raises nothing.
    """
    lesson = open_lesson(training().prefix)
    answer = parse_answer(lesson.cells)
    if answer.broken:
        print(f"training        | error\n  {next(iter(answer.broken.values())).message}")
        return
    if missing := missing_gradients(lesson.exercise, answer):
        print(f"training        | to do: {', '.join(missing)}")
        return
    verdicts = lesson.verdicts().values()
    if refused := [v.name for v in verdicts if v.outcome is Outcome.REFUSED]:
        print(f"training        | refused: autograd was asked for {', '.join(refused)}")
        return
    departures = compare_trajectories(lesson.cells, worker())
    for place, departure in departures.items():
        where = f"{STEPS} steps, {place}"
        if departure:
            print(f"{where} | fail\n  {departure}")
        else:
            print(f"{where}: gradients and parameters are autograd's all the way | pass")
    if wrong := [verdict.name for verdict in wording.wrong(list(verdicts))]:
        seen = any(departures.values())
        why = "" if seen else " The training does not notice the mistake, but the check does."
        print(f"Mend {', '.join(wrong)} first: see the check above.{why}")


@told(NotInTheLesson, Unfinished)
def my_backward(anyway: bool = False) -> Backward | None:
    """Make a function of the forward pass and your answer cells.

    Args:
        anyway: True makes the function even if the check does not pass the answer.

    Returns:
        `backward(Xb, Yb, C, W1, b1, bngain, bnbias, W2, b2) -> loss, gradients`. As long as a
        gradient is missing or wrong it returns None, and prints which.
    """
    lesson = open_lesson(training().prefix)
    backward = write_backward(lesson.exercise, lesson.cells, lesson.namespace)
    backward = first_prints(backward, "Your answer")
    wrong = wording.wrong(list(lesson.verdicts().values()))
    if not wrong:
        return backward
    named = listed(f"{verdict.name} ({wording.word(verdict.outcome)})" for verdict in wrong)
    if anyway:
        backward.__doc__ = f"This function has a mistake in it: {named}."
        print(backward.__doc__)  # the notebook's cells that use the function say it, too
        return backward
    print(
        f"Not yet a function: mend {named} first, see the check above. To train with the mistake,"
        " call my_backward(anyway=True)."
    )
    return None


def show_code(function: Callable[..., object]) -> None:
    """Display the text of a function.

    Raises:
        TypeError: it is not a function that was written in Python.
        OSError: its text cannot be found.
    """
    code = getsource(function).rstrip()
    show({"text/markdown": f"```python\n{code}\n```", "text/plain": code})
