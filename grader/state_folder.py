"""The folder in which the course remembers something of its user between two commands."""

from __future__ import annotations

import os
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
