from __future__ import annotations

import pytest

from grader.printable import listed, printable, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("dlogits is wrong", "dlogits is wrong"),
        ("Ünïcödé ∂ 日本", "Ünïcödé ∂ 日本"),
        ("two\nlines\tand\u00a0spaces  ", "two lines and spaces"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("null \x00", r"null \x00"),
        ("bell \x07 delete \x7f", r"bell \x07 delete \x7f"),
        ("turned \u202e round", r"turned \u202e round"),
        ("half \ud83d", r"half \ud83d"),
        ("no character \ufffe", r"no character \ufffe"),
        ("", ""),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert shown.isprintable()


def test_visible_keeps_the_spaces_of_code() -> None:
    assert visible("x  =  1\t# \x1b") == r"x  =  1 # \x1b"


@pytest.mark.parametrize(
    ("names", "most", "said"),
    [
        ([], None, ""),
        (["a"], None, "a"),
        (["a", "b"], None, "a or b"),
        (["a", "b", "c"], 3, "a, b or c"),
        (["a", "b", "c"], 2, "a, b and 1 more"),
        (["a"] * 1500, 1, "a and 1,499 more"),
    ],
)
def test_listed(names: list[str], most: int | None, said: str) -> None:
    assert listed(names, "or", most) == said


def test_listed_takes_any_names_and_says_and() -> None:
    assert listed(iter("abc")) == "a, b and c"
