from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grader.gradebook.page_names import page_name

SAFE = re.compile(r"[a-z0-9][a-z0-9_-]*(\.[0-9a-f]{16})?\.html")


@example("con")
@example("Nul!")
@given(st.text(alphabet=st.characters(codec=None)))
def test_is_safe_everywhere(student: str) -> None:
    name = page_name(student)
    assert SAFE.fullmatch(name)
    assert len(name) < 80
    assert not re.match(r"(con|prn|aux|nul|com\d|lpt\d)\.", name)


@pytest.mark.parametrize("other", ["Ada", "ada ", "ADA", "ada.", "a/da", "ada.html", "\u202eada"])
def test_nobody_takes_anothers_page(other: str) -> None:
    assert page_name("ada") == "ada.html"
    assert page_name(other).lower() != "ada.html"
    assert page_name(page_name(other).removesuffix(".html")) != page_name(other)
