"""Packages that a command needs, but that only an extra installs."""

from __future__ import annotations

from importlib.util import find_spec

from grader.user_error import UserError

PACKAGES = {
    "author": ("ipykernel", "jupytext", "nbclient", "nbformat"),
    "dask": ("distributed",),
    "grade": ("filelock", "msgspec", "polars", "yaml"),
    "lab": ("ipykernel", "ipywidgets", "jupyter"),
}
"""The modules of each extra that `pyproject.toml` names."""


def require(extra: str, command: str) -> None:
    """Raise UserError if a package of an extra is missing."""
    if missing := [name for name in PACKAGES[extra] if not find_spec(name)]:
        raise UserError(
            f"{missing[0]} is missing: `{command}` needs `pip install 'backprop-ninja[{extra}]'`."
        )
