"""The table of words: a sentence for each code, of what the code's reasons bring along."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

import grader
from grader.reports.wording import ROWS, say
from grader.verdict import Code, because

CODES = [code for group in get_args(Code) for code in get_args(group) or (group,)]
DATA_ALONE = {"unbound", "kind"}
"""Arguments that no sentence has: code asks for them."""


def placeholders(code: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(ROWS[code]) if name}


def reasons() -> Iterator[tuple[str, set[str], bool]]:
    """Each code that is written with its arguments, and whether there are others."""
    for path in Path(grader.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(func=ast.Name("because"), args=[first], keywords=keywords):
                    given = {one.arg for one in keywords if one.arg}
                    is_open = any(one.arg is None for one in keywords)
                    constants = (n.value for n in ast.walk(first) if isinstance(n, ast.Constant))
                    yield from ((code, given, is_open) for code in constants)  # type: ignore[misc]


def test_each_code_has_a_row_and_each_row_a_code() -> None:
    assert sorted(CODES) == sorted(ROWS)
    assert len(CODES) > 40


def test_a_reason_brings_along_what_its_sentence_speaks_of() -> None:
    found = list(reasons())
    assert len(found) > 40
    for code, given, is_open in found:
        assert given <= placeholders(code) | DATA_ALONE, code
        assert is_open or placeholders(code) <= given, code


@pytest.mark.parametrize("code", CODES)
def test_a_sentence_is_whole_and_plain(code: str) -> None:
    sentence = ROWS[code]
    assert re.match(r"[A-Z`({]", sentence)
    assert sentence.endswith((".", "?", ".)", "{message}", "{did}"))
    assert sentence.count("`") % 2 == 0
    assert ";" not in sentence


def test_names_are_listed_as_a_sentence_has_them_and_braces_stay() -> None:
    assert say(because("waiting", gradients=("da", "db", "dc"))).endswith(
        "waits for da, db and dc to be written."
    )
    assert say(because("raised", did="raised KeyError: {x}.")) == "This line raised KeyError: {x}."
