"""Where the values of a JSON text stand, so that one can be replaced and the rest kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """The characters from `start` up to `end`."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Edit:
    """A span and what is to stand in its place."""

    span: Span
    replacement: str


def member_spans(text: str, start: int) -> dict[str, Span]:
    """The values of the object that begins at `start`; of equal keys the last, as in `json`."""
    spans: dict[str, Span] = {}
    position = _after_space(text, start + 1)
    while text[position] != "}":
        key, position = _DECODER.raw_decode(text, position)
        position = _after_space(text, _after_space(text, position) + 1)  # the colon
        spans[key], position = _value(text, position)
    return spans


def item_spans(text: str, start: int) -> list[Span]:
    """The items of the array that begins at `start`."""
    spans: list[Span] = []
    position = _after_space(text, start + 1)
    while text[position] != "]":
        span, position = _value(text, position)
        spans.append(span)
    return spans


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with each edit made; spans do not overlap."""
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return text


def _value(text: str, start: int) -> tuple[Span, int]:
    """The value at `start`, and where the next one, or the closing bracket, stands."""
    _, end = _DECODER.raw_decode(text, start)
    position = _after_space(text, end)
    if text[position] == ",":
        position = _after_space(text, position + 1)
    return Span(start, end), position


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    assert match is not None  # it may be empty
    return match.end()
