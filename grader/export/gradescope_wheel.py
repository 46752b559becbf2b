"""The installed course as a wheel."""

# Not built from a checkout: most instructors have none, and a build needs a back end that would
# have to be fetched. Nor a requirement by the repository's address: a fork's container could not
# reach a private one, and a later commit would grade otherwise than what was tried here.

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

DISTRIBUTION = "backprop-ninja"
PACKAGES = ("grader", "makemore_data")
HERE = Path(__file__).resolve().parents[2]
"""The folder that holds the packages, in a checkout or among installed ones."""

TAG = "py3-none-any"
EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time of every file in an archive, so that the same files make the same archive."""


class NotInstalled(Exception):
    """There is no installed course to pack; the message is a sentence."""


def installed_wheel() -> tuple[str, bytes]:
    """The name and the bytes of a wheel that installs just what runs here.

    Raises:
        NotInstalled: the course is run from its folder, without its list of requirements.
    """
    try:
        distribution = importlib.metadata.distribution(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        raise NotInstalled(
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


def zipped(files: dict[str, bytes], executable: tuple[str, ...] = ()) -> bytes:
    """An archive of these files; the executable ones may be run after unpacking."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.create_system = 3  # or the permissions would be read as DOS's
            entry.external_attr = (0o100755 if name in executable else 0o100644) << 16
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
