"""The functions that otter-grader calls when it grades a notebook of the course."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.answer.parse import cells_of
from grader.classroom.run.settings import secret_seed
from grader.execution.runner import Runner
from grader.execution.sandbox import best_sandbox
from grader.grading.grade import grade_exercise
from grader.printable import printable
from grader.program.course import built_in_course, read_course
from grader.program.exercises import exercises_of
from grader.reports import wording
from grader.submission.carried_course import unpack
from grader.submission.notebook_file import read_bytes
from grader.submission.read import submission_in
from grader.verdict import Verdict

if TYPE_CHECKING:
    from nbformat import NotebookNode

Files = Mapping[str, str]
"""The texts of a course's files, by their names."""

HANDED_IN = "handed_in"
"""The name under which otter's tests find the path of the notebook."""

GRADED_BY = "graded_by"
"""The name under which they find the files of the instructor's course; None means the built-in one.
"""

OTTERS_TESTS = "tests"
"""The folder beside the notebook into which otter puts its tests."""


class NoPoint(Exception):
    """A gradient has not earned its point; the message says why."""


@dataclass(frozen=True, slots=True)
class AnswersOnly:
    """A plugin that keeps a student's code out of the process that counts the points.

    Otter would run the whole notebook, with its pictures and its training, in the process that
    writes the results. But its tests only need the answers, and these run in a worker. The
    configuration, which is in the autograder's zip, may hold the files of a `course` by name.
    """

    submission_path: str
    submission_metadata: Mapping[str, Any]
    plugin_config: Mapping[str, Any]

    def before_execution(self, submission: NotebookNode) -> NotebookNode:
        """Give otter another notebook to run, which says where the student's notebook and the
        course are.

        Every other file that was handed in is removed from otter's copy, because Python looks there
        first and would import a `torch.py`.
        """
        from nbformat.v4 import new_code_cell

        notebook = Path(self.submission_path)
        for other in notebook.parent.iterdir():
            if other.name not in {notebook.name, OTTERS_TESTS}:
                is_folder = other.is_dir() and not other.is_symlink()
                shutil.rmtree(other) if is_folder else other.unlink()
        names = {HANDED_IN: str(notebook), GRADED_BY: self.plugin_config.get("course")}
        submission.cells = [new_code_cell(f"{name} = {value!r}") for name, value in names.items()]
        return submission


def expect_point(
    exercise: str, gradient: str, handed_in: str | None, graded_by: Files | None = None
) -> None:
    """Raise unless a gradient has earned its point.

    Args:
        exercise: the prefix of the exercise, such as "ex1".
        gradient: the name of the gradient, such as "dlogits".
        handed_in: the notebook's path, or None if a student tries the tests while working. The
            answer cells that have run are checked then.
        graded_by: the files of the instructor's course, or None for the built-in one.

    Raises:
        NoPoint: the gradient has not earned its point; the message is its verdict with the reasons.
        UnreadableNotebook: the file is not one of the course's notebooks.
    """
    verdict = _verdicts(exercise, handed_in, graded_by)[gradient]
    if not verdict.points:
        raise NoPoint(_told(verdict))


def _verdicts(
    exercise: str, handed_in: str | None, graded_by: Files | None
) -> Mapping[str, Verdict]:
    if handed_in is not None:
        return _graded(exercise, handed_in, unpack(graded_by) if graded_by else None)
    # Imported here, because it imports IPython, which is missing where otter grades.
    from grader.notebook.running_notebook import open_lesson

    return open_lesson(exercise).verdicts()


@cache
def _graded(exercise: str, path: str, folder: Path | None) -> Mapping[str, Verdict]:
    """Grade an exercise in a notebook's file."""
    # The student must not choose the course.
    course = read_course(folder) if folder else built_in_course()
    submission = submission_in(read_bytes(Path(path)), Path(path), course)
    exercises = exercises_of(course, submission.notebook)
    found = next((each for each in exercises if each.prefix == exercise), None)
    if found is None:
        raise NoPoint(f"This is notebook {submission.notebook}, which has no exercise {exercise}.")
    own = cells_of(exercise, submission.cells)
    with Runner(sandbox=best_sandbox()) as runner:
        verdicts, _ = grade_exercise(found, own, runner, secret_seed())
    return {verdict.name: verdict for verdict in verdicts}


def _told(verdict: Verdict) -> str:
    """Such as `dh: fail (ex1-linear2, line 2). dh is twice as large as it should be.`."""
    where = f" ({wording.where(verdict.place)})" if verdict.place else ""
    # One sentence, as otter has one line for it: the likeliest cause, or what was seen.
    reason = verdict.diagnosis[0].message if verdict.diagnosis else wording.note(verdict)
    head = f"{verdict.name}: {wording.word(verdict.outcome)}{where}."
    return printable(f"{head} {reason}".rstrip())
