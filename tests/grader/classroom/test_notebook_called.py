from __future__ import annotations

import re

import pytest

from corpus.readers.lecture_course import COURSE
from grader.classroom.notebook_called import notebook_called

ATOMIC = "01_atomic_backprop"


@pytest.mark.parametrize("text", ["01", "1", ATOMIC, f"{ATOMIC}.ipynb", " 001 "])
def test_a_notebook_by_its_number_or_name(text: str) -> None:
    assert notebook_called(text, COURSE) == ATOMIC


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("5", "there are 01_atomic"),
        ("atomic_backprop", f"did you mean {ATOMIC}?"),
        ("", "there are"),
    ],
)
def test_no_notebook_of_the_course(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        notebook_called(text, COURSE)
