"""A course of nbgrader's with the assignment in it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.class_of_students import Class, write_class
from benchmarks.peers.assignment import NAME, write_notebook
from benchmarks.peers.clock import Command, seconds_of
from benchmarks.peers.environments import NBGRADER
from benchmarks.students import Paper

ASSIGNMENT = "ps1"
LAYOUT = f"submitted/{{student}}/{ASSIGNMENT}/{NAME}.ipynb"

CONFIG = f"""\
c = get_config()
c.CourseDirectory.course_id = "bench"
c.CourseDirectory.db_assignments = [dict(name="{ASSIGNMENT}")]
"""


@dataclass(frozen=True, slots=True)
class Course:
    """A folder in which nbgrader's commands run."""

    folder: Path

    @classmethod
    def with_class(cls, folder: Path, made: Class) -> Course:
        """A course whose students have handed in what nbgrader released."""
        NBGRADER.make()
        folder.mkdir(parents=True)
        (folder / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
        write_notebook(folder / "source" / ASSIGNMENT / f"{NAME}.ipynb", with_tests=True)
        course = cls(folder)
        seconds_of([course.command("generate_assignment", ASSIGNMENT)])
        write_class(folder, made, course.paper, LAYOUT)
        return course

    @property
    def paper(self) -> Paper:
        """The notebook as nbgrader released it."""
        released = self.folder / "release" / ASSIGNMENT / f"{NAME}.ipynb"
        return Paper.of(json.loads(released.read_text(encoding="utf-8")))

    def command(self, *words: str) -> Command:
        """One of nbgrader's commands in this course."""
        words = (NBGRADER.program("nbgrader"), *words)
        return Command(words, self.folder, NBGRADER.variables(self.folder / ".jupyter"))

    @property
    def autograde(self) -> Command:
        return self.command("autograde", ASSIGNMENT)

    def scores(self) -> dict[str, float]:
        """The points of each student that nbgrader has graded, from its database."""
        query = """
            select submitted_assignment.student_id, sum(grade.auto_score)
            from grade
            join submitted_notebook on submitted_notebook.id = grade.notebook_id
            join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
            group by submitted_assignment.student_id
        """
        with closing(sqlite3.connect(self.folder / "gradebook.db")) as database:
            return {student: score or 0.0 for student, score in database.execute(query)}
