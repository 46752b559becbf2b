"""A part of a page that is folded away until a reader asks for it."""

from __future__ import annotations


def folded(title: str, body: str) -> str:
    """The Markdown below a title, folded.

    >>> print(folded("More", "one\\n\\ntwo"))
    :::{dropdown} More
    <BLANKLINE>
    one
    <BLANKLINE>
    two
    :::
    """
    return f":::{{dropdown}} {title}\n\n{body}\n:::"
