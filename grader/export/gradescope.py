"""The zip that Gradescope makes an autograder of."""

from __future__ import annotations

import importlib.metadata
import json
import re
from collections.abc import Sequence
from pathlib import Path

from grader.close_names import nearest
from grader.export.gradescope_results import own_failure
from grader.export.gradescope_settings import (
    FALLBACK,
    RUBRIC,
    SETTINGS,
    ExportSettings,
    pack_settings,
)
from grader.export.gradescope_wheel import installed_wheel, zipped
from grader.gradebook.course_facts import notebooks
from grader.gradebook.rubric import Rubric
from grader.printable import printable

SETUP, RUN = "setup.sh", "run_autograder"
"""The two scripts that Gradescope looks for at the top of the zip."""

TORCH_INDEX = "torch-index.txt"
"""What tells `setup.sh` where PyTorch's wheels without CUDA are."""

TEMPLATES = Path(__file__).parent
SAME_VERSIONS = ("torch", "numpy")
"""What verdicts depend on: the container gets the versions that are tried here."""


class UnknownNotebook(Exception):
    """A name that is none of the course's notebooks'; the message is a sentence."""


def notebook_named(text: str) -> str:
    """The notebook that is meant by its name, its file or its number.

    >>> notebook_named("1"), notebook_named("02_fused_cross_entropy.ipynb")
    ('01_atomic_backprop', '02_fused_cross_entropy')

    Raises:
        UnknownNotebook: it is none of the course's.
    """
    name = re.sub(r"\.ipynb\Z", "", text.strip())
    for notebook in notebooks():
        number = notebook.partition("_")[0]
        if name == notebook or (name.isdecimal() and int(name) == int(number)):
            return notebook
    close = nearest(name, notebooks())
    meant = f"did you mean {close[0]}?" if close else f"there are {', '.join(notebooks())}."
    raise UnknownNotebook(f"{printable(text)!r} is no notebook of the course; {meant}")


def autograder_zip(
    settings: ExportSettings, rubric: bytes | None, points: Rubric, torch_index: str | None = None
) -> bytes:
    """The archive to upload.

    Args:
        settings: what the instructor has chosen.
        rubric: the rubric's file as it is, or None where a gradient is worth a point.
        points: what that file says.
        torch_index: address of a package index with PyTorch's wheels without CUDA.

    Raises:
        NotInstalled: the course is not installed here, so it cannot be packed.
    """
    wheel, data = installed_wheel()
    fallback = own_failure(settings, points)
    files = {
        SETUP: (TEMPLATES / "gradescope_setup.sh").read_bytes(),
        RUN: (TEMPLATES / "gradescope_run.sh").read_bytes(),
        SETTINGS: pack_settings(settings),
        FALLBACK: json.dumps(fallback, indent=2).encode("ascii") + b"\n",
        "constraints.txt": "".join(map("{}\n".format, _constraints(SAME_VERSIONS))).encode(),
        wheel: data,
    }
    if rubric is not None:
        files[RUBRIC] = rubric
    if torch_index is not None:
        files[TORCH_INDEX] = f"{torch_index}\n".encode()
    return zipped(files, executable=(SETUP, RUN))


def _constraints(packages: Sequence[str]) -> list[str]:
    """`torch==2.13.0`: without "+cpu" or the like, which names one build of it."""
    return [f"{name}=={importlib.metadata.version(name).partition('+')[0]}" for name in packages]
