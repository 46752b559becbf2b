"""A course's TOML file, whose values can be complained of with their line."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

from grader.user_error import UserError


class BadCourse(UserError):
    """A course that cannot be used; the message names the file, the line and what to mend."""


class CourseFile:
    """A TOML file of a course: its `path`, and its `values` as `tomllib` reads them."""

    def __init__(self, path: Path) -> None:
        """Read the file.

        Raises:
            BadCourse: it is missing, or not TOML.
        """
        text = read_text(path)
        self.path, self._lines = path, text.splitlines()
        try:
            self.values: dict[str, Any] = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # also a number of 5,000 digits
            said, at, place = str(error).lower().partition(" (at ")
            found = re.match(r"line (\d+),", place)
            line = int(found[1]) if found else len(self._lines) if at else 1
            raise BadCourse(f"{path}, line {line}: this is not TOML: {said}.") from None

    def bad(self, sentence: str, key: str, table: str | None = None, number: int = 0) -> BadCourse:
        """What to raise for the value of a key: at the top, or in the n-th table of a name."""
        return BadCourse(f"{self.path}, line {self._line_of(key, table, number)}: {sentence}.")

    def _line_of(self, key: str, table: str | None, number: int) -> int:
        """The line of a key, or else where its table, or the file, begins: `tomllib` tells none."""
        header = re.compile(rf"\s*\[+\s*{table}\s*\]")
        starts = [n for n, line in enumerate(self._lines) if table and header.match(line)]
        start, end = (*starts[number : number + 2], None, None)[:2]
        for place, line in enumerate(self._lines[start:end], (start or 0) + 1):
            if re.match(rf"[\s\[]*{re.escape(key)}\b", line):
                return place
        return (start or 0) + 1


def read_text(path: Path) -> str:
    """A course's file as text.

    Raises:
        BadCourse: it is missing, or no text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise BadCourse(f"{path} is missing, which a course has to have.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadCourse(f"{path} cannot be read as text: {error}.") from None


def read_python(path: Path, text: str) -> ast.Module:
    """The syntax tree of a course's Python file.

    Raises:
        BadCourse: it is not Python.
    """
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise BadCourse(f"{path}, line {line}: this is not Python: {error.args[0]}.") from None
