"""The hints of the course, from `grader/hints`, the one place where they stand."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

FOLDER = Path(__file__).parent / "hints"

Levels = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Exercise ("ex1") -> gradient ("dcounts") -> Markdown texts, from nudge to nearly-there."""


@cache
def read_levels(folder: Path = FOLDER) -> Levels:
    """The hints of every exercise, read once a process."""
    return MappingProxyType(
        {
            path.stem: MappingProxyType(
                {
                    gradient: tuple(table["hints"])
                    for gradient, table in tomllib.loads(path.read_text("utf-8")).items()
                }
            )
            for path in sorted(folder.glob("*.toml"))
        }
    )
