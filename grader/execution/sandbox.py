"""The sandbox: the command line that starts a worker where there is nothing to take or break."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from grader.execution.libraries import LINKER_FILES, SYSTEM, hidden_packages, library_folders
from grader.user_error import UserError

PACKAGE = Path(__file__).resolve().parents[1]
INSIDE = Path("/grader")
"""Where the worker's package is, inside; nothing else of the project is."""

TRIAL_SECONDS = 20.0

PYTHON_STARTS = (sys.executable, "-I", "-S", "-c", "")
"""What is tried in a sandbox."""

NOBODY = 65534
"""The number of `nobody`, who owns no file on any system that is set up as it should be."""

SETTINGS = {
    # One thread, whatever a statement asks for: a thread more is a process more, and refused.
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "OMP_THREAD_LIMIT": "1",
    # The order of a set of strings must not depend on the worker that ran the answer.
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1",
    "PYTHONUTF8": "1",
}
INSIDE_SETTINGS = {
    **{"HOME": "/tmp", "TMPDIR": "/tmp", "USER": "worker", "LOGNAME": "worker"},
    **{"LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"},
}
KEPT_VARIABLES = ("ATEN_CPU_CAPABILITY", "MKL_CBWR", "OPENBLAS_CORETYPE")
"""What decides how numbers are rounded: the judge and the worker should agree on it."""

HOW_TO_GET_BWRAP = (
    "Install it with `apt install bubblewrap` (Debian, Ubuntu), `dnf install bubblewrap` (Fedora)"
    " or `pacman -S bubblewrap` (Arch)."
)
MAY_NOT = re.compile(r"permi|denied|namespace|loopback|uid map|mount", re.I)
"""In what bwrap says where the system keeps it from making its namespaces."""

HOW_TO_ALLOW = (
    "A container may make no container of its own: start it with `--security-opt"
    " seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined`"
    " (Docker, Podman), or grade outside. Ubuntu 24.04 and later let only programs with an AppArmor"
    " profile make user namespaces: `apt install apparmor-profiles` brings bwrap's, in"
    " /usr/share/apparmor/extra-profiles/bwrap-userns-restrict; copy it to /etc/apparmor.d and run"
    " `systemctl reload apparmor`. If user namespaces are switched off, `sysctl -w"
    " user.max_user_namespaces=10000` switches them on."
)
HOW_TO_GO_WITHOUT = (
    "To grade without it, say `--sandbox none`: then students' code runs as you, and what it does"
    " to your files and network is limited only where the system allows that without bwrap. Do so"
    " for code you trust, or on a machine with nothing to lose."
)


class Sandbox(StrEnum):
    """Where a worker runs."""

    BWRAP = "bwrap"
    ACCOUNT = "account"
    """Another account, one that owns nothing: for containers that can make none of their own."""
    NONE = "none"


class NoSandbox(UserError):
    """There is no sandbox; the message says why, how to get one, and how to go without."""


@dataclass(frozen=True, slots=True)
class Bwrap:
    """Whether bwrap works here: its path, or a sentence about why not."""

    path: str | None
    trouble: str = ""


@cache
def find_bwrap() -> Bwrap:
    """Look for bwrap and try once whether it may make its namespaces."""
    if not sys.platform.startswith("linux"):
        return Bwrap(
            None,
            "bwrap, which confines students' code, is a program of Linux: use a Linux machine, or"
            " on Windows WSL 2.",
        )
    path = shutil.which("bwrap")
    if path is None:
        return Bwrap(None, f"bwrap, which confines students' code, is missing. {HOW_TO_GET_BWRAP}")
    code, said = _output(_bwrap_command(path, PYTHON_STARTS))
    if code == 0:
        return Bwrap(path)
    trouble = f"{path}, which confines students' code, does not work here ({said})."
    return Bwrap(None, f"{trouble} {HOW_TO_ALLOW}" if MAY_NOT.search(said) else trouble)


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
    code, said = _output(with_other_account(PYTHON_STARTS))
    return (
        ""
        if code == 0
        else (
            f"{sys.executable} cannot be started under another account ({said}): may everybody read"
            " the folder that it is in?"
        )
    )


def with_other_account(command: Sequence[str]) -> list[str]:
    """The command line that runs a command as nobody, who can never become anybody else."""
    return [
        "setpriv",
        *(f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"),
        *("--", *command),
    ]


def best_sandbox() -> Sandbox:
    """The strongest sandbox there is here."""
    return Sandbox.NONE if find_bwrap().path is None else Sandbox.BWRAP


def require(sandbox: Sandbox) -> None:
    """Make sure that there is this sandbox.

    Raises:
        NoSandbox: there is not.
    """
    if sandbox is Sandbox.BWRAP and find_bwrap().path is None:
        raise NoSandbox(f"{find_bwrap().trouble} {HOW_TO_GO_WITHOUT}")
    if sandbox is Sandbox.ACCOUNT and (trouble := account_trouble()):
        raise NoSandbox(trouble)


def sandboxed(command: Sequence[str], sandbox: Sandbox) -> list[str]:
    """The command line that runs a command in a sandbox.

    Give it `worker_environment` and start it from a thread that lives as long as it shall: bwrap
    dies with the thread that started it.

    Raises:
        NoSandbox: there is none.
    """
    require(sandbox)
    bwrap = find_bwrap().path
    if sandbox is Sandbox.BWRAP and bwrap is not None:
        return _bwrap_command(bwrap, command)
    return with_other_account(command) if sandbox is Sandbox.ACCOUNT else list(command)


def worker_root(sandbox: Sandbox) -> Path:
    """The folder from which a worker imports `grader.worker`."""
    return INSIDE if sandbox is Sandbox.BWRAP else PACKAGE.parent


def worker_environment(sandbox: Sandbox) -> dict[str, str]:
    """The environment a worker is started with; in a sandbox, nothing of the judge's own."""
    if sandbox is Sandbox.NONE:
        return {**os.environ, **SETTINGS}
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    # Packages in a user's own folder, or named by PYTHONPATH, are not found by themselves.
    folders = [str(folder) for folder in library_folders() if _on_path(folder)]
    path = {"PYTHONPATH": os.pathsep.join(folders)}
    return kept | SETTINGS | INSIDE_SETTINGS | path


def _on_path(folder: Path) -> bool:
    return folder.name in ("site-packages", "dist-packages") and str(folder) in sys.path


def _bwrap_command(bwrap: str, command: Sequence[str]) -> list[str]:
    settings = worker_environment(Sandbox.BWRAP)
    return [
        bwrap,
        *("--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)),
        *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--hostname", "worker"),
        *("--new-session", "--die-with-parent", "--cap-drop", "ALL", "--clearenv"),
        *(word for name, value in settings.items() for word in ("--setenv", name, value)),
        *("--dir", "/tmp", "--tmpfs", "/dev", "--proc", "/proc"),
        *_devices(),
        *_system(),
        *_libraries(),
        *_interpreter(Path(sys.executable)),
        *("--ro-bind", str(PACKAGE / "worker"), str(INSIDE / "grader" / "worker")),
        # The package's own __init__ imports all of the grader; the worker's is one sentence.
        *("--ro-bind", str(PACKAGE / "worker" / "__init__.py")),
        str(INSIDE / "grader" / "__init__.py"),
        # What bwrap made to hang the rest up on would be writable otherwise, with no limit.
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"),
        *("--", *command),
    ]


def _devices() -> Iterator[str]:
    for name in ("null", "zero", "random", "urandom"):
        yield from ("--dev-bind", f"/dev/{name}", f"/dev/{name}")
    # How many processors, of which kind: torch chooses its kernels by it.
    yield from ("--ro-bind-try", "/sys/devices/system/cpu", "/sys/devices/system/cpu")


def _system() -> Iterator[str]:
    for name in (*SYSTEM, *LINKER_FILES):
        folder = Path(name)
        if folder.is_symlink():
            yield from ("--symlink", str(folder.readlink()), name)
        elif folder.exists():
            yield from ("--ro-bind", name, name)


def _libraries() -> Iterator[str]:
    folders = library_folders()
    bound = [Path(name) for name in SYSTEM]
    for folder in folders:
        if not any(folder.is_relative_to(other) for other in bound):
            yield from ("--ro-bind", str(folder.resolve()), str(folder))
            bound.append(folder)
    configuration = Path(sys.prefix) / "pyvenv.cfg"
    if configuration.exists():
        yield from ("--ro-bind", str(configuration), str(configuration))
    own = [PACKAGE, PACKAGE.parent / "makemore_data", PACKAGE.parent / "notebooks"]
    shown = [path for path in own if any(path.is_relative_to(folder) for folder in bound)]
    packages = (path for folder in bound for path in hidden_packages(folder))
    for path in dict.fromkeys(path for path in (*shown, *packages) if path.is_dir()):
        yield from ("--tmpfs", str(path), "--remount-ro", str(path))


def _interpreter(executable: Path) -> Iterator[str]:
    """Python itself, by the same links: where it is found decides which libraries it takes."""
    shown = [*map(Path, SYSTEM), *library_folders()]
    while not any(executable.is_relative_to(folder) for folder in shown):
        if not executable.is_symlink():
            yield from ("--ro-bind", str(executable), str(executable))
            return
        target = executable.readlink()
        yield from ("--symlink", str(target), str(executable))
        executable = Path(os.path.normpath(executable.parent / target))


def _output(command: Sequence[str]) -> tuple[int, str]:
    """How a command ends, and the beginning of what it says."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=TRIAL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, str(error)
    return done.returncode, " ".join(done.stdout.split())[:200] or "it said nothing"
