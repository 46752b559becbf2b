"""The lesson: what a notebook's own cells call to check, draw and look at gradients."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from IPython.display import clear_output, display
from torch import Tensor

from grader.diagnosis.kinds import Kind
from grader.notebook import board_card
from grader.notebook.check_report import Row, as_html, as_text, make_sections
from grader.notebook.nudge import describe as describe_nudge
from grader.notebook.nudge import move_number, own_slope, read_index
from grader.notebook.nudge import picture as nudge_picture
from grader.notebook.running_notebook import (
    Lesson,
    NotInTheLesson,
    known_gradients,
    lesson_course,
    open_lesson,
)
from grader.pictures.front_end import is_live
from grader.pictures.gradient_error import measure_error
from grader.printable import printable
from grader.program.compare import compare
from grader.program.references import prepare
from grader.reports import wording
from grader.reports.course_boards import read_boards
from grader.user_error import SpokenError
from grader.verdict import Outcome, Verdict

FIRST_TIME = "Starting the process that runs your answers: a few seconds, this once ..."
"""What a person sees while the first verdicts of a session are found."""

STRICT_VARIABLE = "GRADER_STRICT"
"""Environment variable that turns strict mode on: anything but an empty word or "0"."""


class NotEveryGradientPasses(SpokenError):
    """What a check cell ends with in strict mode, so that a program that runs it notices."""


@contextmanager
def told(*troubles: type[Exception]) -> Iterator[None]:
    """Print what keeps a call from its work, a sentence, in place of a traceback."""
    try:
        yield
    except troubles as trouble:
        print(trouble)


def check(*gradients: str) -> None:
    """Say of each gradient whether it is right; with no names, of all of the latest exercise.

    Shows a card: each verdict comes from running your answer cells again on batches of other
    sizes, and each line on its own. Beside a `pass` stand the numbers of the lecture's line, for
    the value in the notebook; below a `fail` stands what is wrong.

    Args:
        gradients: names such as "dlogits".

    Raises:
        NotEveryGradientPasses: in strict mode alone (GRADER_STRICT=1), after all that was said.
    """
    try:
        lesson = open_lesson(names=gradients)
        names = known_gradients(gradients, lesson.exercise)
    except NotInTheLesson as trouble:
        if is_strict():
            raise
        print(trouble)
        return
    judged = _judge(lesson)
    verdicts = [judged[name] for name in names]
    _say(verdicts, lesson, spoilt(verdicts, judged.values()))
    if is_strict():
        insist(verdicts)


def spoilt(verdicts: Sequence[Verdict], judged: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts on gradients that the answers to others change after they were right."""
    names = {verdict.name for verdict in verdicts}
    cells = {verdict.place.cell for verdict in verdicts if verdict.place}
    return [
        other
        for other in judged
        if other.name not in names and other.outcome is Outcome.FAIL
        for reason in other.diagnosis
        if reason.kind == Kind.ALIASED
        if (other.place and other.place.cell in cells) or not names.isdisjoint(reason.tells)
    ]


_has_judged: list[bool] = []
"""Not empty when this session has judged an answer: from then on it takes no time."""


def _judge(lesson: Lesson) -> dict[str, Verdict]:
    """The verdicts; the first time, a line says what they wait for, until something is shown."""
    if _has_judged or not is_live():
        return lesson.verdicts()
    print(FIRST_TIME)
    verdicts = lesson.verdicts()
    # What is shown next takes the place of the line.
    clear_output(wait=True)  # type: ignore[no-untyped-call]
    _has_judged.append(True)
    return verdicts


def is_strict() -> bool:
    """True if a check cell raises where a gradient does not pass."""
    return os.environ.get(STRICT_VARIABLE, "").strip() not in {"", "0"}


def insist(verdicts: Iterable[Verdict]) -> None:
    """Raise unless every gradient passes, by the rule of `grader check` and its exit code.

    Raises:
        NotEveryGradientPasses: names those that do not pass, each with the reason; a `carried`
            one is among them.
    """
    others = [v for v in verdicts if v.outcome is not Outcome.PASS]
    if others:
        named = ", ".join(f"{v.name} ({wording.word(v.outcome)})" for v in others)
        # nbval prints nothing else of what was shown.
        why = [f"{v.name}: {said}" for v in wording.wrong(others) if (said := wording.in_short(v))]
        said = f"Not every gradient of this check passes: {named}."
        raise NotEveryGradientPasses(" ".join([said, *map(printable, why)]))


def points(*gradients: str) -> int:
    """The points that gradients have earned; with no names, those of the whole exercise.

    It prints nothing, so that it can be the last line of a check cell whose value somebody else's
    grader reads.

    Args:
        gradients: names such as "dlogits".

    Raises:
        NotInTheLesson: no notebook is running, or its exercise asks for no such gradient.
    """
    lesson = open_lesson(names=gradients)
    names = known_gradients(gradients, lesson.exercise)
    judged = lesson.verdicts()
    return sum(judged[name].points for name in names)


@told(NotInTheLesson)
def board(exercise: str | None = None) -> None:
    """Draw the network with each gradient in the colour of its verdict so far.

    Args:
        exercise: an exercise's prefix such as "ex1"; by default that of the cell run last.
    """
    if exercise is not None and not isinstance(exercise, str):
        print('Give the exercise by its name, in quotes: board("ex1").')
        return
    lesson = open_lesson(exercise)
    verdicts = _judge(lesson)
    boards = read_boards(lesson.course or lesson_course())
    drawn, worth = boards[lesson.exercise.prefix], lesson.exercise.points
    show(board_card.in_forms(drawn, verdicts, worth))


@told(NotInTheLesson)
def heat_map(gradient: str | None = None) -> None:
    """Draw where a gradient of yours differs from autograd's, entry by entry.

    Args:
        gradient: a name such as "dlogits".
    """
    from grader.pictures.figures.error_map import draw_error, why_no_map

    lesson = open_lesson(names=[gradient])
    (name,) = known_gradients([gradient], lesson.exercise, "heat_map")
    reference = lesson.references()[name[1:]]
    value = lesson.value(name, reference)
    if not isinstance(value, Tensor):
        print(f"{name} has no value in this notebook yet: there is nothing to draw.")
        return
    if problem := why_no_map(name, value, reference):
        print(problem)
        return
    outcome = _judge(lesson)[name].outcome
    display(draw_error(name, value, reference, lesson.labels(name[1:])))  # type: ignore[no-untyped-call]
    if outcome is Outcome.FAIL and compare(name, value, reference).approximate:
        print(f'In this notebook it hardly shows, but the line is wrong: see check("{name}").')


@told(NotInTheLesson)
def nudge(gradient: str | None = None, *index: int) -> None:
    """Move one number of a tensor both ways; show the slope of the loss beside your gradient's.

    The batch and the parameters are the notebook's own, in float64. Of a step of the forward pass
    the value is moved, and every line after it is computed again.

    Args:
        gradient: a name such as "dC".
        index: which of its numbers, as one index for each dimension: nudge("dC", 3, 5).
    """
    lesson = open_lesson(names=[gradient])
    (name,) = known_gradients([gradient], lesson.exercise, "nudge")
    shape = lesson.references()[name[1:]].shape
    place = read_index(name, shape, index)
    moved = move_number(prepare(lesson.exercise), lesson.inputs(), name, place)
    yours, problem = own_slope(moved, lesson.namespace.get(name), shape)
    outcome = _judge(lesson)[name].outcome
    print(describe_nudge(moved, yours))
    display(nudge_picture(moved, yours))  # type: ignore[no-untyped-call]
    match outcome:
        case Outcome.ERROR:
            print(f'The answer that gives {name} raises an exception: see check("{name}").')
        case Outcome.FAIL if yours is not None and moved.agrees(yours):
            print(f'This number is right, but the line is not: see check("{name}").')
        case _ if problem:
            print(problem)


@told(NotInTheLesson)
def _say(verdicts: Sequence[Verdict], lesson: Lesson, beside: Sequence[Verdict]) -> None:
    """Show a card with the verdicts, and with those of what is wrong beside them."""
    references, edited = lesson.references(), lesson.edited_forward()
    own = lesson.own_gradients() if edited else {}
    unreached = lesson.history.unreached(lesson.exercise.gradients)

    def row(verdict: Verdict) -> Row:
        name, tensor = verdict.name, verdict.name[1:]
        # What is to do in an exercise of the lecture may have the value of another exercise.
        is_other = lesson.exercise.as_lecture and verdict.outcome is Outcome.TODO
        reference = own.get(tensor, references[tensor])
        made = _row(verdict, lesson, reference, name in unreached or is_other)
        return replace(made, is_own=tensor in own)

    rows = [row(verdict) for verdict in (*verdicts, *beside)]
    forward = edited or lesson.stale_forward()
    has_heat_map = "heat_map" in lesson.namespace
    sections = make_sections(rows, lesson.exercise.gradients, forward, has_heat_map)
    show({"text/html": as_html(sections), "text/plain": as_text(sections)})


def _row(verdict: Verdict, lesson: Lesson, reference: Tensor, unreached: bool) -> Row:
    """The verdict with the notebook's own value beside autograd's."""
    # What stands behind a line that raised has the value of an earlier run.
    value = None if unreached else lesson.value(verdict.name, reference)
    comparison = compare(verdict.name, value, reference)
    error = None
    # A problem, such as another shape, is said in words; NaN has a place as well.
    if isinstance(value, Tensor) and comparison.shape == comparison.expected_shape:
        is_real = value.is_floating_point() and reference.numel() > 0
        error = measure_error(value, reference) if is_real else None
    return Row(verdict, comparison, error)


def show(forms: Mapping[str, object]) -> None:
    """Display one thing in the forms it has; the front end takes the richest it can show."""
    display(dict(forms), raw=True)  # type: ignore[no-untyped-call]
