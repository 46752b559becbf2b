"""The sandbox: the command line that starts a worker where there is nothing to take or break."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path

from grader.user_error import UserError
from grader.worker.terms import LINUX

PACKAGE = Path(__file__).resolve().parents[1]
INSIDE = Path("/grader")
"""Where the worker's package is, inside; nothing else of the project is."""

TRIAL_SECONDS = 20.0

PYTHON_STARTS = (sys.executable, "-I", "-S", "-c", "")
"""What is tried in a sandbox."""

NOBODY = 65534
"""The number of `nobody`, who owns no file on any system that is set up as it should be."""

SYSTEM = ("/usr/lib", "/usr/lib32", "/usr/lib64", "/lib", "/lib32", "/lib64", "/usr/local/lib")
"""Folders of shared libraries."""

STORES = ("/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew")
"""Folders of package managers that give each library a folder of its own."""

LINKER_FILES = ("/etc/ld.so.cache", "/etc/alternatives")

PACKAGES = ("torch", "numpy", "safetensors")
"""What answers are run with; what these need is beside them."""

HIDDEN = ("grader", "makemore_data", "notebooks")
"""What is no business of an answer, should it be installed beside the libraries."""

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


PROGRAMS = {
    Sandbox.BWRAP: (
        "bwrap",
        "bwrap, which confines students' code, is missing. Install it with `apt install bubblewrap`"
        " (Debian, Ubuntu), `dnf install bubblewrap` (Fedora) or `pacman -S bubblewrap` (Arch).",
    ),
    Sandbox.ACCOUNT: (
        "setpriv",
        "setpriv, which starts students' code under another account, is missing: it is part of "
        "util-linux.",
    ),
}
"""What makes each sandbox, and what to say where that is missing."""


class NoSandbox(UserError):
    """There is no sandbox; the message says why, how to get one, and how to go without."""


@cache
def why_not(sandbox: Sandbox) -> str:
    """Why there is no such sandbox here, as a sentence; "" where it has been tried and works."""
    if sandbox is Sandbox.NONE:
        return ""
    if not LINUX:
        return (
            "What confines students' code are programs of Linux: use a Linux machine, or on Windows"
            " WSL 2."
        )
    if sandbox is Sandbox.ACCOUNT and os.geteuid() != 0:
        return (
            "Only root can start students' code under another account, and this is user "
            f"{os.geteuid()}."
        )
    program, missing = PROGRAMS[sandbox]
    if shutil.which(program) is None:
        return missing
    code, said = _output(_in_sandbox(PYTHON_STARTS, sandbox))
    if code == 0:
        return ""
    if sandbox is Sandbox.ACCOUNT:
        return (
            f"{sys.executable} cannot be started under another account ({said}): may everybody read"
            " the folder that it is in?"
        )
    trouble = f"bwrap, which confines students' code, does not work here ({said})."
    return f"{trouble} {HOW_TO_ALLOW}" if MAY_NOT.search(said) else trouble


def best_sandbox() -> Sandbox:
    """The strongest sandbox there is here."""
    return Sandbox.NONE if why_not(Sandbox.BWRAP) else Sandbox.BWRAP


def require(sandbox: Sandbox) -> None:
    """Make sure that there is this sandbox.

    Raises:
        NoSandbox: there is not.
    """
    if trouble := why_not(sandbox):
        go_without = f" {HOW_TO_GO_WITHOUT}" if sandbox is Sandbox.BWRAP else ""
        raise NoSandbox(f"{trouble}{go_without}")


def sandboxed(command: Sequence[str], sandbox: Sandbox) -> list[str]:
    """The command line that runs a command in a sandbox.

    Give it `worker_environment` and start it from a thread that lives as long as it shall: bwrap
    dies with the thread that started it.

    Raises:
        NoSandbox: there is none.
    """
    require(sandbox)
    return _in_sandbox(command, sandbox)


def _in_sandbox(command: Sequence[str], sandbox: Sandbox) -> list[str]:
    match sandbox:
        case Sandbox.BWRAP:
            return _bwrap_command(command)
        case Sandbox.ACCOUNT:
            return with_other_account(command)
    return list(command)


def with_other_account(command: Sequence[str]) -> list[str]:
    """The command line that runs a command as nobody, who can never become anybody else."""
    return [
        "setpriv",
        *(f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"),
        *("--", *command),
    ]


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


def _bwrap_command(command: Sequence[str]) -> list[str]:
    settings = worker_environment(Sandbox.BWRAP)
    return [
        shutil.which("bwrap") or "bwrap",
        *("--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)),
        *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--hostname", "worker"),
        *("--new-session", "--die-with-parent", "--cap-drop", "ALL", "--clearenv"),
        *(word for name, value in settings.items() for word in ("--setenv", name, value)),
        *("--dir", "/tmp", "--tmpfs", "/dev", "--proc", "/proc"),
        *(word for shown in _shown() for word in shown),
        # What bwrap made to hang the rest up on would be writable otherwise, with no limit.
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"),
        *("--", *command),
    ]


def _shown() -> Iterator[tuple[str, ...]]:
    """What of the files there is inside, as bwrap's options: libraries, Python, the worker."""
    for device in ("null", "zero", "random", "urandom"):
        yield "--dev-bind", f"/dev/{device}", f"/dev/{device}"
    # How many processors, of which kind: torch chooses its kernels by it.
    yield "--ro-bind-try", "/sys/devices/system/cpu", "/sys/devices/system/cpu"
    for name in (*SYSTEM, *LINKER_FILES):
        if Path(name).is_symlink():
            yield "--symlink", str(Path(name).readlink()), name
        else:
            yield "--ro-bind-try", name, name
    folders = [Path(name) for name in SYSTEM]
    for folder in library_folders():
        if not any(folder.is_relative_to(other) for other in folders):
            yield "--ro-bind", str(folder.resolve()), str(folder)
            folders.append(folder)
    configuration = str(Path(sys.prefix) / "pyvenv.cfg")
    yield "--ro-bind-try", configuration, configuration
    own = [PACKAGE.parent / name for name in HIDDEN]
    hidden = [path for path in own if any(path.is_relative_to(folder) for folder in folders)]
    for path in dict.fromkeys([*hidden, *(path for one in folders for path in _hidden_in(one))]):
        if path.is_dir():
            yield "--tmpfs", str(path), "--remount-ro", str(path)
    # Python itself, by the same links: where it is found decides which libraries it takes.
    python = Path(sys.executable)
    while python.is_symlink() and not any(python.is_relative_to(folder) for folder in folders):
        yield "--symlink", str(python.readlink()), str(python)
        python = Path(os.path.normpath(python.parent / python.readlink()))
    if not any(python.is_relative_to(folder) for folder in folders):
        yield "--ro-bind", str(python), str(python)
    yield "--ro-bind", str(PACKAGE / "worker"), str(INSIDE / "grader" / "worker")
    # The package's own __init__ imports all of the grader; the worker's is one sentence.
    first = str(PACKAGE / "worker" / "__init__.py")
    yield "--ro-bind", first, str(INSIDE / "grader" / "__init__.py")


def library_folders() -> list[Path]:
    """Where this Python and `PACKAGES` have their files, each folder once, as they are named."""
    folders = [Path(sysconfig.get_path(kind)) for kind in ("stdlib", "platstdlib")]
    for prefix in dict.fromkeys((sys.prefix, sys.base_prefix, sys.base_exec_prefix)):
        folders += [Path(prefix, "lib"), Path(prefix, "lib64")]
    for package in PACKAGES:
        specification = importlib.util.find_spec(package)
        if specification is not None and specification.origin is not None:
            folder = Path(specification.origin).parent
            folders.append(folder.parent if folder.name == package else folder)
    stores = [Path(store) for store in STORES if Path(sys.base_prefix).is_relative_to(store)]
    return list(dict.fromkeys(folder for folder in [*folders, *stores] if folder.is_dir()))


def _hidden_in(folder: Path) -> list[Path]:
    """Where the packages to hide may lie, in a folder of libraries or in one below it."""
    places = [folder]
    for pattern in ("site-packages", "dist-packages"):
        places += [*folder.glob(pattern), *folder.glob(f"python*/{pattern}")]
    return [place / name for place in places for name in HIDDEN]


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
