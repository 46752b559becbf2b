"""Sentences with code between backticks, in pages."""

import pytest

from grader.reports.templates import marked


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("`dh` has no `sum`.", "<code>dh</code> has no <code>sum</code>."),
        ("`a < b` & c", "<code>a &lt; b</code> &amp; c"),
        ("`</code><script>`", "<code>&lt;/code&gt;&lt;script&gt;</code>"),
        ("one ` alone", "one ` alone"),
        ("``", "``"),
        ("\x1b[31mred\nline", "\\x1b[31mred line"),
    ],
)
def test_code_is_an_element_and_everything_else_text(text: str, html: str) -> None:
    assert str(marked(text)) == html
