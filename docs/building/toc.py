"""The table of contents of a page, as MkDocs wants it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TypedDict


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the page: its level from 1 to 6, its anchor, its text."""

    level: int
    anchor: str
    text: str


class Entry(TypedDict):
    """One heading with those below it; the keys are Python-Markdown's."""

    level: int
    id: str
    name: str
    children: list[Entry]


def nested(headings: Sequence[Heading]) -> list[Entry]:
    """Headings in order, each within the last one before it of a higher level.

    >>> part, section = Heading(2, "part", "Part"), Heading(3, "section", "Section")
    >>> [entry["children"][0]["name"] for entry in nested([part, section])]
    ['Section']
    """
    top: list[Entry] = []
    open_: list[Entry] = []
    for heading in headings:
        entry = Entry(
            level=heading.level, id=heading.anchor, name=escape(heading.text), children=[]
        )
        while open_ and open_[-1]["level"] >= heading.level:
            open_.pop()
        (open_[-1]["children"] if open_ else top).append(entry)
        open_.append(entry)
    return top
