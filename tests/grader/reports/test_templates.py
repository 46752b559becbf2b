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
        # A shape in a sentence does not break over two lines; code is as it was.
        ("(32, 1) is no `(1, 2)`", "(32,&nbsp;1) is no <code>(1, 2)</code>"),
        ("[32, 3, 10], (a, b)", "[32,&nbsp;3,&nbsp;10], (a, b)"),
        ("\x1b[31mred\nline", "\\x1b[31mred line"),
    ],
)
def test_code_is_an_element_and_everything_else_text(text: str, html: str) -> None:
    assert str(marked(text)) == html
