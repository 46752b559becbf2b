"""Notices for the instructor: each is a code with arguments, worded in one table."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files

from grader.printable import counted, listed, printable

_TABLE: Mapping[str, Mapping[str, str]] = tomllib.loads(
    files(__package__).joinpath("notices.toml").read_text(encoding="utf-8")
)

MOST_NAMED = 5
"""The most names that a notice lists, since there may be thousands."""


class Notice(str):
    """A sentence from the table `notices.toml`, by its code."""

    code: str
    arguments: Mapping[str, object]
    kind = "warning"

    def __new__(cls, code: str, **arguments: object) -> Notice:
        """Word the notice; raise KeyError if the table has no row for the code.

        A number is followed by the noun after the colon, as in "{files:file}". Of a list, the first
        names are written, with the word after the colon before the last one.
        """
        words = {name: _as_words(value) for name, value in arguments.items()}
        notice = super().__new__(cls, _TABLE[cls.kind][code].format(**words))
        notice.code, notice.arguments = code, arguments
        return notice


class Note(Notice):
    """A notice about something that is in order, which `--quiet` leaves out."""

    kind = "remark"


class _Number(int):
    def __format__(self, noun: str) -> str:
        return counted(int(self), noun) if noun else f"{int(self):,}"


class _Names(tuple[str, ...]):
    def __format__(self, last: str) -> str:
        return listed(map(printable, self), last or "and", most=MOST_NAMED)


def _as_words(value: object) -> object:
    if isinstance(value, int):
        return _Number(value)
    return _Names(value) if isinstance(value, list) else value
