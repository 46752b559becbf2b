"""Which of several cells with one id are graded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE, NOTEBOOKS
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.grading.grade import grade
from grader.submission.copies import graded_copies
from grader.submission.notebook_file import Cell
from grader.submission.read import read_submission
from grader.verdict import Outcome

GRADIENTS = ("dlogits", "dh", "dW2")
ID = "ex1-x"

FIRST = "dlogits = F.softmax(logits, 1)"
SECOND = "dlogits[range(n), Yb] -= 1\ndlogits /= n"
WHOLE = f"{FIRST}\n{SECOND}"


def graded(*sources: str) -> list[int]:
    """The numbers of the copies that are graded, from 1."""
    cells = [Cell(number, "code", source, {}) for number, source in enumerate(sources, start=1)]
    answers, flags = graded_copies([(ID, cell) for cell in cells], GRADIENTS)
    assert [flag.kind for flag in flags] == ["duplicate-answer"] * (len(sources) > 1)
    numbers = [int(cell.grade_id.partition("#")[2] or 1) for cell in answers]
    assert [cell.source for cell in answers] == [sources[number - 1] for number in numbers]
    return numbers


@pytest.mark.parametrize(
    ("sources", "numbers"),
    [
        ([FIRST], [1]),
        # The halves of a split cell.
        ([FIRST, SECOND], [1, 2]),
        ([FIRST, *SECOND.split("\n")], [1, 2, 3]),
        ([FIRST, "# now the labels", SECOND], [1, 3]),
        ([FIRST, "print(undefined)", SECOND], [1, 2, 3]),
        ([FIRST, "dlogits = dlogits / n"], [1, 2]),
        ([FIRST, "dlogits = (x := dlogits) / n"], [1, 2]),
        ([FIRST, "dlogits.sub_(one_hot)"], [1, 2]),
        ([FIRST, "dlogits.sub_(one_hot)", "dlogits /= n"], [1, 2, 3]),
        ([FIRST, "torch.sub(dlogits, one_hot, out=dlogits)", "dlogits /= n"], [1, 2, 3]),
        (["p = F.softmax(logits, 1)\ndlogits = p", "dlogits = (p - one_hot) / n"], [1, 2]),
        (["def slope(h): return 1 - h**2\ndh = 1", "dh = slope(h)"], [1, 2]),
        (["import math as m\ndh = 1", "dh = m.pi"], [1, 2]),
        (["dh = 1\nfactor = 2", "dh = 3"], [1, 2]),
        (["dh = 1", "while h.sum() > 0:\n    dh = 2"], [1, 2]),
        (["dh = 1", "for i in h:\n    dh = dh + i"], [1, 2]),
        (["dh = 1", "if h.sum() > 0:\n    dh = 2"], [1, 2]),
        (["dh = 1", "dW2 = dh", "dh = 2"], [1, 2, 3]),
        (["dh = 1", "dh = ("], [1, 2]),
        (["dh = (\ndW2 = 1", "dh = 2"], [1, 2]),
        (["dh = 1\ndW2 = 1", "dh = (", "dh = 3"], [1, 3]),
        (["dh = 1\ndW2 = 2", "dh = ...  # your turn\ndW2 = 3"], [1, 2]),
        # A copy that was done again.
        ([FIRST, WHOLE], [2]),
        ([WHOLE, FIRST], [2]),
        ([FIRST, SECOND, WHOLE], [3]),
        ([WHOLE, FIRST, SECOND], [2, 3]),
        (["dh = 1", "dh, dW2 = 2, 3"], [2]),
        (["dh = (", "dh = 2"], [2]),
        (["dh = 1", "with torch.no_grad():\n    dh = 2"], [2]),
        (["dh = torch.zeros(3)\nfor i in h:\n    k = i\n    dh[k] = 1"] * 2, [2]),
        (["%%time\ndh = 1", "%%time\ndh = 2"], [2]),
        # Blanks.
        (["dh = 1", "dh = 2", "dh = ...  # your turn", ""], [2]),
        (["dh = ...", "dh = None"], [2]),
    ],
)
def test_a_later_copy_replaces_what_it_binds_afresh(sources: list[str], numbers: list[int]) -> None:
    assert graded(*sources) == numbers


def test_copies_of_other_cells_are_none_of_its_business() -> None:
    cells = [("ex1-a", "dh = 1"), ("ex1-b", "dh = 2"), ("ex1-a", "dh = 3"), ("ex1-c", "")]
    found = [(name, Cell(number, "code", text, {})) for number, (name, text) in enumerate(cells)]
    answers, flags = graded_copies(found, GRADIENTS)
    assert list(answers) == [
        AnswerCell("ex1-b", "dh = 2"),
        AnswerCell("ex1-a#2", "dh = 3"),
        AnswerCell("ex1-c", ""),
    ]
    assert len(flags) == 1


@pytest.mark.parametrize(
    "pieces",
    [
        [FIRST, SECOND],
        [FIRST, *SECOND.split("\n")],
        [FIRST, "# the labels come off", SECOND],
        [FIRST, SECOND, "print(undefined)"],
        ["dlogits = logits @ logits", WHOLE],
        ["dlogits = (", FIRST, SECOND],
    ],
    ids=lambda pieces: f"{len(pieces)} pieces",
)
def test_a_right_answer_in_pieces_has_its_points(
    pieces: list[str], runner: Runner, tmp_path: Path
) -> None:
    """Metadata copied, as JupyterLab does; the comment stands in the first piece alone."""
    nbgrader = {"schema_version": 3, "solution": True, "locked": False, "grade_id": "ex2-dlogits"}
    cells = [
        {"cell_type": "code", "metadata": {"nbgrader": nbgrader}, "source": piece, "outputs": []}
        for piece in [f"# answer: ex2-dlogits\n{pieces[0]}", *pieces[1:]]
    ]
    path = tmp_path / "split.ipynb"
    path.write_text(
        json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    )
    submission = read_submission(path, COURSE)
    verdicts = grade(NOTEBOOKS[submission.notebook], submission.cells, runner).verdicts
    assert [v.outcome for v in verdicts if v.name == "dlogits"] == [Outcome.PASS]
