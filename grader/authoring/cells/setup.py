# @title Set-up: run this cell first (on Colab it installs the course, which takes a minute)
import importlib.util
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

COURSE = "backprop-ninja @ git+{{ repository }}"


class CourseMissing(Exception):
    """Stops the notebook with one sentence in place of a traceback."""

    def _render_traceback_(self):  # what IPython shows
        return [str(self)]


if importlib.util.find_spec("makemore_data") is None:
    if "google.colab" in sys.modules:
        print("Installing the course ...", flush=True)
        # pip may add packages, but Colab's own torch and numpy stay exactly as they are.
        kept = [f"{p}=={version(p)}" for p in ("torch", "numpy") if importlib.util.find_spec(p)]
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-color", *kept]
        command = [*install, os.environ.get("BACKPROP_NINJA_PACKAGE", COURSE)]
        pip = subprocess.run(command, capture_output=True, text=True, check=False)
        if pip.returncode != 0:
            reasons = re.findall(r"(?:fatal|ERROR): (.+)", pip.stderr) or ["pip does not say why"]
            raise CourseMissing(
                f"The course could not be installed: {reasons[0].rstrip('.')}. Run this cell again "
                "in a minute; if that does not help, restart the session and check its connection."
            )
        print("The course is installed.")
        importlib.invalidate_caches()
    else:
        # Not installed, but perhaps this notebook still lies in the project's own folder.
        folders = [Path.cwd(), *Path.cwd().parents]
        sys.path += [str(f) for f in folders if (f / "makemore_data" / "__init__.py").is_file()]

if importlib.util.find_spec("makemore_data") is None:
    raise CourseMissing(f'The course is not installed here: run  pip install "{COURSE}"')

from grader import start_lesson

start_lesson()  # starts the process that will run your answers, and notes which cells you run
