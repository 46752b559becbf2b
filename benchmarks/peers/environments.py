"""The virtual environments of the peers, made where they are missing."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "build" / "peers"


@dataclass(frozen=True, slots=True)
class Environment:
    """One peer's own: nothing is shared with the course's but the version of torch."""

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
        self._install(*self.packages)
        done.write_text(wanted, encoding="utf-8")

    def make_with_course(self) -> None:
        """Install it, and the course as this checkout has it: from a wheel, as anybody would."""
        self.make()
        with tempfile.TemporaryDirectory() as folder:
            build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder)
            subprocess.run([*build, ROOT], check=True, stdout=subprocess.DEVNULL)
            (wheel,) = map(str, Path(folder).glob("*.whl"))
            self._install(wheel)
            # The version that is there already may be an older state of the checkout.
            self._install("--no-deps", "--force-reinstall", wheel)

    def _install(self, *arguments: str) -> None:
        pip = (self.program("python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check")
        subprocess.run([*pip, "-c", str(ROOT / "constraints.txt"), *arguments], check=True)


NBGRADER = Environment("nbgrader", ("nbgrader==0.9.6", "torch"))
OTTER = Environment("otter", ("otter-grader==7.0.0", "ipykernel", "torch"))
