"""The gradebook of a class, from the results of its run."""

from grader.gradebook.results_file import UnreadableResults
from grader.gradebook.rubric import Rubric, UnusableRubric, example_rubric, read_rubric
from grader.gradebook.write import Gradebook, write_gradebook

__all__ = [
    "Gradebook",
    "Rubric",
    "UnreadableResults",
    "UnusableRubric",
    "example_rubric",
    "read_rubric",
    "write_gradebook",
]
