"""Notebooks made to break what reads them are a submission or a sentence, never a crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from corpus.readers.lecture_course import COURSE, NOTEBOOKS
from grader.execution.runner import Runner
from grader.grading.grade import grade
from grader.submission.notebook_file import UnreadableNotebook
from grader.submission.read import submission_in

NAME = Path("ada.ipynb")

CELL: dict[str, Any] = {
    "cell_type": "code",
    "execution_count": None,
    "metadata": {"nbgrader": {"grade_id": "ex1-loss", "solution": True, "schema_version": 3}},
    "outputs": [],
    "source": "dlogprobs = ...",
}


def notebook(*cells: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells), **members}


def text(*cells: dict[str, Any], **members: Any) -> str:
    return json.dumps(notebook(*cells, **members))


UNREADABLE = {
    "nested a million deep": "[" * 10**6 + "]" * 10**6,
    "objects nested deep": '{"cells":' * 10**5,
    "an unfinished string": '{"cells": "' + "a" * 10**6,
    "not text": "\x00\xff",
    "a list": "[]",
    "a number of a million digits": '{"cells": ' + "9" * 10**6 + "}",
    "cells that are none": text(cells=[1, None, "x"]),
    "no cells": text(),
    "NaN for cells": '{"cells": NaN}',
    "another course": text({**CELL, "metadata": {}, "source": "print(1)"}),
}

READABLE = {
    "infinity and NaN beside": text(CELL).replace(
        '"metadata": {}', '"metadata": {"a": [NaN, 1e400]}'
    ),
    "a member twice": text(CELL).replace('"nbformat": 4', '"nbformat": 4, "nbformat": 4'),
    "huge outputs": text({**CELL, "outputs": [{"output_type": "stream", "text": "x" * 10**7}]}),
    "scripts in Markdown": text(
        {"cell_type": "markdown", "metadata": {}, "source": "<script>alert(1)</script>"}, CELL
    ),
    "a formula for a name": text(CELL, metadata={"authors": [{"name": '=HYPERLINK("x")'}]}),
    "names in other letters": text({**CELL, "source": "dlogprobs = ...\nĸ = 'ﬁ' # \u202e\ud83d"}),
    "a null character": text({**CELL, "source": "dlogprobs = '\x00'"}),
    "a cell nested deep": text({**CELL, "source": "dlogprobs = " + "(" * 10**5}),
    "a cell of signs": text({**CELL, "source": "dlogprobs = " + "-" * 10**5 + "1"}),
    "a cell of a thousand lines": text({**CELL, "source": "x = 1\n" * 10**3}),
    "a source in pieces": text({**CELL, "source": ["dlog", "probs", " = ", "..."] * 10}),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_is_no_notebook_of_the_course_is_refused_with_a_sentence(case: str) -> None:
    with pytest.raises(UnreadableNotebook) as caught:
        submission_in(UNREADABLE[case].encode("utf-8", "surrogatepass"), NAME, COURSE)
    assert str(caught.value).endswith((".", "?"))
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("case", READABLE)
def test_what_is_odd_beside_the_answers_does_no_harm(case: str) -> None:
    data = READABLE[case].encode("utf-8", "surrogatepass")
    submission = submission_in(data, NAME, COURSE)
    assert submission.notebook == "01_atomic_backprop"
    assert [cell.grade_id for cell in submission.cells] == ["ex1-loss"]


def test_a_right_answer_whose_metadata_an_editor_lost_keeps_its_points(
    attacked: Runner, project: Path
) -> None:
    """A peer scored it 0 without a word."""
    solution = project / "notebooks" / "solutions" / "01_atomic_backprop.ipynb"
    document = json.loads(solution.read_text(encoding="utf-8"))
    for cell in document["cells"]:
        cell["metadata"] = {}
    submission = submission_in(json.dumps(document).encode(), NAME, COURSE)
    assert [flag.kind for flag in submission.flags] == ["metadata-dropped"]
    assert grade(NOTEBOOKS[submission.notebook], submission.cells, attacked).score == 26
