"""The guide's three examples are explained, and PyTorch's own check says less."""

from __future__ import annotations

import re

import pytest

from docs.building.explained import bugs_table, example, gradcheck_says
from docs.building.parts import PARTS


@pytest.mark.parametrize(
    ("part", "line", "said"),
    [
        ("batchnorm", "dx = gain * inv / n", "((n - 1)/n) times what it should be."),
        ("attention", "dscores = weights", "The axis in `-2` is not the right one."),
        ("swiglu", "da = dgate * (s + s", "`s` is the wrong tensor here."),
    ],
)
def test_an_example_is_explained_with_the_line_that_the_page_shows(
    part: str, line: str, said: str
) -> None:
    text = PARTS[part]()
    code = text.split("```")[1].partition("\n\n")[2].splitlines()
    number = next(place for place, one in enumerate(code, start=1) if one.strip().startswith(line))
    assert f"{part}.py, line {number}\n" in text
    assert said in re.sub(r"\s+", " ", text)
    assert max(map(len, text.splitlines())) <= 100


def test_the_output_has_no_colours_and_no_folder_of_this_machine() -> None:
    text = example("attention", "attention", "attention_backward")
    assert "\x1b" not in text
    assert "/" not in text.partition("```console")[2].replace("\n", "")


def test_a_failing_test_shows_the_line() -> None:
    text = PARTS["failing"]()
    assert "E       AssertionError: da: fail in " in text
    assert "`s` is the wrong tensor here." in re.sub(r"\nE? *", " ", text)


def test_gradcheck_says_no_more_than_a_mismatch() -> None:
    assert "Jacobian mismatch for output 0 with respect to input 0" in gradcheck_says()


@pytest.mark.slow
def test_the_table_of_bugs_meets_its_goals() -> None:
    blamed, named, wrong = re.findall(r"^\| [a-z ,]+ \| (\d+)%? \|", bugs_table(), re.MULTILINE)
    assert int(blamed) >= 95
    assert int(named) >= 70
    assert int(wrong) <= 1
