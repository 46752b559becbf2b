"""The author's check: is everything there that belongs to an exercise, and is it right?"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.answer.parse import AnswerCell, cells_of, prefix_of
from grader.authoring.blank import split_answers
from grader.authoring.build import build, execute, verify
from grader.authoring.course import OURS, Layout, read_notebook
from grader.authoring.source import (
    HINTS_A_GRADIENT,
    NoHints,
    SourceError,
    all_checked,
    checked_gradients,
    solved_gradients,
    sources_of,
)
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.program.course import FILE as COURSE_FILE
from grader.program.course import BadCourse, built_in_course, read_hints
from grader.program.exercises import Exercise, exercises_of
from grader.program.forward_program import ForwardProgram, NotAForwardProgram, is_differentiable
from grader.program.instances import HIDDEN_SIZES
from grader.program.parse import body_source, parse_program
from grader.program.references import prepare
from grader.reports import wording
from grader.submission.answer_cells import GRADE_ID
from grader.submission.read import read_submission
from grader.user_error import UserError
from grader.verdict import Outcome

UNWRITTEN = re.compile(r"^(d\w+) = None$", re.MULTILINE)
"""A solution that is left to the author, as `grader new` writes it."""


def check_exercise(exercise: Exercise, runner: Runner, layout: Layout = OURS) -> Iterator[str]:
    """Say what is missing or wrong in sentences, in the order in which an exercise is written."""
    yield from check_texts(exercise, layout)
    if not any(_check_program(exercise)):
        yield from check_verdicts(exercise, runner, layout)


def check_texts(exercise: Exercise, layout: Layout) -> Iterator[str]:
    """Say what is missing or wrong in what an author writes."""
    yield from _check_program(exercise)
    if other_name := list(_check_name(exercise, layout)):
        yield from other_name
        return
    yield from (hints := list(_spoken(_check_hints(exercise, layout))))
    try:
        yield from _check_source(exercise, layout)
    except UserError as error:
        if not (hints and isinstance(error, NoHints)):  # that is said already
            yield str(error)


def build_and_check(layout: Layout, notebook: str, runner: Runner) -> list[str]:
    """Build a notebook if what its author writes is in order, and say what is missing or wrong."""
    exercises = exercises_of(layout.course or built_in_course(), notebook)
    if complaints := [text for each in exercises for text in check_texts(each, layout)]:
        return complaints
    if complaints := list(_spoken(_build(layout, notebook))):
        return complaints
    return [text for each in exercises for text in check_verdicts(each, runner, layout)]


def _build(layout: Layout, notebook: str) -> Iterator[str]:
    """The notebooks are made, and the student's runs and says `to do` of every gradient."""
    build([notebook], layout)
    path = layout.blanks / f"{notebook}.ipynb"
    try:
        cells = execute(nbformat.read(path, as_version=4)).cells
    except SourceError as error:
        raise SourceError(f"{path}: {error}") from error
    head = f"{wording.SIGNS[Outcome.TODO]} {wording.word(Outcome.TODO)}: "
    lines = [line for cell in cells for line in _shown(cell).splitlines()]
    said = (line.removeprefix(head).split(", ") for line in lines if line.startswith(head))
    to_do = {gradient for some in said for gradient in some}
    for gradient in all_checked(cells):
        if gradient not in to_do:
            yield f"{path}: run as it is, its check does not say `to do` of {gradient}."


def _shown(cell: NotebookNode) -> str:
    """The cards below a cell, in words."""
    outputs = cell.get("outputs", [])
    return "\n".join(output.get("data", {}).get("text/plain", "") for output in outputs)


def check_verdicts(exercise: Exercise, runner: Runner, layout: Layout) -> Iterator[str]:
    """Say where the built notebooks, or the right answers that are kept, get other verdicts."""
    yield from _spoken(
        _check_notebook(layout.blanks, exercise, Outcome.TODO, runner, layout),
        _check_notebook(layout.solutions, exercise, Outcome.PASS, runner, layout),
        _check_right_answers(exercise, runner, layout),
    )


def _spoken(*checks: Iterator[str]) -> Iterator[str]:
    for check in checks:
        try:
            yield from check
        except UserError as error:  # a file cannot be read; the other checks can go on
            yield str(error)


def check_notebooks(notebooks: Iterable[str]) -> list[str]:
    """Say where committed notebooks, all if none is named, are not what their sources make."""
    try:
        complaints = verify()
    except UserError as error:
        complaints = [str(error)]
    names = tuple(notebooks)
    if names:
        complaints = [text for text in complaints if any(name in text for name in names)]
    return [*complaints, "Run `make notebooks`, look, commit."] if complaints else []


def right_answers(exercise: Exercise, folder: Path) -> list[Path]:
    """The files of the right answers that a folder keeps for an exercise."""
    return sorted((folder / exercise.prefix / "right").glob("*.py"))


def _check_program(exercise: Exercise) -> Iterator[str]:
    """The forward pass can be read and run, and has the gradients asked for."""
    try:
        program = parse_program(exercise.forward)
    except NotAForwardProgram as error:
        yield str(error)
        return
    names, sizes = program.size_names, exercise.sizes
    if set(names) != set(sizes):
        yield (
            f"`sizes` of {exercise.prefix} has {_listed(sizes)}; the shapes in"
            f" {program.name} use {_listed(names)}."
        )
        return
    if len(names) > len(HIDDEN_SIZES[0]):
        yield (
            f"{program.name} has {len(names)} sizes; a hidden instance can have"
            f" {len(HIDDEN_SIZES[0])}."
        )
        return
    for name, size in sizes.items():
        if any(size in row for row in HIDDEN_SIZES):
            yield (
                f"{name} = {size} is a size of a hidden instance too:"
                " it would let a number through that is written into an answer, so take another."
            )
    yield from _check_gradients(exercise, program)


def _check_gradients(exercise: Exercise, program: ForwardProgram) -> Iterator[str]:
    """The gradients asked for exist, stand from the loss down and are numbers everywhere."""
    try:
        references = prepare(exercise)
    except BadCourse as error:
        yield str(error)
        return
    values = references.lecture.values
    asked = exercise.gradients
    floating = {f"d{name}" for name, value in values.items() if is_differentiable(value)}
    for gradient in asked:
        if gradient not in floating or gradient == f"d{program.loss}":
            yield f"{gradient} is asked for, but {program.name} has no such gradient."
    if twice := [gradient for gradient in dict.fromkeys(asked) if asked.count(gradient) > 1]:
        yield f"{_listed(twice)} is asked for twice."
    for place, gradient in enumerate(asked):
        if gradient not in floating:
            continue
        later = {f"d{step}" for step in program.descendants(gradient.removeprefix("d"))}
        if early := sorted(later.intersection(asked[place + 1 :])):
            yield f"{gradient} is made from {_listed(early)}, and is asked for before."
        if any(
            not bool(reference.gradients[gradient[1:]].isfinite().all())
            for reference in references.hidden
            if gradient[1:] in reference.gradients
        ):
            yield f"{gradient} has NaN or infinite numbers in it on a hidden instance."


def _check_name(exercise: Exercise, layout: Layout) -> Iterator[str]:
    """The source calls the exercise as the course does."""
    source = layout.sources / f"{exercise.notebook}.py"
    text = source.read_text(encoding="utf-8") if source.is_file() else ""
    ids = [*re.findall(rf"(?m)^# answer: ({GRADE_ID.pattern})", text)]
    called = dict.fromkeys(map(prefix_of, ids))
    if called and exercise.prefix not in called:
        yield (
            f"{source} calls it {_listed(called)}, and {layout.folder / COURSE_FILE} calls it"
            f" {exercise.prefix}: use one name in both, and in {layout.hints}."
        )


def _check_hints(exercise: Exercise, layout: Layout) -> Iterator[str]:
    path = layout.hints
    hints = read_hints(path).get(exercise.prefix)
    if hints is None:
        yield f"{path} has no [{exercise.prefix}]: `dx = [...]` for each gradient."
        return
    for gradient in exercise.gradients:
        found = len(hints.get(gradient, ()))
        if found != HINTS_A_GRADIENT:
            yield f"{gradient} has {found} hints in {path}; it needs {HINTS_A_GRADIENT}."
    if unasked := sorted(hints.keys() - set(exercise.gradients)):
        yield f"{path} has hints for {_listed(unasked)}, which nobody asks for."


def _check_source(exercise: Exercise, layout: Layout) -> Iterator[str]:
    """The notebook shows this forward pass, and asks for these gradients and checks them."""
    source = layout.sources / f"{exercise.notebook}.py"
    if not source.is_file():
        yield f"{source} is missing: the notebook of {exercise.prefix}."
        return
    notebook = read_notebook(source, layout=layout)
    answers = sources_of("answer", notebook.cells, exercise.prefix)
    answered = {n for text in answers for n in solved_gradients(text, exercise.gradients)}
    code = [cell.source.strip() for cell in notebook.cells if cell.cell_type == "code"]
    body = body_source(exercise.forward)
    # Behind an empty line a cell may go on, as to have autograd leave its gradients.
    count = sum(f"{cell}\n\n".startswith(f"{body}\n\n") for cell in code)
    if count != 1:
        yield (
            f"{source} has {count or 'no'} cells that begin with the body of"
            f" {exercise.forward.__name__}, as it stands in its file, without its docstring and its"
            " return: it needs one."
            f"{'' if count else _first_difference(body, code)}"
        )
    checked = all_checked(notebook.cells, exercise.prefix)
    unwritten = {name for text in answers for name in UNWRITTEN.findall(text)}
    for gradient in exercise.gradients:
        if gradient in unwritten:
            yield f"{source}: `{gradient} = None` is not a solution yet; this one is left to you."
        elif gradient not in answered:
            yield f"{source}: no answer cell of {exercise.prefix} assigns {gradient}."
        if gradient not in checked:
            yield f"{source}: no check cell of {exercise.prefix} names {gradient}."
    if unasked := sorted(set(checked) - set(exercise.gradients)):
        yield f"{source}: a check cell of {exercise.prefix} names {_listed(unasked)}."
    checks = sources_of("check", notebook.cells, exercise.prefix)
    named = [name for text in checks for name in checked_gradients(text)]
    if len(named) > len(checked):
        earned, worth = (exercise.points * len(names) for names in (named, exercise.gradients))
        yield (
            f"{source}: the check cells of {exercise.prefix} add up to {earned} points, its"
            f" gradients to {worth}: a gradient is checked once."
        )


def _first_difference(body: str, cells: Sequence[str]) -> str:
    """Where the cell that is most like a forward function's body is not the same."""
    meant = body.splitlines()
    said = max((cell.splitlines() for cell in cells), key=lambda own: len({*own} & {*meant}))
    if not {*said} & {*meant}:
        return " Copy the lines from there."
    pairs = itertools.zip_longest(said, meant, fillvalue="")
    here, there = next(pair for pair in pairs if pair[0] != pair[1])
    return f" The first line that differs is `{here}` in the notebook, `{there}` in the file."


def _check_notebook(
    folder: Path, exercise: Exercise, due: Outcome, runner: Runner, layout: Layout
) -> Iterator[str]:
    """The student's copy is to do, or the solution passes."""
    path = folder / f"{exercise.notebook}.ipynb"
    if path.is_file():  # if it is not, `check_notebooks` says so
        submission = read_submission(path, layout.course or built_in_course())
        cells = cells_of(exercise.prefix, submission.cells)
        yield from _grade(path, exercise, cells, due, runner)


def _check_right_answers(exercise: Exercise, runner: Runner, layout: Layout) -> Iterator[str]:
    if layout.answers is None:
        return
    kept = right_answers(exercise, layout.answers)
    if not kept:
        place = layout.answers / exercise.prefix
        yield f"{place}/right holds no right answer: put at least one there."
    for path in kept:
        try:
            sources = split_answers(path.read_text(encoding="utf-8"))
        except SourceError as error:
            yield f"{path}: {error}"
            continue
        for grade_id in sources:
            if prefix_of(grade_id) != exercise.prefix:
                yield f"{path}: the cell {grade_id} is none of {exercise.prefix}."
        cells = [AnswerCell(grade_id, source) for grade_id, source in sources.items()]
        yield from _grade(path, exercise, cells, Outcome.PASS, runner)


def _grade(
    path: Path, exercise: Exercise, cells: Sequence[AnswerCell], due: Outcome, runner: Runner
) -> Iterator[str]:
    """A sentence for each gradient whose verdict is not what it should be."""
    verdicts, flags = grade_exercise(exercise, cells, runner)
    for verdict in verdicts:
        if verdict.outcome is not due:
            told = (wording.note(verdict), *(one.message for one in verdict.diagnosis))
            why = " ".join(filter(None, told))
            if verdict.outcome is Outcome.TODO:
                why = why or "its solution is still to be written."
            said = f"{path}: {verdict.name} is `{verdict.outcome}`, not `{due}`"
            yield f"{said}: {why}" if why else f"{said}."
    for flag in flags:
        yield f"{path}: {flag.message}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
