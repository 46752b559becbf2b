from collections import Counter
from pathlib import Path

import pytest

from benchmarks.fuzzing import damaged_bytes, damaged_code, damaged_tree
from benchmarks.fuzzing.notebooks import LEVELS, Damaged, damaged
from benchmarks.grade_fuzz import measure
from grader.submission.notebook_file import UnreadableNotebook, cells_in

NUMBER = 600


@pytest.fixture(scope="module")
def notebooks() -> list[Damaged]:
    return list(damaged(NUMBER, seed=5))


@pytest.mark.slow
def test_a_seed_means_the_same_notebooks(notebooks: list[Damaged]) -> None:
    assert list(damaged(NUMBER, seed=5)) == notebooks
    assert list(damaged(NUMBER, seed=6)) != notebooks
    assert len({one.data for one in notebooks}) > 0.9 * NUMBER


def test_every_kind_of_damage_is_done(notebooks: list[Damaged]) -> None:
    done = Counter((one.level, one.damage) for one in notebooks)
    wanted = {
        *(("bytes", name) for name in damaged_bytes.DAMAGES),
        *(("tree", name) for name in damaged_tree.DAMAGES),
        *(("code", name) for name in damaged_code.DAMAGES),
    }
    assert done.keys() == wanted
    assert {level for level, _ in done} == LEVELS.keys()


def test_damaged_code_can_still_be_read_as_a_notebook(notebooks: list[Damaged]) -> None:
    code = [one for one in notebooks if one.level == "code"]
    assert code
    for one in code:
        assert cells_in(one.data, Path("a.ipynb"))


def test_damaged_bytes_are_read_or_refused_with_a_sentence(notebooks: list[Damaged]) -> None:
    refused = 0
    for one in notebooks:
        try:
            cells_in(one.data, Path("a.ipynb"))
        except UnreadableNotebook:
            refused += 1
    assert 0.1 * NUMBER < refused < 0.9 * NUMBER


@pytest.mark.slow
def test_each_of_100_damaged_notebooks_gets_its_row() -> None:
    found = measure(100, seed=1)
    assert found.number == 100
    assert (found.without_line, found.with_several, found.without_row) == ([], [], [])
