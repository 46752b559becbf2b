"""Where Python's and the system's libraries lie, which is all that a sandbox shows of the files."""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
from pathlib import Path

SYSTEM = ("/usr/lib", "/usr/lib32", "/usr/lib64", "/lib", "/lib32", "/lib64", "/usr/local/lib")
"""Folders of shared libraries."""

STORES = ("/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew")
"""Folders of package managers that give each library a folder of its own."""

LINKER_FILES = ("/etc/ld.so.cache", "/etc/alternatives")

PACKAGES = ("torch", "numpy", "safetensors")
"""What answers are run with; what these need is beside them."""

HIDDEN = ("grader", "makemore_data", "notebooks")
"""What is no business of an answer, should it be installed beside the libraries."""


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


def hidden_packages(folder: Path) -> list[Path]:
    """The packages to hide that lie in a folder of libraries, or in one below it."""
    places = [folder]
    for pattern in ("site-packages", "dist-packages"):
        places += [*folder.glob(pattern), *folder.glob(f"python*/{pattern}")]
    return [place / name for place in places for name in HIDDEN if (place / name).is_dir()]
