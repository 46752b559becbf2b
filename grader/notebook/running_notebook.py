"""The notebook that runs in this kernel: its names, its answers, their verdicts."""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from IPython import get_ipython
from torch import Tensor

from grader.answer.assigned import first_assignments
from grader.answer.parse import AnswerCell, parse_answer
from grader.close_names import SLIP, did_you_mean
from grader.execution.evidence import as_cmp_takes_it
from grader.execution.runner import Runner
from grader.grading.grade import Judged, grade_exercise
from grader.notebook.forward_pass import (
    describe_edited,
    describe_stale,
    find_edited,
    find_stale,
    names_read,
    writers,
)
from grader.notebook.history import History
from grader.printable import listed
from grader.program.course import Course
from grader.program.exercises import Exercise, exercises_of, load_exercises
from grader.program.instances import read_shape
from grader.program.parse import parse_program
from grader.program.references import prepare
from grader.reports.result import say_where
from grader.submission.carried_course import unpack
from grader.submission.lecture import Cut, cut_lecture
from grader.submission.which_course import VARIABLE as COURSE_VARIABLE
from grader.submission.which_course import course_for
from grader.user_error import SpokenError, UserError
from grader.verdict import Diagnosis, Outcome, Verdict, because
from grader.worker.engine import one_thread

NOTEBOOK_VARIABLE = "JPY_SESSION_NAME"
"""Environment variable in which a Jupyter server tells a kernel the notebook's file."""


MOST_NAMED = 6
"""So many gradients of an exercise are named if none is like the one that was asked for."""


class NotInTheLesson(SpokenError):
    """The notebook is not where this call makes sense yet; the message is for the student."""


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """The running notebook: its names, an exercise, the cells run so far that answer it.

    `history` has every cell that ran. `course` is the exercise's, where that is not the lesson's.
    """

    namespace: Mapping[str, Any]
    cells: tuple[AnswerCell, ...]
    exercise: Exercise
    history: History = field(default_factory=History)
    course: Course | None = None

    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on every gradient of the exercise; at once where no answer cell changed."""
        with one_thread():
            verdicts, _ = _judge(self.exercise, self.cells)
        exercises = exercises_of(lesson_course(), self.exercise.notebook)
        # Which cells of the lecture's own notebook answer an exercise, no first line says.
        others = () if self.exercise.as_lecture else self.history.others()
        verdicts = list(say_where(verdicts, self.cells, others, exercises))
        lost = self.history.lost(self.exercise.gradients)
        return {one.name: _as_run(one, lost.get(one.name)) for one in verdicts}

    def inputs(self) -> dict[str, Any]:
        """The notebook's own batch and parameters."""
        inputs = prepare(self.exercise).program.inputs
        missing = [name for name in inputs if name not in self.namespace]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            raise NotInTheLesson(
                f"{listed(missing)} {verb} not defined: run the cells from the top down to the"
                " forward pass."
            )
        return {name: self.namespace[name] for name in inputs}

    def references(self) -> dict[str, Tensor]:
        """Autograd's gradients, by tensor, at the notebook's own batch and parameters."""
        program, inputs = prepare(self.exercise).program, self.inputs()
        try:
            return program.gradients(inputs)
        # Whatever a changed input makes of the forward pass, it is the student's to see.
        except Exception as error:
            raise NotInTheLesson(
                f"The forward pass does not run with the notebook's {', '.join(program.inputs)}"
                f" ({error}): run the cells from the top down to the forward pass."
            ) from error

    def value(self, gradient: str, reference: Tensor) -> object:
        """What the notebook has for a gradient; in the lecture's, as its `cmp` takes it."""
        value = self.namespace.get(gradient)
        if self.exercise.as_lecture and isinstance(value, Tensor):
            return as_cmp_takes_it(value, reference.shape)
        return value

    def labels(self, tensor: str) -> tuple[str, Tensor] | None:
        """The input that names a column in each row of a tensor's gradient, such as Yb for logits.

        Found on a hidden instance, no two sizes of which are equal.
        """
        reference, inputs = prepare(self.exercise).hidden[0], self.inputs()
        sizes, shape = reference.instance.sizes, reference.gradients[tensor].shape
        for name, annotation in reference.program.annotations.items():
            dimensions, below = read_shape(annotation)
            named = [sizes.get(size) for size in (*dimensions, below)]
            if below and len(named) == 2 and named == [*shape]:
                return name, inputs[name]
        return None

    def edited_forward(self) -> Diagnosis | None:
        """What is to be said of a line of the forward pass that is not the course's."""
        if self.course is not None:  # it has been read off the notebook itself
            return None
        program = prepare(self.exercise).program
        lines = self.history.statements()
        edited = find_edited(program, self.namespace, lines, self._shared())
        return describe_edited(*edited) if edited else None

    def stale_forward(self) -> Diagnosis | None:
        """What is to be said of tensors that an answer changes, or that the inputs do not give."""
        program, answer = prepare(self.exercise).program, parse_answer(self.cells)
        # What an input was before, nobody knows.
        stale = [name for name in program.inputs if writers(answer, name)]
        stale += find_stale(program, self.namespace, self._shared())
        return describe_stale(stale, program, answer, self.history.others()) if stale else None

    def _shared(self) -> set[str]:
        """The names that another exercise of this notebook gives to its own steps."""
        if self.course is not None:  # the lecture has one forward pass in several versions
            return {*prepare(self.exercise).program.names} - names_read(parse_answer(self.cells))
        others = exercises_of(lesson_course(), self.exercise.notebook)
        programs = (parse_program(each.forward) for each in others if each != self.exercise)
        return {step.name for program in programs for step in program.steps}

    def own_gradients(self) -> dict[str, Tensor]:
        """By tensor of the forward pass, the `.grad` that autograd has left in the notebook."""
        tensors = {name: self.namespace.get(name) for name in prepare(self.exercise).program.names}
        return {
            name: tensor.grad
            for name, tensor in tensors.items()
            if isinstance(tensor, Tensor) and (tensor.is_leaf or tensor.retains_grad)
            if tensor.grad is not None
        }


def _as_run(verdict: Verdict, lost: str | None) -> Verdict:
    """The verdict on a gradient, or what has become of its cell.

    `lost` is the answer cell that assigned it and has run since without the line that makes it one.
    """
    if verdict.points:
        return verdict
    if lost:
        why = (because("lost-first-line", cell=lost),)
        # Where nobody knows which cell ran, what was judged is the earlier one.
        return replace(
            verdict, outcome=Outcome.TODO, reasons=why, diagnosis=(), code="", piece=None
        )
    if any(reason.code == "in-another-cell" for reason in verdict.reasons):
        # It may have been pasted over the whole cell, before that ever ran.
        return replace(verdict, reasons=(*verdict.reasons, because("no-first-line")))
    return verdict


@cache
def worker() -> Runner:
    """One warm worker for the whole session."""
    runner = Runner()
    atexit.register(runner.close)
    return runner


_judged: dict[Exercise, tuple[Sequence[AnswerCell], Judged]] = {}
"""The latest verdicts on each exercise, with the answers that they are about."""


def _judge(exercise: Exercise, cells: Sequence[AnswerCell]) -> Judged:
    """Judge an exercise's answers where they have changed, or where one is an error.

    What ended the worker, or took too long, need not do so again.
    """
    last, judged = _judged.get(exercise, (None, ([], [])))
    if cells != last or any(verdict.outcome is Outcome.ERROR for verdict in judged[0]):
        judged = grade_exercise(exercise, cells, worker())
        _judged[exercise] = cells, judged
    return judged


@cache
def followed(shell: Any) -> History:
    """What this kernel has run and will run."""
    history = History()
    history.follow(shell)
    return history


@dataclass(slots=True)
class SetUp:
    """What a notebook's first cells have said: its name, the folder of the course it carries."""

    notebook: str | None = None
    folder: str | None = None


_set_up = SetUp()


def start_lesson(course: Mapping[str, str] | None = None, *, notebook: str | None = None) -> None:
    """Start the worker that runs answers, and note every cell that runs from now on.

    A notebook's first cell calls it, so that the first check need not wait for a worker that
    imports torch. Without it all that happens at the first check, and the cells that ran before
    are taken from IPython's history. Where no notebook is running it does nothing.

    Args:
        course: the course that the notebook carries: the texts of its files, by their names.
        notebook: the course's name for the notebook, such as "03_fused_batchnorm". Before any
            answer has run, `check()` and `board()` are about its first exercise.
    """
    _set_up.notebook = notebook or _set_up.notebook
    if course is not None:
        _set_up.folder = str(unpack(course))
        lesson_course.cache_clear()
    if (shell := get_ipython()) is not None:
        followed(shell)
        worker()


def has_failed(function: str) -> bool:
    """True if the cell that defines a function ended in an error when it ran last."""
    shell = get_ipython()
    return shell is not None and followed(shell).has_failed(function)


def open_lesson(prefix: str | None = None, names: Sequence[str | None] = ()) -> Lesson:
    """The notebook that runs in this kernel, at the exercise asked for.

    Without a prefix it is the one worked on last, or the notebook's other that has these gradients.

    Raises:
        NotInTheLesson: there is no kernel, no such exercise, or its course cannot be used.
    """
    shell = get_ipython()
    if shell is None:
        raise NotInTheLesson(
            "check(), points(), board(), heat_map() and nudge() read the answer cells of a running"
            " notebook; for a notebook's file there is the command `grader check`."
        )
    history = followed(shell)
    if cut := _cut_of_lecture(history, prefix, names):
        course, cells = cut
        (exercise,) = load_exercises(course)
        return Lesson(shell.user_ns, cells, exercise, history, course)
    exercises = load_exercises(lesson_course())
    first = next((one for one in exercises if one.notebook == _set_up.notebook), exercises[0])
    latest = _find(exercises, prefix or history.latest_prefix() or first.prefix)
    beside = [] if prefix else [one for one in exercises if one.notebook == latest.notebook]
    exercise = next((one for one in (latest, *beside) if _has_gradients(one, names)), latest)
    try:
        prepare(exercise)
    except UserError as error:
        raise NotInTheLesson(str(error)) from error
    cells = history.answers(exercise.prefix, exercise.gradients)
    return Lesson(shell.user_ns, cells, exercise, history)


def _cut_of_lecture(
    history: History, prefix: str | None, names: Sequence[str | None]
) -> Cut | None:
    """Where the lecture's own notebook runs, the exercise with the gradient that was written last.

    It is the one asked for, or if there is such a one, one that has gradients of these names.
    """
    if history.latest_prefix():
        return None

    def latest(cut: Cut) -> tuple[bool, int]:
        course, cells = cut
        (exercise,) = load_exercises(course)
        written = (cell for cell in cells if first_assignments(cell.source, exercise.gradients))
        numbers = (int(cell.grade_id.removeprefix("cell ")) for cell in written)
        return _has_gradients(exercise, names), max(numbers, default=-1)

    cuts = cut_lecture(history.cells())
    asked = (cut for cut in cuts if prefix in (None, cut[0].exercises[0].prefix))
    return max(asked, key=latest, default=None)


@cache
def lesson_course() -> Course:
    """The course of the running notebook, found once: see `grader.submission.which_course`.

    The course that the notebook carries goes before all that is beside it.

    Raises:
        NotInTheLesson: it cannot be used.
    """
    path = Path(os.environ.get(NOTEBOOK_VARIABLE) or ".")
    asked = os.environ.get(COURSE_VARIABLE) or _set_up.folder
    try:
        course = course_for(asked, path if path.is_file() else Path())
        load_exercises(course)
    except UserError as error:
        raise NotInTheLesson(str(error)) from error
    return course


def _find(exercises: Sequence[Exercise], prefix: str) -> Exercise:
    for exercise in exercises:
        if exercise.prefix == prefix:
            return exercise
    known = ", ".join(exercise.prefix for exercise in exercises)
    own = "" if _set_up.folder else " If the notebook has a course of its own, run its first cell."
    raise NotInTheLesson(f"There is no exercise {prefix}; there are {known}.{own}")


def _gradient(name: str | None, exercise: Exercise) -> str:
    """The gradient's name, given its own or that of its tensor."""
    return name if name in exercise.gradients else f"d{name}"


def _has_gradients(exercise: Exercise, names: Sequence[str | None]) -> bool:
    return all(_gradient(name, exercise) in exercise.gradients for name in names)


def known_gradients(
    names: Sequence[str | None], exercise: Exercise, call: str = "check"
) -> Sequence[str]:
    """The names, with a `d` put before those of tensors; all of the exercise if there are none.

    Args:
        names: what was given; None where a name is missing.
        exercise: the one that they belong to.
        call: the function that they were given to.
    """
    if not names:
        return exercise.gradients
    given = [name for name in names if isinstance(name, str)]
    if len(given) < len(names):
        raise NotInTheLesson(f'Give gradients by name, in quotes: {call}("dlogits").')
    with_d = [_gradient(name, exercise) for name in given]
    unknown = [name for name, d in zip(given, with_d, strict=True) if d not in exercise.gradients]
    if unknown:
        some = f"it asks for {listed(exercise.gradients, most=MOST_NAMED)}."
        meant = did_you_mean(unknown, exercise.gradients, SLIP) or some
        are = "is no gradient" if len(unknown) == 1 else "are no gradients"
        raise NotInTheLesson(f"{listed(unknown)} {are} of this exercise; {meant}")
    return with_d
