"""`grader grade` as a benchmark sees it: a command with its time, its memory and its results."""

from benchmarks.grade_command.goals import at_least, at_most
from benchmarks.grade_command.process import Graded, GradeFailed, grade

__all__ = ["GradeFailed", "Graded", "at_least", "at_most", "grade"]
