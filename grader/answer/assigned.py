"""Where a cell assigns gradients, as far as its text shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from grader.answer.parse import AnswerCell, parse_answer

_PLACEHOLDER = re.compile(r"(?:[\w\s,]+=)*\s*(?:\.\.\.|None|pass)")


def has_only_blanks(source: str) -> bool:
    """True if the cell has nothing but comments, and lines like `dX = ...`."""
    lines = (line.partition("#")[0].strip() for line in source.split("\n"))
    return all(_PLACEHOLDER.fullmatch(line) for line in lines if line)


@lru_cache(maxsize=256)
def first_assignments(source: str, names: tuple[str, ...]) -> Mapping[str, int]:
    """Find, for each of `names` that the cell assigns or changes, the first line that does so.

    Function bodies are scopes of their own and do not count. Results are cached, because a
    notebook asks about the same cells at every check.

    >>> first_assignments("x = 1\\ndlogits, dh = a, b", ("dh", "dC"))
    {'dh': 2}
    """
    wanted = [name for name in names if name in source]
    if not wanted:
        return {}
    answer = parse_answer([AnswerCell("", source)])
    found = (
        (name, statement.lineno)
        for statement in answer.statements
        for name in answer.shown[statement].writes.intersection(wanted)
    )
    first: dict[str, int] = {}
    for name, line in _in_text(source, wanted) if answer.broken else found:
        first.setdefault(name, line)
    return first


def _in_text(source: str, names: Sequence[str]) -> Iterator[tuple[str, int]]:
    """For a cell that Python cannot read, the lines that begin like an assignment."""
    pattern = re.compile(rf"\s*({'|'.join(map(re.escape, names))})\b[^=!<>]*=(?!=)")
    for number, line in enumerate(source.split("\n"), start=1):
        if match := pattern.match(line):
            yield match[1], number
