from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.readers.lecture_course import COURSE, EXERCISES, NOTEBOOKS
from grader.answer.parse import LONGEST_ANSWER, AnswerCell
from grader.submission.answer_cells import MOST_ANSWER_CELLS
from grader.submission.notebook_file import UnreadableNotebook
from grader.submission.read import Submission, read_submission
from grader.verdict import Place

GRADIENTS = NOTEBOOKS["01_atomic_backprop"][0].gradients
ALL = "\n".join(f"{name} = 1" for name in GRADIENTS)


def answer(grade_id: str, source: Any, kind: str = "code", **nbgrader: Any) -> dict[str, Any]:
    metadata = {"schema_version": 3, "solution": True, "locked": False, "grade_id": grade_id}
    return {
        "cell_type": kind,
        "metadata": {"nbgrader": metadata | nbgrader},
        "source": source,
        "outputs": [],
    }


def code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": []}


class Reader:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "handed in.ipynb"

    def __call__(self, *cells: Any) -> Submission:
        document = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
        self.path.write_text(json.dumps(document))
        return read_submission(self.path, COURSE)

    def flags(self, *cells: Any) -> dict[str, str]:
        flags = self(*cells).flags
        assert len(flags) == len({flag.kind for flag in flags})
        return {flag.kind: flag.message for flag in flags}


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


def test_the_answers_are_found_by_their_metadata(read: Reader) -> None:
    check = answer("ex1-softmax-check", "check()", solution=False, grade=True, locked=True)
    submission = read(
        code("import torch"), answer("ex1-loss", "dlogprobs = 1"), check, answer("ex1-all", ALL)
    )
    assert submission.notebook == "01_atomic_backprop"
    assert submission.path == read.path
    assert submission.cells == (
        AnswerCell("ex1-loss", "dlogprobs = 1"),
        AnswerCell("ex1-all", ALL),
    )
    assert submission.flags == ()


@pytest.mark.parametrize(
    "opening",
    [
        "# answer: ex1-all\n",
        "#answer:ex1-all \n",
        "\n\n  # answer: ex1-all\n",
        "# my own remark\n# answer: ex1-all\n",
        "%%time\n# answer: ex1-all\n",
    ],
)
def test_or_else_by_their_first_comment(read: Reader, opening: str) -> None:
    submission = read(code(opening + ALL))
    assert [cell.grade_id for cell in submission.cells] == ["ex1-all"]
    assert [flag.kind for flag in submission.flags] == ["metadata-dropped"]
    assert "of 1 of 1 answer cells" in submission.flags[0].message


@pytest.mark.parametrize(
    "cell",
    [
        code("x = 1\n# answer: ex1-all\n"),
        code("print('# answer: ex1-all')"),
        code("# answer: ex1\n"),
        code("# answer: ex1-\n"),
        code("# answer: ex1-all and more\n"),
        answer("ex1-<b>", "x"),
        answer("ex1-a b", "x"),
        answer("test-1", "x"),
        answer(5, "x"),  # type: ignore[arg-type]
        answer("ex1-all", "x", solution=False),
        answer("ex1-all", "x", solution="yes"),
        answer("ex1-check", "# answer: ex1-all", solution=False, grade=True),
    ],
)
def test_what_is_no_answer_cell(read: Reader, cell: dict[str, Any]) -> None:
    with pytest.raises(UnreadableNotebook, match="none of its cells is an answer cell"):
        read(cell)


def test_a_notebook_without_cells(read: Reader) -> None:
    with pytest.raises(UnreadableNotebook, match="notebooks: it has no cells"):
        read()


def test_another_courses_notebook(read: Reader) -> None:
    with pytest.raises(UnreadableNotebook) as caught:
        read(code("x"), code("y"))
    prefixes = "".join(f"{exercise.prefix}-..., " for exercise in EXERCISES)
    assert str(caught.value) == (
        f"{read.path} is not one of the course's notebooks: none of its cells is an answer cell "
        f"(by a grade_id {prefixes}"
        "or a first line such as `# answer: ex1-softmax`)."
    )
    with pytest.raises(UnreadableNotebook, match="answers hw3, and this grader knows only ex1-"):
        read(answer("hw3-q1", "x"))


def test_the_files_name_says_nothing(read: Reader, tmp_path: Path) -> None:
    read.path = tmp_path / "04_manual_training.ipynb"
    assert read(answer("ex1-all", ALL)).notebook == "01_atomic_backprop"


def test_another_exercises_cells_are_left_out(read: Reader) -> None:
    submission = read(answer("ex1-all", ALL), answer("ex9-x", "dfoo = 1"))
    assert [cell.grade_id for cell in submission.cells] == ["ex1-all"]
    (flag,) = submission.flags
    assert flag.kind == "other-exercise"
    assert flag.message == (
        "The answer cell ex9-x belongs to another notebook of the course: it is not graded here."
    )


def test_the_flag_says_which_copy_is_graded(read: Reader) -> None:
    (flag,) = read(answer("ex1-x", "dh = 1"), code("y"), answer("ex1-x", ALL)).flags
    assert flag.message == (
        "The answer cell ex1-x is there 2 times; graded: copy 2 (later copies overrule earlier "
        "ones, blanks do not)."
    )
    assert flag.place == Place("cell 3", 1)


@pytest.mark.parametrize(("kind", "said"), [("markdown", "a Markdown"), ("raw", "a raw")])
def test_an_answer_that_is_no_code(read: Reader, kind: str, said: str) -> None:
    submission = read(answer("ex1-all", ALL), answer("ex1-x", "dh = 1", kind=kind))
    assert len(submission.cells) == 1
    assert submission.flags[0].message == (
        f"The answer cell ex1-x is {said} cell, so it is not graded: turn it back into a code cell "
        "(press Y)."
    )


@pytest.mark.parametrize("source", [None, 5, [1, 2]])
def test_an_answer_without_readable_text(read: Reader, source: Any) -> None:
    submission = read(answer("ex1-all", ALL), answer("ex1-x", source))
    assert len(submission.cells) == 1
    assert [flag.kind for flag in submission.flags] == ["unreadable-answer"]


def test_of_too_many_answer_cells_none_is_read(read: Reader) -> None:
    cells = [answer(f"ex1-{number}", "dh = 1") for number in range(MOST_ANSWER_CELLS)]
    assert len(read(*cells).cells) == MOST_ANSWER_CELLS
    with pytest.raises(UnreadableNotebook, match="has 301 answer cells: at most 300 are read"):
        read(*cells, answer("ex1-more", "dh = 1"))


def test_an_id_has_a_hundred_characters_at_most(read: Reader) -> None:
    longest, longer = "ex1-" + "x" * 69, "ex1-" + "x" * 70
    found = read(answer(longest, ALL), answer(longer, "dh = 2")).cells
    assert [cell.grade_id for cell in found] == [longest]


def test_copies_that_are_too_large_together_are_not_looked_into(read: Reader) -> None:
    cells = [answer("ex1-all", f"{ALL}\n#{'x' * (LONGEST_ANSWER // 2)}")] * 2
    assert len(read(*cells).cells) == 2


def test_of_other_cells_no_more_is_kept_than_an_answer_may_have(read: Reader) -> None:
    small, large = code("dh = 1"), code("#" * LONGEST_ANSWER)
    assert len(read(answer("ex1-all", ALL), small, large, small).others) == 1
    assert len(read(answer("ex1-all", ALL), *[small] * 301).others) == MOST_ANSWER_CELLS


def test_missing_answers_are_named(read: Reader) -> None:
    few = ALL.replace("dlogits", "x").replace("dW2", "y")
    assert read.flags(answer("ex1-all", few)) == {
        "missing-answer": "No answer cell assigns dlogits or dW2: was a line or a cell deleted, or "
        "a cell's first line changed?"
    }


def test_what_is_only_read_is_missing(read: Reader) -> None:
    few = ALL.replace("dlogits = 1", "x = dlogits.sum(0, keepdim=True)")
    assert "assigns dlogits:" in read.flags(answer("ex1-all", few))["missing-answer"]


@pytest.mark.parametrize("line", ["(dlogits,\n x) = 1, 2", "for dlogits in [1]: pass"])
def test_what_is_assigned_in_another_form_is_not_missing(read: Reader, line: str) -> None:
    assert read.flags(answer("ex1-all", ALL.replace("dlogits = 1", line))) == {}


def test_many_missing_answers_are_counted(read: Reader) -> None:
    message = read.flags(answer("ex1-loss", "dlogprobs = ..."))["missing-answer"]
    assert message.startswith(
        "No answer cell assigns dprobs, dcounts_sum_inv, dcounts_sum, dcounts, dnorm_logits or 20 "
        "others: "
    )


def test_a_blank_is_not_missing(read: Reader) -> None:
    assert read.flags(answer("ex1-all", ALL.replace("= 1", "= ...  # your turn"))) == {}


def test_the_cells_that_are_not_graded_are_kept_for_what_they_explain(read: Reader) -> None:
    check = answer("ex1-all-check", "x = 1", solution=False, grade=True)
    text = {"cell_type": "markdown", "metadata": {}, "source": "x = 1"}
    submission = read(answer("ex1-all", ALL), check, text, code("import numpy as np"))
    assert submission.others == (AnswerCell("cell 4", "import numpy as np"),)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)
TEXTS = st.sampled_from(["# answer: ex1-x", "ex1-x", "dh = 1", "dh = ...", "\ud800\x00", "[" * 300])
NEARLY_A_CELL = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.sampled_from(["code", "markdown", "raw"]) | ANYTHING,
        "source": TEXTS | st.lists(TEXTS | ANYTHING, max_size=3) | ANYTHING,
        "metadata": st.fixed_dictionaries(
            {
                "nbgrader": st.fixed_dictionaries(
                    {"grade_id": TEXTS | ANYTHING, "solution": ANYTHING}
                )
            }
        )
        | ANYTHING,
    },
)


def answers_or_a_sentence(path: Path) -> list[Submission]:
    try:
        return [read_submission(path, COURSE)]
    except UnreadableNotebook as error:
        sentence = str(error)
    assert sentence.isprintable()
    return []


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cells=st.lists(NEARLY_A_CELL | ANYTHING, max_size=4), minor=ANYTHING)
def test_whatever_the_cells_are_there_are_answers_or_a_sentence(
    cells: list[Any], minor: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": minor, "cells": cells}))
    for submission in answers_or_a_sentence(path):
        assert submission.cells or submission.flags
        for cell in submission.cells:
            cell.source.encode("utf-8")


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_whatever_happened_to_the_bytes_there_are_answers_or_a_sentence(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    document = {"nbformat": 4, "nbformat_minor": 5, "cells": [answer("ex1-all", ALL)]}
    damaged = bytearray(json.dumps(document).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(damaged)))
        end = start + data.draw(st.integers(0, 20))
        damaged[start:end] = data.draw(st.binary(max_size=4))
    path = tmp_path_factory.getbasetemp() / "damaged.ipynb"
    path.write_bytes(damaged)
    answers_or_a_sentence(path)
