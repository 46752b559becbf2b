"""Files an answer may read: Python's and the system's libraries, by Landlock's rules."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.worker.kernel import Kernel

SYSTEM = ("/usr/lib", "/usr/lib32", "/usr/lib64", "/lib", "/lib32", "/lib64", "/usr/local/lib")
"""Folders of shared libraries."""

STORES = ("/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew")
"""Folders of package managers that give each library a folder of its own."""

LINKER_FILES = ("/etc/ld.so.cache", "/etc/alternatives")

PACKAGES = ("torch", "numpy", "safetensors")
"""What answers are run with; what these need is beside them."""

WRITE_FILE, READ_FILE, READ_FOLDER = 1 << 1, 1 << 2, 1 << 3
CONNECT_TCP, BIND_TCP = 1 << 1, 1 << 0
ABSTRACT_SOCKETS, SIGNALS = 1 << 0, 1 << 1

FILE_RIGHTS = ((5, (1 << 16) - 1), (3, (1 << 15) - 1), (2, (1 << 14) - 1), (1, (1 << 13) - 1))
"""All rights over files by the first version of Landlock that knows them, newest first.

A right that is known here is taken away where no rule gives it back. Landlock came with Linux
5.13, version 4 (TCP) with 6.7, version 6 (signals, abstract sockets) with 6.12.
"""

HIDDEN = ("grader", "makemore_data", "notebooks")
"""What is no business of an answer, should it be installed beside the libraries."""


DERIVATIVES = (
    *("torch/_decomp", "torch/_refs", "torch/_inductor", "torch/_dynamo", "torch/_functorch"),
    *("torch/autograd", "torch/jit", "sympy", "jax", "autograd"),
)
"""What is imported by the warm worker, or not at all: derivatives written out in Python."""


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


def packages_below(folder: Path, names: Iterable[str] = HIDDEN) -> list[Path]:
    """Those of the named packages that lie in a folder of libraries, or in one below it."""
    places = [folder]
    for pattern in ("site-packages", "dist-packages"):
        places += [*folder.glob(pattern), *folder.glob(f"python*/{pattern}")]
    return [place / name for place in places for name in names if (place / name).is_dir()]


def _readable() -> Iterator[Path]:
    yield Path(__file__).parent
    libraries, names = library_folders(), (*HIDDEN, *DERIVATIVES)
    hidden = {path for folder in libraries for path in packages_below(folder, names)}
    for folder in [*libraries, *map(Path, SYSTEM), *map(Path, LINKER_FILES)]:
        yield from _without(folder, hidden)


def _without(folder: Path, hidden: set[Path]) -> Iterator[Path]:
    """A folder, or what is in it where something in it must not be read: a rule only allows."""
    if folder in hidden or not folder.exists():
        return
    if any(path.is_relative_to(folder) for path in hidden):
        for entry in folder.iterdir():
            yield from _without(entry, hidden)
    else:
        yield folder


class ReadingOnly:
    """Landlock: libraries may be read, nothing written, no TCP, no signals to others.

    Raises:
        OSError: the kernel does not have it.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.version = kernel.landlock_version()
        self._rules = kernel.landlock_rules(
            next(rights for version, rights in FILE_RIGHTS if version <= self.version),
            CONNECT_TCP | BIND_TCP if self.version >= 4 else 0,
            ABSTRACT_SOCKETS | SIGNALS if self.version >= 6 else 0,
        )
        for path in _readable():
            self._allow(path, READ_FILE | READ_FOLDER if path.is_dir() else READ_FILE)
        self._allow(Path(os.devnull), READ_FILE | WRITE_FILE)

    def _allow(self, path: Path, rights: int) -> None:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            self._kernel.landlock_allow(self._rules, descriptor, rights)
        finally:
            os.close(descriptor)

    def enter(self, kernel: Kernel) -> None:
        """Keep to the rules from now on, for good."""
        kernel.landlock_restrict(self._rules)
