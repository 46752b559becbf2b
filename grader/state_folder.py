"""The folder in which the course remembers something of its user between two commands."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

VARIABLE = "BACKPROP_NINJA_STATE"
"""The environment variable that names another folder."""


def state_folder() -> Path:
    """Where to remember things; the folder need not exist yet."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    # Imported here: a notebook that never asks for a hint need not wait for it.
    import platformdirs

    return platformdirs.user_state_path("backprop-ninja", appauthor=False)


def write_whole(path: Path, text: str) -> None:
    """Put a text in a file's place: who reads meanwhile finds the old one or the new, never half.

    Raises:
        OSError: it cannot be written; what was there before still is.
    """
    name = ""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f"{path.stem}.", delete=False
        ) as file:
            name = file.name
            file.write(text)
        Path(name).replace(path)
    except OSError:
        if name:
            with suppress(OSError):
                Path(name).unlink()
        raise
