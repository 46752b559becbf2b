"""What several parts are written with: a table, a fold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The table, with each cell's text on one line.

    >>> print(table(["a", "b"], [["1", "x | y"]]))
    | a | b |
    | --- | --- |
    | 1 | x \\| y |
    """
    lines = [heading, ["---"] * len(heading), *([_cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def folded(title: str, body: str) -> str:
    """The Markdown below a title, folded away until a reader asks for it.

    >>> print(folded("More", "one\\n\\ntwo"))
    :::{dropdown} More
    <BLANKLINE>
    one
    <BLANKLINE>
    two
    :::
    """
    return f":::{{dropdown}} {title}\n\n{body}\n:::"
