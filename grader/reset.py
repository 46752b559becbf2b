"""A notebook with its answers taken out again, everything else as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.answer_cells import find_claims, role_comments
from grader.json_spans import Edit, Span, apply_edits, item_spans, member_spans
from grader.notebook_file import Cell


@dataclass(frozen=True, slots=True)
class Reset:
    """A notebook's new text, the ids of the cells that changed, those that could not be found."""

    text: str
    changed: tuple[str, ...]
    missing: tuple[str, ...]


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
    spans = item_spans(text, member_spans(text, text.index("{"))["cells"].start)
    found = _ids(cells)
    changed: dict[str, None] = {}
    edits: list[Edit] = []
    for number, grade_id in found.items():
        if grade_id not in blanks:
            continue
        parts = member_spans(text, spans[number - 1].start)
        own = [*_blanked(text, parts, blanks[grade_id]), *_not_run(text, parts)]
        if own:
            changed[grade_id] = None
        edits += own
    for number in _check_cells(cells, changed):
        edits += _not_run(text, member_spans(text, spans[number - 1].start))
    missing = tuple(grade_id for grade_id in blanks if grade_id not in found.values())
    return Reset(apply_edits(text, edits), tuple(changed), missing)


def _ids(cells: Sequence[Cell]) -> dict[int, str]:
    """The ids of the code cells that are there to be changed, by the cells' numbers."""
    ids = {claim.cell.number: claim.grade_id for claim in find_claims(cells)}
    for cell in cells:
        for role, grade_id in role_comments(cell.source or "") if not cell.nbgrader else ():
            if role == "try":
                ids.setdefault(cell.number, grade_id)
    code = {cell.number for cell in cells if cell.kind == "code"}
    return {number: ids[number] for number in sorted(ids) if number in code}


def _check_cells(cells: Sequence[Cell], answers: Collection[str]) -> Iterator[int]:
    for cell in cells:
        told = {grade_id for role, grade_id in role_comments(cell.source or "") if role == "check"}
        named = str(cell.nbgrader.get("grade_id")).removesuffix("-check")
        if cell.kind == "code" and (told | {named} if cell.nbgrader.get("grade") else told) & {
            *answers
        }:
            yield cell.number


def _blanked(text: str, parts: Mapping[str, Span], blank: str) -> Iterator[Edit]:
    if (span := parts.get("source")) and _as_string(json.loads(span.of(text))) != blank:
        yield Edit(span, _source(text, span, blank))


def _as_string(source: object) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _not_run(text: str, parts: Mapping[str, Span]) -> Iterator[Edit]:
    for key, blank in (("outputs", "[]"), ("execution_count", "null")):
        if (span := parts.get(key)) and json.loads(span.of(text)) != json.loads(blank):
            yield Edit(span, blank)


def _source(text: str, span: Span, blank: str) -> str:
    """The blank as JSON, laid out like what it replaces: a string, or a list of lines."""
    old = span.of(text)
    if not old.startswith("["):
        return json.dumps(blank, ensure_ascii=False)
    lines = [json.dumps(line, ensure_ascii=False) for line in blank.splitlines(keepends=True)]
    before, after = _gaps(text, span)
    return "[" + before + ("," + (before or " ")).join(lines) + after + "]"


def _gaps(text: str, span: Span) -> tuple[str, str]:
    """The white space before each item of a list, and before its closing bracket."""
    if full := re.fullmatch(r"\[(\s*)[^\s\]].*?(\s*)\]", span.of(text), re.DOTALL):
        return full[1], full[2]
    # An empty list tells nothing; whether its key begins a line does.
    line = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    if own_line := re.match(r'(\s*)"source"', line):
        return f"\n{own_line[1]} ", f"\n{own_line[1]}"
    return "", ""
