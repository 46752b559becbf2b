"""The hints of the course, read from their files."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from grader.source import HINTS_A_GRADIENT, Hints, SourceError


def load_hints(folder: Path) -> Hints:
    """The hints of every exercise: `folder`/ex1.toml holds `[dprobs]` with `hints = [...]`."""
    hints: dict[str, dict[str, Sequence[str]]] = {}
    for path in sorted(folder.glob("*.toml")):
        try:
            tables = tomllib.loads(path.read_text(encoding="utf-8"))
            hints[path.stem] = {gradient: table["hints"] for gradient, table in tables.items()}
        except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
            raise SourceError(
                f"{path} cannot be read ({error}): it holds tables like `[dprobs]`, "
                f"each with `hints = [...]`, {HINTS_A_GRADIENT} strings."
            ) from error
    return hints
