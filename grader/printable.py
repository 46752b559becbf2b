"""Text written by a student, made safe to show."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    r"""The text on one line, with everything that is not meant to be seen spelled out.

    File names, error messages and code come from students: an escape sequence in them could
    recolour a terminal, a bidirectional mark turn a line round, a lone surrogate break the output.

    >>> printable("a\nb \x1b[32mpass")
    'a b \\x1b[32mpass'
    """
    return " ".join(visible(text).split())


def visible(line: str) -> str:
    """A line of code as `printable` would show it, its spaces kept."""
    return line if line.isprintable() else "".join(map(_show, line))


def _show(character: str) -> str:
    if character.isprintable():
        return character
    if character.isspace() or unicodedata.category(character) == "Zs":
        return " "
    return character.encode("unicode_escape").decode("ascii")
