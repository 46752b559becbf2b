"""What the students of a class hand in, made by varying the answers of the tests."""

from benchmarks.students.handwriting import rewrite
from benchmarks.students.kinds import MIXED, Answers, Mixture, only
from benchmarks.students.paper import Paper, course_paper

__all__ = ["MIXED", "Answers", "Mixture", "Paper", "course_paper", "only", "rewrite"]
