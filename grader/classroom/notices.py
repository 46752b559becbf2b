"""Notices: what an instructor should know, each a code with arguments, worded in one table."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files

from grader.classroom.intake.class_folder import Remark

_TABLE: Mapping[str, Mapping[str, str]] = tomllib.loads(
    files(__package__).joinpath("notices.toml").read_text(encoding="utf-8")
)


class Notice(str):
    """A sentence of the table `notices.toml`, by its code."""

    code: str
    arguments: Mapping[str, object]

    def __new__(cls, code: str, **arguments: object) -> Notice:
        """Word the notice; raises KeyError where the table has no row for the code."""
        rows = _TABLE["remark" if issubclass(cls, Remark) else "warning"]
        notice = super().__new__(cls, rows[code].format(**arguments))
        notice.code, notice.arguments = code, arguments
        return notice


class Note(Notice, Remark):
    """A notice of something that is as it should be: `--quiet` leaves it out."""
