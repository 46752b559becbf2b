from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.gradebook.csv_cells import id_cell, text_cell

DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
ANY = st.text(alphabet=st.characters(codec=None))
HOSTILE = st.one_of(ANY, ANY.map("=".__add__), ANY.map("\t=".__add__), ANY.map(" ;+".__add__))


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("Ada", "Ada"),
        ("=1+1", "'=1+1"),
        ("\t=1+1", "'=1+1"),
        ("\r\n@SUM(1)", "'@SUM(1)"),
        ("Ada; =1", "Ada; '=1"),
        ("＝1", "'＝1"),
        ("-5", "-5"),  # a number is nothing else
        ("+12,5 %", "'+12,5 %"),
        ("'=1", "'=1"),
        ("a=b, c-d", "a=b, c-d"),
        ("", ""),
    ],
)
def test_a_text_is_no_formula(text: str, cell: str) -> None:
    assert text_cell(text) == cell


@pytest.mark.parametrize(
    "id_",
    [
        *("00123", "-1234", "+46701234567", "@ada", "ada@uni.example", "+ada.b-c@uni.example"),
        *("-", "Участник 7", "Participant 4711", "s123/45", "Zoe\u0308", "  padded ", "a,b;c", '"'),
    ],
)
def test_an_id_comes_back_as_it_went_in(id_: str) -> None:
    assert id_cell(id_) == id_


@pytest.mark.parametrize("id_", ["=A1", "+cmd|' /C calc'!A0", "@SUM(1)", "-1+HYPERLINK(2)", "a;=1"])
def test_an_id_that_could_be_a_call_becomes_text(id_: str) -> None:
    assert id_cell(id_).replace("'", "", 1) == id_ or id_cell(id_).count("'") > id_.count("'")


@given(HOSTILE)
def test_no_text_begins_like_a_formula(text: str) -> None:
    for cell in (text_cell(text), id_cell(text)):
        assert cell.isprintable()
        if cell.lstrip().startswith(DANGEROUS):
            assert not set(cell) & set("=(|!\"' ")
        for part in cell.split(";")[1:]:
            assert not part.lstrip().startswith(DANGEROUS)
