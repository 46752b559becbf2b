"""A notebook by its name or its number."""

from __future__ import annotations

from grader.close_names import did_you_mean
from grader.printable import printable, there_are
from grader.program.course import Course, number_of


def notebook_called(text: str, course: Course) -> str:
    """The course's notebook of that name, of its file's, or of that number.

    For example "02_fused_cross_entropy", "02_fused_cross_entropy.ipynb", "02", "2".

    Raises:
        ValueError: there is none; the message is a sentence.
    """
    text = text.strip()
    for notebook in course.notebooks:
        number = number_of(notebook)
        if text in (notebook, f"{notebook}.ipynb") or (
            number.isdecimal() and text.lstrip("0") == number.lstrip("0")
        ):
            return notebook
    meant = did_you_mean([text], course.notebooks) or f"{there_are(course.notebooks)}."
    raise ValueError(f"there is no notebook {printable(text)!r} in the course; {meant}")
