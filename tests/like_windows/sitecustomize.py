"""Takes away what Windows lacks, in each process that a test with `--like-windows` starts."""

from __future__ import annotations

import builtins
import os
import signal
from typing import Any

LACKING = {
    os: ("fork", "geteuid", "killpg", "setsid", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK"),
    signal: ("SIGALRM", "alarm", "setitimer"),
}
"""Functions that nothing but our own packages looks for in the processes of these tests."""

MODULES = ("fcntl", "resource")
OURS = ("grader", "makemore_data")

_import = builtins.__import__


def _like_windows(name: str, globals: Any = None, *rest: Any, **more: Any) -> Any:
    """Import a module; those that Windows lacks are missing for our own packages."""
    importing = str((globals or {}).get("__name__")).partition(".")[0]
    if name in MODULES and importing in OURS:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return _import(name, globals, *rest, **more)


def take_away() -> None:
    """Make this process one that lacks what Windows lacks."""
    builtins.__import__ = _like_windows
    for module, names in LACKING.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)


take_away()
