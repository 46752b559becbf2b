from __future__ import annotations

import json

import pytest

from corpus.readers.lecture_course import COURSE, EXERCISES, NOTEBOOKS
from grader.submission.blank_cells import (
    blank_cells,
    blank_cells_file,
    gradients_in,
    read_blank_cells,
)
from tests.helpers.course_notebooks import FOLDER, NAMES

BLANKS = read_blank_cells(COURSE)


@pytest.mark.parametrize("name", NAMES)
def test_they_are_those_of_the_students_copy(name: str) -> None:
    document = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    code = ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]
    meant_to_change = [source for source in code if "# your turn" in source]
    assert list(BLANKS[name].values()) == meant_to_change
    assert blank_cells(code) == BLANKS[name]


def test_every_gradient_of_the_course_has_its_cell() -> None:
    assert list(BLANKS) == list(NOTEBOOKS)
    for exercise in EXERCISES:
        cells = {
            name: text
            for name, text in BLANKS[exercise.notebook].items()
            if text.startswith(f"# answer: {exercise.prefix}-")
        }
        found = tuple(gradient for text in cells.values() for gradient in gradients_in(text))
        assert found == exercise.gradients


def test_the_file_says_what_was_read() -> None:
    from grader.submission.blank_cells import FILE

    assert blank_cells_file(BLANKS) == (COURSE.folder / FILE).read_text(encoding="utf-8")


def test_only_cells_to_be_changed_count() -> None:
    sources = ["x = 1", "# check: ex1-a\ncheck()", "%%time\n# answer: ex1-a\nda = ...", "# try: b"]
    assert blank_cells(sources) == {"ex1-a": sources[2], "b": sources[3]}
