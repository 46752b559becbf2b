"""A student's line as it can be shown to others: it does not say whose it is."""

from __future__ import annotations

import io
import re
import tokenize
from functools import lru_cache

from grader.classroom.intake.class_folder import Student

LONGEST = 200
"""Characters of a line that are shown."""

_SHORTEST_NAME = 3
"""Of a name's parts, those of fewer letters are also words of mathematics."""


def shareable(code: str, author: Student) -> str:
    """The line without its comments; "" if it holds a part of its author's name or id.

    >>> shareable("dz  = p * dp  # by Ada", Student("ada-1", "Lovelace, Ada"))
    'dz = p * dp'
    >>> shareable("ada = p * dp", Student("ada-1", "Lovelace, Ada"))
    ''
    """
    line = " ".join(without_comments(code).split())
    return "" if names_author(line, author) else line[:LONGEST]


def names_author(text: str, author: Student) -> bool:
    """True if a part of the author's name or id stands in the text, also within an identifier."""
    return not _parts(f"{author.name} {author.id}").isdisjoint(_parts(text))


@lru_cache(maxsize=10_000)
def without_comments(code: str) -> str:
    """The code without comments; where it is no Python, without what follows a `#`."""
    cuts: dict[int, int] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT:
                cuts[token.start[0]] = token.start[1]
    except (tokenize.TokenError, SyntaxError, ValueError):
        # a bracket that is closed on another line, say: what was read so far may lack comments
        return "\n".join(line.partition("#")[0].rstrip() for line in code.splitlines())
    lines = code.splitlines()
    return "\n".join(
        line[: cuts[number]].rstrip() if number in cuts else line
        for number, line in enumerate(lines, 1)
    )


@lru_cache(maxsize=10_000)
def _parts(text: str) -> frozenset[str]:
    """The words of a text, by letters: those of an identifier too."""
    return frozenset(
        word for word in re.findall(r"[^\W\d_]+", text.lower()) if len(word) >= _SHORTEST_NAME
    )
