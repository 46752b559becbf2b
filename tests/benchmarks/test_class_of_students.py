import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.class_of_students import Class, write_class
from benchmarks.students import course_paper, only, rewrite
from benchmarks.students.kinds import draw
from corpus.readers.exercise_text import (
    GRADIENTS,
    Namespace,
    Sizes,
    double_precision,
    forward_values,
    reference_gradients,
    right_answers,
    run_answer,
    worst_difference,
)
from corpus.readers.lecture_course import COURSE
from grader.authoring.blank import split_answers
from grader.submission.read import read_submission

SMALL = Sizes(n=5, vocab_size=7, n_embd=3, n_hidden=4, block_size=2)


def texts(folder: Path) -> Mapping[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*"))}


@pytest.fixture(scope="module")
def values() -> Namespace:
    return forward_values(SMALL, seed=1)


@pytest.mark.parametrize("style", right_answers())
def test_a_right_answer_in_other_words_is_right(style: str, values: Namespace) -> None:
    answer = right_answers()[style]
    rewritten = {rewrite(answer, random.Random(seed)) for seed in range(4)}
    assert len(rewritten) == 4
    references = reference_gradients(values)
    for text in rewritten:
        assert split_answers(text).keys() == split_answers(answer).keys()
        with double_precision():
            names = run_answer(text, values)
        worst = max(worst_difference(names[name], references[name]) for name in GRADIENTS)
        assert worst < 1e-9, text


def test_helpers_comments_and_order_are_other_ones() -> None:
    answer = (
        "# answer: ex1-linear2\nmine = W2.T\ndh = dlogits @ mine\ndW2 = h.T @ dlogits\n"
        "db2 = dlogits.sum(0)\n"
    )
    rewritten = [rewrite(answer, random.Random(seed)) for seed in range(20)]
    assert any("mine" not in text for text in rewritten)
    assert any(text.index("db2 =") < text.index("dW2 =") for text in rewritten)
    assert all(
        text.index("# answer") < text.index("W2.T") < text.index("dh =") for text in rewritten
    )


def test_statements_stay_in_order_where_the_second_changes_or_reads_the_first() -> None:
    parts = ["f(1)", "[0]", "+= 1", ".add_(", ".sum()"]
    answer = "# answer: ex1-max\na = f(1)\nb = a[0]\nb += 1\nc = a.add_(b)\nd = c.sum()\n"
    for seed in range(20):
        rewritten = rewrite(answer, random.Random(seed))
        assert sorted(parts, key=rewritten.index) == parts


@pytest.mark.slow
def test_a_class_is_the_same_each_time_and_no_two_notebooks_are(tmp_path: Path) -> None:
    made = write_class(tmp_path / "one", Class(60, seed=3))
    again = write_class(tmp_path / "two", Class(60, seed=3))
    write_class(tmp_path / "three", Class(60, seed=4))
    assert made == again
    assert texts(tmp_path / "one") == texts(tmp_path / "two") != texts(tmp_path / "three")
    assert len(set(texts(tmp_path / "one").values())) == 60
    assert len({answers.kind for answers in made}) > 3


def test_the_grader_finds_the_answers(tmp_path: Path) -> None:
    paper = course_paper()
    for number in range(30):
        answers = draw(random.Random(number))
        path = tmp_path / f"{number}.ipynb"
        path.write_text(paper.filled(answers.text, "somebody"), encoding="utf-8")
        found = {cell.grade_id: cell.source for cell in read_submission(path, COURSE).cells}
        assert found.keys() == paper.blanks.keys()
        for grade_id, source in (split_answers(answers.text) if answers.text else {}).items():
            assert found[grade_id] == source


def test_what_one_cell_answers_the_others_do_not_ask_for(tmp_path: Path) -> None:
    write_class(tmp_path, Class(1, answers=only("right", "one_cell")))
    cells = read_submission(tmp_path / "s00000.ipynb", COURSE).cells
    assert not any("your turn" in cell.source for cell in cells)
