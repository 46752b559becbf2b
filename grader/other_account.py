"""Another account for a worker: one that owns nothing, where no namespace can be made."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache

NOBODY = 65534
"""The number of `nobody`, who owns no file on any system that is set up as it should be."""

TRIAL_SECONDS = 20.0


@cache
def account_trouble() -> str:
    """Why no worker can be started under another account, as a sentence; "" where it can."""
    if not sys.platform.startswith("linux"):
        return "Another account for students' code is something this grader has on Linux only."
    if os.geteuid() != 0:
        return (
            "Only root can start students' code under another account, and this is user "
            f"{os.geteuid()}."
        )
    if shutil.which("setpriv") is None:
        return (
            "setpriv, which starts students' code under another account, is missing: it is part of "
            "util-linux."
        )
    try:
        done = subprocess.run(
            with_other_account([sys.executable, "-I", "-S", "-c", ""]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TRIAL_SECONDS,
            check=False,
        )
        code, said = done.returncode, " ".join(done.stderr.split())[:200]
    except (OSError, subprocess.TimeoutExpired) as error:
        code, said = 1, str(error)
    if code == 0:
        return ""
    return (
        f"{sys.executable} cannot be started under another account ({said or 'it said nothing'}): "
        "may everybody read the folder that it is in?"
    )


def with_other_account(command: Sequence[str]) -> list[str]:
    """The command line that runs a command as nobody, who can never become anybody else."""
    return [
        "setpriv",
        *(f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"),
        *("--", *command),
    ]
