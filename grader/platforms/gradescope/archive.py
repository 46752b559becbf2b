"""The zip from which Gradescope makes an autograder."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from grader.classroom.gradebook.rubric import parse_rubric
from grader.platforms.gradescope.results import Circumstances, own_failure
from grader.platforms.gradescope.settings import (
    COURSE,
    FALLBACK,
    RUBRIC,
    SETTINGS,
    ExportSettings,
    pack_settings,
)
from grader.program.course import FILE, Course, built_in_course
from grader.user_error import UserError

SETUP, RUN = "setup.sh", "run_autograder"
"""The two scripts that Gradescope expects at the top of the zip."""

TORCH_INDEX = "torch-index.txt"
"""The file that tells `setup.sh` where to find PyTorch's wheels without CUDA."""

TEMPLATES = Path(__file__).parent
SAME_VERSIONS = ("torch", "numpy")
"""The packages on which verdicts depend. The container gets the versions that are tested here."""

DISTRIBUTION = "backprop-ninja"
PACKAGES = ("grader", "makemore_data")
HERE = Path(__file__).resolve().parents[3]
"""The folder that holds the packages, in a checkout or among installed ones."""

TAG = "py3-none-any"
EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time of every file in an archive, so that equal files make equal archives."""


def autograder_zip(
    settings: ExportSettings, rubric: bytes | None, course: Course, torch_index: str | None = None
) -> bytes:
    """Make the archive to upload.

    Args:
        settings: the instructor's settings.
        rubric: the rubric's file as it is, or None if each gradient is worth one point.
        course: the course by which submissions are graded. If it is the instructor's own, it is
            packed too.
        torch_index: the address of a package index with PyTorch's wheels without CUDA.

    Raises:
        UserError: the course is not installed here, so it cannot be packed.
    """
    wheel, data = installed_wheel()
    points = parse_rubric((rubric or b"").decode("utf-8-sig"), course)
    fallback = own_failure(Circumstances(settings, points))
    # `torch==2.13.0`: without "+cpu" or the like, which names one build of it.
    versions = {name: importlib.metadata.version(name).partition("+")[0] for name in SAME_VERSIONS}
    files = {
        SETUP: (TEMPLATES / "setup.sh").read_bytes(),
        RUN: (TEMPLATES / "run.sh").read_bytes(),
        SETTINGS: pack_settings(settings),
        FALLBACK: json.dumps(fallback, indent=2).encode("ascii") + b"\n",
        "constraints.txt": "".join(f"{name}=={v}\n" for name, v in versions.items()).encode(),
        wheel: data,
    }
    if rubric is not None:
        files[RUBRIC] = rubric
    if course.digest != built_in_course().digest:
        for name in (FILE, *dict(course.sources)):
            files[f"{COURSE}/{name}"] = (course.folder / name).read_bytes()
    if torch_index is not None:
        files[TORCH_INDEX] = f"{torch_index}\n".encode()
    return zipped(files)


# The wheel is not built from a checkout, because most instructors have none, and a build needs a
# back end that would have to be downloaded. Nor does the container install from the repository's
# address, because it could not reach a private one, and a later commit could grade differently.
def installed_wheel() -> tuple[str, bytes]:
    """Make a wheel that installs exactly what runs here; return its name and its bytes.

    Raises:
        UserError: the course is run from its folder, without its list of requirements.
    """
    try:
        distribution = importlib.metadata.distribution(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        raise UserError(
            "The course is not installed here, so nothing says what it needs elsewhere: install it "
            "first, in a checkout with `pip install -e .`."
        ) from None
    name = f"{DISTRIBUTION.replace('-', '_')}-{distribution.version}"
    folder = f"{name}.dist-info"
    files = dict(_package_files())
    for entry in ("METADATA", "entry_points.txt"):
        if text := distribution.read_text(entry):
            files[f"{folder}/{entry}"] = text.encode()
    for path in distribution.files or ():
        if licence := re.search(r"\.dist-info/(licenses/.+)", path.as_posix()):
            files[f"{folder}/{licence[1]}"] = Path(str(path.locate())).read_bytes()
    files[f"{folder}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: {name}\nRoot-Is-Purelib: true\nTag: {TAG}\n".encode()
    )
    record = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in files.items()]
    files[f"{folder}/RECORD"] = "\n".join([*record, f"{folder}/RECORD,,", ""]).encode()
    return f"{name}-{TAG}.whl", zipped(files)


def zipped(files: dict[str, bytes]) -> bytes:
    """Make an archive of these files, in which the two scripts are executable."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.create_system = 3  # or the permissions would be read as DOS's
            entry.external_attr = (0o100755 if name in (SETUP, RUN) else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return buffer.getvalue()


def _package_files() -> Iterator[tuple[str, bytes]]:
    for package in PACKAGES:
        for path in sorted((HERE / package).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(HERE).as_posix(), path.read_bytes()


def _digest(data: bytes) -> str:
    digest = hashlib.sha256(data).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")
