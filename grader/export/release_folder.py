"""A class repository's folder, which may hold an earlier release."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MANIFEST = ".release.json"
"""Which files a release wrote, with their hashes: what tells it from any other folder."""

FORMAT = 1


class Occupied(Exception):
    """The folder holds something else, or cannot be written; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a release's files, by their paths.

    `removed` are those of the earlier release that the course no longer has; `kept` are those that
    somebody has changed since: they stay as they are.
    """

    new: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]


def write_release(files: Mapping[str, bytes], folder: Path) -> Written:
    """Write the files; of an earlier release replace what nobody has changed, and nothing else.

    Raises:
        Occupied: the folder is neither empty nor an earlier release.
    """
    before = _earlier(folder)
    new, removed, kept = [], [], []
    hashes: dict[str, str] = {}
    try:
        for name, content in files.items():
            path = folder / name
            hashes[name] = hashlib.sha256(content).hexdigest()
            found = _hash(path)
            if found == hashes[name]:
                continue
            if found and found != before.get(name):
                kept.append(name)
                # Whoever deletes the file has the new one at the next release.
                hashes[name] = before.get(name, "")
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            new.append(name)
        for name in sorted(before.keys() - files.keys()):
            found = _hash(folder / name)
            if found == before[name]:
                (folder / name).unlink()
                removed.append(name)
            elif found:
                kept.append(name)
        text = json.dumps({"format": FORMAT, "files": dict(sorted(hashes.items()))}, indent=1)
        (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise Occupied(f"{error.filename} cannot be written: {error.strerror}.") from error
    return Written(tuple(new), tuple(removed), tuple(kept))


def _earlier(folder: Path) -> Mapping[str, str]:
    """The files of the release in the folder with their hashes; none if the folder is empty."""
    if folder.exists() and not folder.is_dir():
        raise Occupied(f"{folder} is a file; a release needs a folder.")
    # An empty clone of the class repository is as good as an empty folder.
    if not folder.exists() or all(path.name == ".git" for path in folder.iterdir()):
        return {}
    try:
        written = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if written["format"] == FORMAT:
            files = written["files"]
            # A path that leads out of the folder is none that a release wrote.
            return {
                n: str(h)
                for n, h in files.items()
                if (folder / n).resolve().is_relative_to(folder.resolve())
            }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise Occupied(
        f"{folder} is not empty and holds no earlier release (there is no {MANIFEST} of one in "
        "it): nothing was written. Name another folder, or one that does not exist yet."
    )


def _hash(path: Path) -> str:
    """The hash of a file's content; "" where there is no file."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
