"""The names that the model learns from, from the first source that works."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from makemore_data.names.download import (
    MAX_BYTES,
    DownloadFailed,
    RemoteFile,
    default_cache,
    download,
)
from makemore_data.names.name_list import NameList, UnusableNames, parse_names

LECTURE_LIST = RemoteFile(
    url=(
        "https://raw.githubusercontent.com/karpathy/makemore/"
        "988aa59e4d8fefa526d06f3b453ad116258398d4/names.txt"
    ),
    sha256="0a30b5557f192f32ab962680889aac5f6fda0f4cecf40a6d0b5694f58ea8cc4d",
)
"""The 32,033 names of the lecture."""

BUNDLED = "bundled"
VARIABLE = "MAKEMORE_NAMES"
PATIENCE = 4.0
"""Seconds that a download may take in all."""

Found = tuple[NameList, str]
"""Names, with the line that says where they were found."""


def load_names(
    source: str | os.PathLike[str] | None = None,
    *,
    cache: Path | None = None,
    remote: RemoteFile = LECTURE_LIST,
    patience: float = PATIENCE,
) -> list[str]:
    """Load the names from the first source that works; print one line that says which.

    The sources, in order: `source`, else the environment variable MAKEMORE_NAMES (both a path,
    or the word `bundled`); a cached copy of the lecture's list; its download; the bundled list.

    Args:
        source: a text file with one name a line, or the word `bundled`.
        cache: the folder of the cached copy; None for the usual one.
        remote: the file to download.
        patience: seconds that the download may take in all.

    Returns:
        The names in the order of their file, a to z only, repeated ones included.

    Raises:
        UnusableNames: the list that `source` or MAKEMORE_NAMES asks for cannot be used. It was
            asked for, so no other takes its place.
    """
    if source is not None:
        names, line = _asked_for(os.fspath(source), "given to load_names")
    elif asked := os.environ.get(VARIABLE, "").strip():
        names, line = _asked_for(asked, VARIABLE)
    else:
        names, line = _first_that_works(cache, remote, patience)
    print(line)  # noqa: T201  # figures depend on which names made them
    return list(names.names)


def _asked_for(source: str, asked_by: str) -> Found:
    if source == BUNDLED:
        names = _bundled()
        return names, f"{_count(names)} from the bundled list ({asked_by})."
    # A path may hold bytes that are not UTF-8, and these cannot be printed.
    origin = f"{source.encode(errors='replace').decode()} ({asked_by})"
    try:
        names = parse_names(_read(Path(source).expanduser(), origin), origin)
    except UnusableNames as error:
        raise UnusableNames(
            f"{error} Expected: a text file with one name a line, or the word {BUNDLED}; "
            "or neither, for the lecture's own list."
        ) from None
    lowered = f", {names.lowered:,} of them put into lower case" if names.lowered else ""
    return names, f"{_count(names)} from {origin}{lowered}."


def _first_that_works(cache: Path | None, remote: RemoteFile, patience: float) -> Found:
    try:
        path = (cache or default_cache()) / "names.txt"
    except ImportError:
        return _last_resort(["No download without the package pooch, which is not installed."])
    reasons = []
    if os.path.lexists(path):
        origin = f"the cached copy {path}"
        try:
            names = parse_names(_read_checked(path, origin, remote), origin)
            return names, f"{_count(names)} from {origin}."
        except UnusableNames as error:
            reasons.append(_capitalised(str(error)))
    try:
        fetched = download(remote, path, patience)
        names = parse_names(fetched.content, f"the file from {remote.host}")
    except (DownloadFailed, UnusableNames) as error:
        return _last_resort([*reasons, _capitalised(str(error))])
    kept = f"not kept: {fetched.not_kept}" if fetched.not_kept else f"kept in {path}"
    line = f"{_count(names)} downloaded from {remote.host}, {kept}."
    return names, " ".join([line, *reasons])


def _last_resort(reasons: Sequence[str]) -> Found:
    names = _bundled()
    line = f"{_count(names)} from the bundled list, so figures will differ from the lecture's."
    return names, " ".join([line, *reasons])


def _bundled() -> NameList:
    try:
        content = resources.files("makemore_data.names").joinpath("bundled_names.txt").read_bytes()
    except OSError as error:
        raise UnusableNames(
            "The bundled list of names is missing: this installation is not complete."
        ) from error
    return parse_names(content, "the bundled list")


def _read(path: Path, origin: str) -> bytes:
    try:
        # Looked at before it is opened: to open a named pipe is to wait for who writes to it.
        mode = path.stat().st_mode
        content = b""
        if stat.S_ISREG(mode):
            with path.open("rb") as file:
                content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise UnusableNames(f"{origin} does not exist.") from None
    except OSError as error:
        raise UnusableNames(f"{origin} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # a path with a null byte
        raise UnusableNames(f"{origin!r} is not a path: {error}.") from error
    if stat.S_ISDIR(mode):
        raise UnusableNames(f"{origin} is a folder.")
    if not stat.S_ISREG(mode):
        raise UnusableNames(f"{origin} is a pipe or a device, not a file.")
    if len(content) > MAX_BYTES:
        raise UnusableNames(
            f"{origin} is larger than {MAX_BYTES // 1_000_000} MB, too large for a list of names."
        )
    return content


def _read_checked(path: Path, origin: str, remote: RemoteFile) -> bytes:
    content = _read(path, origin)
    if hashlib.sha256(content).hexdigest() != remote.sha256:
        raise UnusableNames(f"{origin} was of no use: it is not the file that was downloaded.")
    return content


def _count(names: NameList) -> str:
    return f"{len(names.names):,} names"


def _capitalised(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
