"""The lesson: what a notebook's own cells call to check, draw and look at gradients."""

from __future__ import annotations

import atexit
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from IPython import get_ipython
from IPython.display import display
from torch import Tensor

from grader import progress
from grader.answer import AnswerCell, parse_answer
from grader.check_card import as_html, as_text, make_sections
from grader.check_text import Row, describe
from grader.compare import compare
from grader.exercises import EXERCISES, Exercise
from grader.gradient_error import measure_error
from grader.grading import grade_exercise, prepare
from grader.hint_levels import read_levels
from grader.hint_memory import Hint, ask
from grader.hint_text import as_text as hint_text
from grader.hint_text import heading
from grader.history import History, in_order, latest_answers, latest_prefix
from grader.live_references import live_references
from grader.runner import Runner
from grader.stale_forward import find_stale, names_read
from grader.verdict import Diagnosis, Outcome, Verdict
from grader.which_hint import NoSuchHint, which_hint

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
        """The verdict on every gradient of the exercise; at once where no answer cell changed."""
        key = self.exercise.prefix
        cells, judged = _JUDGED.get(key, ((), {}))
        if cells != self.cells or not judged:
            with _one_thread():
                verdicts, _ = grade_exercise(self.exercise, self.cells, worker())
            judged = {verdict.name: verdict for verdict in verdicts}
            progress.remember(key, sum(v.outcome is Outcome.PASS for v in verdicts))
            # A busy machine may be why a line took too long, or its process was lost.
            if not any(verdict.outcome is Outcome.ERROR for verdict in verdicts):
                _JUDGED[key] = self.cells, judged
        return judged

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
            return live_references(program, {n: self.namespace[n] for n in program.inputs})
        # Whatever a changed input makes of the forward pass, it is the student's to see.
        except Exception as error:
            raise NotInTheLesson(
                f"The forward pass does not run with the notebook's {', '.join(program.inputs)}"
                f" ({error}): run the cells from the top down to the forward pass."
            ) from error

    def stale_forward(self) -> Diagnosis | None:
        """What is to be said of forward tensors that the notebook's inputs no longer give."""
        program = prepare(self.exercise).references.program
        return find_stale(program, self.namespace, names_read(parse_answer(self.cells)))


_JUDGED: dict[str, tuple[tuple[AnswerCell, ...], dict[str, Verdict]]] = {}
"""For each exercise, the answer cells judged last with their verdicts."""


@contextmanager
def _one_thread() -> Iterator[None]:
    """Do with one thread what is too small for several: on a busy machine they would wait."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def check(*gradients: str) -> None:
    """Say of each gradient whether it is right; with no names, of all of the exercise.

    Prints the lecture's line for the values in the notebook, with the verdict at its end: that
    comes from running your answer cells again on batches of other sizes, and each line on its own.
    Below stands a card for what is wrong, if anything is.

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
    rows = [_compare_live(verdicts[name], lesson.namespace, references[name[1:]]) for name in names]
    is_right = all(row.comparison.approximate for row in rows)
    stale = None if is_right else lesson.stale_forward()
    print(describe(rows, stale_forward=stale is not None))
    order, has_heat_map = lesson.exercise.gradients, "heat_map" in lesson.namespace
    if sections := make_sections(rows, order, lesson.cells, stale, has_heat_map):
        _show({"text/html": as_html(sections), "text/plain": as_text(sections)})


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
    course = progress.by_notebook(progress.recall())
    # What this notebook's own part of the course is like, the board itself shows.
    has_others = any(notebook != lesson.exercise.notebook for notebook in course)
    _show_picture(
        draw_board(program, outcomes, lesson.exercise.gradients, course if has_others else {})
    )


def hint(gradient: str, exercise: str | None = None) -> None:
    """Show the next of a gradient's hints, from a nudge to nearly there.

    How many you have asked for is remembered; after the last all are shown.

    Args:
        gradient: a name such as "dlogits".
        exercise: an exercise's prefix such as "ex1"; by default that of the cell run last.
    """
    if not isinstance(gradient, str):
        print('Give the gradient by name, in quotes: hint("dlogits").')
        return
    shell = get_ipython()
    latest = None if shell is None else latest_prefix(_history(shell).sources)
    try:
        one_more = ask(*which_hint(gradient, read_levels(), latest, exercise))
    except NoSuchHint as trouble:
        print(trouble)
        return
    if one_more.trouble:
        print(one_more.trouble)
    _show({"text/markdown": _in_markdown(one_more), "text/plain": hint_text(one_more)})


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
    _show_picture(draw_error(name, value, reference))
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


def _compare_live(verdict: Verdict, namespace: Mapping[str, Any], reference: Tensor) -> Row:
    """The verdict with the notebook's own value beside autograd's."""
    value = namespace.get(verdict.name)
    comparison = compare(verdict.name, value, reference)
    error = None
    # A problem, such as another shape, is said in words; NaN has a place as well.
    if isinstance(value, Tensor) and comparison.shape == comparison.expected_shape:
        is_real = value.is_floating_point() and reference.numel() > 0
        error = measure_error(value, reference) if is_real else None
    return Row(verdict, comparison, error)


def _in_markdown(hint: Hint) -> str:
    """A hint for a front end that sets mathematics."""
    several = len(hint.texts) > 1
    # A list's further lines are indented, or they would end it.
    texts = [
        f"{number}. {text.strip()}".replace("\n", "\n   ") if several else text.strip()
        for number, text in enumerate(hint.texts, start=1)
    ]
    return "\n\n".join([f"**{heading(hint)}**", *texts])


def _show_picture(picture: Figure) -> None:
    """Display a picture, with its label for where there are none."""
    with io.BytesIO() as memory:
        picture.savefig(memory, format="png", dpi=DOTS_PER_INCH)
        png = memory.getvalue()
    _show({"image/png": png, "text/plain": picture.get_label()})


def _show(forms: Mapping[str, object]) -> None:
    """Display one thing in the forms it has; the front end takes the richest it can show."""
    display(dict(forms), raw=True)  # type: ignore[no-untyped-call]
