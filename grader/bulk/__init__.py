"""A class graded in one run."""

from grader.bulk.failures import CannotGrade
from grader.bulk.journal import BrokenJournal, Journal
from grader.bulk.run import Run, Stop
from grader.bulk.settings import Settings, installed_versions
from grader.bulk.tally import Tally
from grader.bulk.task import Task, grade_task, make_task

__all__ = [
    "BrokenJournal",
    "CannotGrade",
    "Journal",
    "Run",
    "Settings",
    "Stop",
    "Tally",
    "Task",
    "grade_task",
    "installed_versions",
    "make_task",
]
