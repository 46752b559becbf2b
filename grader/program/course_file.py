"""A course's files, read; what is wrong with one is said with its name."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import Any

from grader.user_error import UserError


class BadCourse(UserError):
    """A course that cannot be used; the message names the file and what to mend."""


class CourseFile:
    """A TOML file of a course: its `path`, and its `values` as `tomllib` reads them."""

    def __init__(self, path: Path) -> None:
        """Read the file.

        Raises:
            BadCourse: it is missing, or not TOML.
        """
        self.path = path
        try:
            self.values: dict[str, Any] = tomllib.loads(read_text(path))
        except (ValueError, RecursionError) as error:  # also a number of 5,000 digits
            raise BadCourse(f"{path} is not TOML: {error}.") from None

    def bad(self, sentence: str, table: str = "") -> BadCourse:
        """What to raise for a value: the sentence names its key, `table` says where it is."""
        return BadCourse(f"{self.path}{table and f', {table}'}: {sentence}.")


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
