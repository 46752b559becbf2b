"""The running notebook, as the functions that its cells call find it."""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from IPython import get_ipython
from torch import Tensor

from grader import progress
from grader.answer import AnswerCell, parse_answer
from grader.exercises import EXERCISES, Exercise
from grader.grading import grade_exercise, prepare
from grader.history import History, in_order, latest_answers, latest_prefix
from grader.live_references import live_references
from grader.runner import Runner
from grader.spoken_error import SpokenError
from grader.stale_forward import find_stale, names_read
from grader.verdict import Diagnosis, Outcome, Verdict


class NotInTheLesson(SpokenError):
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


def latest_exercise() -> str | None:
    """The prefix of the exercise whose cell ran last ("ex1"); None where none did, or no kernel."""
    shell = get_ipython()
    return None if shell is None else latest_prefix(_history(shell).sources)


def open_lesson(prefix: str | None = None) -> Lesson:
    """The notebook that runs in this kernel, at the exercise asked for or else worked on last.

    Raises:
        NotInTheLesson: there is no kernel, or no such exercise.
    """
    shell = get_ipython()
    if shell is None:
        raise NotInTheLesson(
            "check(), points(), board() and heat_map() read the answer cells of a running notebook;"
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


def known_gradients(names: Sequence[str], exercise: Exercise) -> Sequence[str]:
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
