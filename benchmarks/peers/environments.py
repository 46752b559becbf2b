"""The virtual environments of the peers, made where they are missing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "build" / "peers"


@dataclass(frozen=True, slots=True)
class Environment:
    """One peer's own: nothing is shared with the course but the version of torch."""

    name: str
    packages: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    def program(self, name: str) -> str:
        """One of its commands."""
        return str(self.folder / "bin" / name)

    def variables(self, state: Path) -> Mapping[str, str]:
        """The environment variables of its commands; kernels and settings of the user stay out."""
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        jupyter = {f"JUPYTER_{name}_DIR": str(state / name.lower()) for name in ("DATA", "CONFIG")}
        return {
            **os.environ,
            **jupyter,
            "PATH": path,
            "IPYTHONDIR": str(state / "ipython"),
        }

    def make(self) -> None:
        """Install it, unless that has been done."""
        done = self.folder / ".installed"
        wanted = "\n".join(self.packages)
        if done.is_file() and done.read_text(encoding="utf-8") == wanted:
            return
        print(f"peers: installing {', '.join(self.packages)} into {self.folder}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", self.folder], check=True)
        subprocess.run(
            [
                *(self.program("python"), "-m", "pip", "install", "-qq"),
                *(
                    "--disable-pip-version-check",
                    "-c",
                    str(ROOT / "constraints.txt"),
                    *self.packages,
                ),
            ],
            check=True,
        )
        done.write_text(wanted, encoding="utf-8")


NBGRADER = Environment("nbgrader", ("nbgrader==0.9.6", "torch"))
OTTER = Environment("otter", ("otter-grader==7.0.0", "ipykernel", "torch"))
