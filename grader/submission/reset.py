"""Put answer cells back to the blank and leave every other character of the notebook alone."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.submission.answer_cells import find_answer_cells, role_comments
from grader.submission.notebook_file import Cell

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class Reset:
    """A notebook's new text, the ids of the cells that changed, those that could not be found."""

    text: str
    changed: tuple[str, ...]
    missing: tuple[str, ...]


Edit = tuple[slice, str]
"""Which characters to replace, and with what."""


def reset_cells(text: str, cells: Sequence[Cell], blanks: Mapping[str, str]) -> Reset:
    """The notebook with some of its cells back to the blank.

    Of a cell only the source, the outputs and the execution count change; its check cell, whose
    outputs speak of the old answer, loses these as well. A copy of an answer cell, or half of one
    that was split, becomes blank like the first.

    Args:
        text: the notebook's JSON, valid.
        cells: the cells in it.
        blanks: what the cells are to hold, by their ids.
    """
    spans = value_spans(text, value_spans(text, text.index("{"))["cells"].start)
    found = _ids(cells)
    changed: dict[str, None] = {}
    edits: list[Edit] = []
    for number, grade_id in found.items():
        if grade_id not in blanks:
            continue
        parts = value_spans(text, spans[number - 1].start)
        own = [*_blanked(text, parts, blanks[grade_id]), *_not_run(text, parts)]
        if own:
            changed[grade_id] = None
        edits += own
    for number in _check_cells(cells, changed):
        edits += _not_run(text, value_spans(text, spans[number - 1].start))
    missing = tuple(grade_id for grade_id in blanks if grade_id not in found.values())
    return Reset(apply_edits(text, edits), tuple(changed), missing)


def _ids(cells: Sequence[Cell]) -> dict[int, str]:
    """The ids of the code cells that are there to be changed, by the cells' numbers."""
    ids = {cell.number: grade_id for grade_id, cell in find_answer_cells(cells)}
    for cell in cells:
        for role, grade_id in role_comments(cell.source or "") if not cell.nbgrader else ():
            if role == "try":
                ids.setdefault(cell.number, grade_id)
    code = {cell.number for cell in cells if cell.kind == "code"}
    return {number: ids[number] for number in sorted(ids) if number in code}


def _check_cells(cells: Sequence[Cell], answers: Collection[str]) -> Iterator[int]:
    for cell in cells:
        checked = [name for role, name in role_comments(cell.source or "") if role == "check"]
        if cell.nbgrader.get("grade"):
            checked.append(str(cell.nbgrader.get("grade_id")).removesuffix("-check"))
        if cell.kind == "code" and any(grade_id in answers for grade_id in checked):
            yield cell.number


def _blanked(text: str, parts: Mapping[str | int, slice], blank: str) -> Iterator[Edit]:
    if (span := parts.get("source")) and _as_string(json.loads(text[span])) != blank:
        yield span, _source(text, span, blank)


def _as_string(source: object) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _not_run(text: str, parts: Mapping[str | int, slice]) -> Iterator[Edit]:
    for key, blank in (("outputs", "[]"), ("execution_count", "null")):
        if (span := parts.get(key)) and json.loads(text[span]) != json.loads(blank):
            yield span, blank


def _source(text: str, span: slice, blank: str) -> str:
    """The blank as JSON, laid out like what it replaces: a string, or a list of lines."""
    if text[span.start] != "[":
        return json.dumps(blank, ensure_ascii=False)
    lines = [json.dumps(line, ensure_ascii=False) for line in blank.splitlines(keepends=True)]
    before, after = _gaps(text, span)
    return "[" + before + ("," + (before or " ")).join(lines) + after + "]"


def _gaps(text: str, span: slice) -> tuple[str, str]:
    """The white space before each item of a list, and before its closing bracket."""
    if full := re.fullmatch(r"\[(\s*)[^\s\]].*(?<!\s)(\s*)\]", text[span], re.DOTALL):
        return full[1], full[2]
    # An empty list tells nothing; whether its key begins a line does.
    line = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    if own_line := re.match(r'(\s*)"source"', line):
        return f"\n{own_line[1]} ", f"\n{own_line[1]}"
    return "", ""


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with each edit made; none may overlap another."""
    for span, replacement in sorted(edits, key=lambda edit: edit[0].start, reverse=True):
        text = text[: span.start] + replacement + text[span.stop :]
    return text


def value_spans(text: str, start: int) -> dict[str | int, slice]:
    """Where the values of a JSON object or array stand that begins at `start`.

    Members go by their key, the last of equal ones as in `json`; items by their position.
    """
    spans: dict[str | int, slice] = {}
    position = _after_space(text, start + 1)
    while text[position] not in "}]":
        key: str | int = len(spans)
        if text[start] == "{":
            key, position = _DECODER.raw_decode(text, position)
            position = _after_space(text, _after_space(text, position) + 1)  # the colon
        _, end = _DECODER.raw_decode(text, position)
        spans[key] = slice(position, end)
        position = _after_space(text, end)
        if text[position] == ",":
            position = _after_space(text, position + 1)
    return spans


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    assert match is not None  # it may be empty
    return match.end()
