"""A part of a page that is folded away until a reader asks for it."""

from __future__ import annotations

from textwrap import indent


def folded(title: str, body: str) -> str:
    """The Markdown below a title, folded.

    >>> print(folded("More", "one\\n\\ntwo"))
    ??? note "More"
    <BLANKLINE>
        one
    <BLANKLINE>
        two
    """
    return f'??? note "{title}"\n\n{indent(body, "    ")}'
