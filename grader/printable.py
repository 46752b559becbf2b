"""Text made fit to show."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_COMMAND = re.compile(r"(?:\A|(?<=[\r\n]))\s*:(?=:)|##(?=\[)")


def printable(text: str) -> str:
    r"""A student's text on one line, with every invisible character spelled out.

    File names, error messages and code come from students. An escape sequence in them could change
    a terminal's colours, a bidirectional mark could reverse a line, and a lone surrogate could
    break the output.

    >>> printable("a\nb \x1b[32mpass")
    'a b \\x1b[32mpass'
    """
    return " ".join(visible(text).split())


def without_commands(text: str) -> str:
    """Whole lines of output, none of which is a command to a GitHub workflow.

    GitHub obeys a line that begins with two colons, or that contains `##[`. A student's words could
    be either, depending on where a line is broken, so a space is put in between.

    >>> without_commands("x[::2] is\\n  ::notice::points ##[error]")
    'x[::2] is\\n  : :notice::points ## [error]'
    """
    return _COMMAND.sub(r"\g<0> ", text)


def visible(line: str) -> str:
    """A line of code as `printable` would show it, but with its spaces."""
    return line if line.isprintable() else "".join(map(_show, line))


def _show(character: str) -> str:
    if character.isprintable():
        return character
    if character.isspace() or unicodedata.category(character) == "Zs":
        return " "
    return character.encode("unicode_escape").decode("ascii")


def sentence(text: str) -> str:
    """Turn somebody else's words, which may end in a question mark or a colon, into a sentence.

    >>> sentence("invalid syntax. Maybe you meant '=='?")
    "invalid syntax. Maybe you meant '=='?"
    >>> sentence("got (int), but expected one of:")
    'got (int).'
    """
    text = text.rstrip(" .,:").removesuffix(", but expected one of")
    return text if text.endswith(("?", "!")) else f"{text}."


def counted(number: float, noun: str) -> str:
    """The number with its noun: "1 file", "2,000 files", "0.5 seconds"."""
    digits = f"{number:,}" if isinstance(number, int) else f"{number:g}"
    return f"{digits} {noun}{'' if number == 1 else 's'}"


def listed(names: Iterable[str], last: str = "and", most: int | None = None) -> str:
    """List the names for a sentence; if there are more than `most`, count the others.

    >>> listed(["a", "b", "c"], "or")
    'a, b or c'
    >>> listed(["a", "b", "c", "d"], most=2)
    'a, b and 2 more'
    """
    names = list(names)
    if most is not None and len(names) > most:
        names, last = [*names[:most], f"{len(names) - most:,} more"], "and"
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def there_are(names: Iterable[str]) -> str:
    """Say what there is, for the end of a sentence.

    >>> there_are(["a"]), there_are(["a", "b"])
    ('there is a', 'there are a and b')
    """
    names = list(names)
    return f"there {'is' if len(names) == 1 else 'are'} {listed(names)}"
