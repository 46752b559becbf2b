from __future__ import annotations

import pytest

from grader.printable import printable, visible


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
