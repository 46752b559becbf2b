"""The text of a file, one name a line, read as a list of names."""

from __future__ import annotations

from dataclasses import dataclass

from makemore_data.names.vocabulary import LETTERS

MIN_NAMES = 10
"""With fewer, training, development and test set (80/10/10) cannot hold a name each."""

SHOWN_CHARACTERS = 24


class UnusableNames(Exception):
    """A list of names cannot be used; the message is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class NameList:
    """Names in the order of their file, repeated ones included, as in the lecture's list.

    `lowered` counts the names that were written with capitals.
    """

    names: tuple[str, ...]
    lowered: int = 0


def parse_names(content: bytes, origin: str) -> NameList:
    """Read one name a line: all of them, or a sentence why not.

    Blank lines, blanks around a name, a byte order mark and any line ending are accepted;
    capitals A to Z become lower case. `origin` says in the sentence where the names come from.

    Raises:
        UnusableNames: no text, no names, too few of them, or a character outside a to z.
    """
    lines = _decode(content, origin).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    stripped = {number: line.strip(" \t") for number, line in enumerate(lines, 1)}
    written = {number: name for number, name in stripped.items() if name}
    if not written:
        raise UnusableNames(f"{origin} holds no names.")
    strange = [number for number, name in written.items() if _strange_character(name)]
    if strange:
        # Without these lines it would be another list than the one asked for.
        raise UnusableNames(_complain(strange, written, origin))
    if len(written) < MIN_NAMES:
        raise UnusableNames(
            f"{origin} holds too few names: expected at least {MIN_NAMES}, got {len(written)}."
        )
    names = tuple(name.lower() for name in written.values())
    lowered = sum(name != read for name, read in zip(names, written.values(), strict=True))
    return NameList(names, lowered)


def _decode(content: bytes, origin: str) -> str:
    if not content:
        raise UnusableNames(f"{origin} is empty.")
    if b"\0" in content:
        raise UnusableNames(f"{origin} is not a text file: it holds null bytes.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnusableNames(
            f"{origin} is not a text file in UTF-8: byte 0x{content[error.start]:02x} "
            f"at position {error.start} does not fit."
        ) from None


def _strange_character(name: str) -> str:
    """The first character outside a to z and A to Z, or nothing."""
    if name.isascii() and name.isalpha():
        return ""
    return next(character for character in name if character not in LETTERS + LETTERS.upper())


def _complain(strange: list[int], written: dict[int, str], origin: str) -> str:
    number = strange[0]
    name = written[number]
    shown = name if len(name) <= SHOWN_CHARACTERS else name[:SHOWN_CHARACTERS] + "..."
    others = len(strange) - 1
    more = f" ({others} more such line{'s' if others > 1 else ''})" if others else ""
    return (
        f"Line {number} of {origin} is {shown!r}, but {_strange_character(name)!r} "
        f"is not a letter from a to z{more}."
    )
