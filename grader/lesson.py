"""The lesson: what a notebook's own cells call to check, draw and look at gradients."""

from __future__ import annotations

import atexit
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from IPython import get_ipython
from IPython.display import display
from torch import Tensor

from grader.answer import AnswerCell
from grader.check_text import Row, describe
from grader.compare import Comparison, compare
from grader.exercises import EXERCISES, Exercise
from grader.grading import grade_exercise, prepare
from grader.history import History, in_order, latest_answers, latest_prefix
from grader.runner import Runner
from grader.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOTS_PER_INCH = 110
"""Resolution of pictures in a notebook."""


class NotInTheLesson(Exception):
    """The notebook is not where this call makes sense yet; the message is for the student."""


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """The running notebook: its names, the answer cells run so far, the exercise they answer."""

    namespace: Mapping[str, Any]
    cells: tuple[AnswerCell, ...]
    exercise: Exercise

    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on every gradient of the exercise."""
        verdicts, _ = grade_exercise(self.exercise, self.cells, worker())
        return {verdict.name: verdict for verdict in verdicts}

    def references(self) -> dict[str, Tensor]:
        """Autograd's gradients, by tensor, at the notebook's own batch and parameters."""
        program = prepare(self.exercise).references.program
        missing = [name for name in program.inputs if name not in self.namespace]
        if missing:
            names = ", ".join(missing)
            raise NotInTheLesson(
                f"{names} is not defined: run the cells from the top down to the forward pass."
            )
        try:
            return program.gradients({name: self.namespace[name] for name in program.inputs})
        # Whatever a changed input makes of the forward pass, it is the student's to see.
        except Exception as error:
            raise NotInTheLesson(
                f"The forward pass does not run with the notebook's {', '.join(program.inputs)}"
                f" ({error}): run the cells from the top down to the forward pass."
            ) from error


def check(*gradients: str) -> None:
    """Say of each gradient whether it is right; with no names, of all of the exercise.

    Prints the lecture's line for the values in the notebook, with the verdict at its end: that
    comes from running your answer cells again on batches of other sizes, and each line on its own.

    Args:
        gradients: names such as "dlogits".
    """
    try:
        lesson = open_lesson()
        names = _known(gradients, lesson.exercise)
        verdicts, references = lesson.verdicts(), lesson.references()
    except NotInTheLesson as trouble:
        print(trouble)
        return
    rows = [
        Row(verdicts[name], _compare_live(name, lesson.namespace, references[name[1:]]))
        for name in names
    ]
    print(describe(rows, lesson.cells))


def board(exercise: str | None = None) -> None:
    """Draw the network with each gradient in the colour of its verdict so far.

    Args:
        exercise: an exercise's prefix such as "ex1"; by default that of the cell run last.
    """
    from grader.board_picture import draw_board

    try:
        lesson = open_lesson(exercise)
    except NotInTheLesson as trouble:
        print(trouble)
        return
    outcomes = {name: verdict.outcome for name, verdict in lesson.verdicts().items()}
    program = prepare(lesson.exercise).references.program
    _show(draw_board(program, outcomes, lesson.exercise.gradients))


def heat_map(gradient: str) -> None:
    """Draw where a gradient of yours differs from autograd's, entry by entry.

    Args:
        gradient: a name such as "dlogits".
    """
    from grader.error_map import draw_error

    try:
        lesson = open_lesson()
        (name,) = _known([gradient], lesson.exercise)
        reference = lesson.references()[name[1:]]
    except NotInTheLesson as trouble:
        print(trouble)
        return
    value = lesson.namespace.get(name)
    if not isinstance(value, Tensor):
        print(f"{name} has no value in this notebook yet: there is nothing to draw.")
        return
    _show(draw_error(name, value, reference))
    outcome = lesson.verdicts()[name].outcome
    if outcome is Outcome.FAIL and compare(name, value, reference).approximate:
        print(f'The value is right here, but the line is not: see check("{name}").')


@cache
def worker() -> Runner:
    """One warm worker for the whole session."""
    runner = Runner()
    atexit.register(runner.close)
    return runner


@cache
def _history(shell: Any) -> History:
    """What this kernel has run and will run."""
    history = History()
    history.follow(shell)
    return history


# The notebook's first cell imports this module; every answer cell runs later. The worker imports
# torch meanwhile, so that the first check does not wait for it.
if (_shell := get_ipython()) is not None:
    _history(_shell)
    worker()


def open_lesson(prefix: str | None = None) -> Lesson:
    shell = get_ipython()
    if shell is None:
        raise NotInTheLesson(
            "check(), board() and heat_map() read the answer cells of a running notebook;"
            " for a notebook's file there is the command `grader check`."
        )
    sources = _history(shell).sources
    exercise = _find_exercise(prefix or latest_prefix(sources) or EXERCISES[0].prefix)
    own = tuple(
        cell for cell in latest_answers(sources) if cell.grade_id.startswith(f"{exercise.prefix}-")
    )
    return Lesson(shell.user_ns, in_order(own, exercise.gradients), exercise)


def _find_exercise(prefix: str) -> Exercise:
    for exercise in EXERCISES:
        if exercise.prefix == prefix:
            return exercise
    known = ", ".join(exercise.prefix for exercise in EXERCISES)
    raise NotInTheLesson(f"There is no exercise {prefix}; there are {known}.")


def _known(names: Sequence[str], exercise: Exercise) -> Sequence[str]:
    """The names, with a `d` put before those of tensors; all of the exercise if there are none."""
    if not names:
        return exercise.gradients
    if not all(isinstance(name, str) for name in names):
        raise NotInTheLesson('Give gradients by name, in quotes: check("dlogits").')
    with_d = [name if name in exercise.gradients else f"d{name}" for name in names]
    unknown = [name for name, d in zip(names, with_d, strict=True) if d not in exercise.gradients]
    if unknown:
        raise NotInTheLesson(
            f"{', '.join(unknown)} is no gradient of this exercise; it asks for"
            f" {', '.join(exercise.gradients)}."
        )
    return with_d


def _compare_live(name: str, namespace: Mapping[str, Any], reference: Tensor) -> Comparison:
    """The notebook's own value beside autograd's."""
    return compare(name, namespace.get(name), reference)


def _show(picture: Figure) -> None:
    """Display a picture, with its label for where there are none."""
    with io.BytesIO() as memory:
        picture.savefig(memory, format="png", dpi=DOTS_PER_INCH)
        png = memory.getvalue()
    text = picture.get_label()
    display({"image/png": png, "text/plain": text}, raw=True)  # type: ignore[no-untyped-call]
