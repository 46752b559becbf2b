"""Whether a command runs in the course's own repository."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

NEEDED = (Path("notebooks/source"), Path("tests/answers"), Path("pyproject.toml"))
"""What tells the repository's folder from any other."""


def why_not_here(command: str) -> str:
    """A sentence if this is not the course's repository, with the grader that is run in it."""
    if not all(path.exists() for path in NEEDED):
        return (
            f"`{command}` looks at the course's own files: run it in a clone of the course's"
            f" repository. There is no {next(p for p in NEEDED if not p.exists())} here."
        )
    if (own := Path(__file__).parents[1]) != Path("grader").resolve():
        return (
            f"This grader stands in {own}, and not in the repository here: run"
            f" `.venv/bin/python -m {command}`, which `make check` sets up."
        )
    if missing := [name for name in ("jupytext", "nbformat", "nbclient") if not find_spec(name)]:
        return f"{missing[0]} is missing: `{command}` needs `pip install -e '.[dev,lab]'`."
    return ""
