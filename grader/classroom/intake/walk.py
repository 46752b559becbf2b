"""Find the files below a folder without following links; zip files count as folders."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from grader.classroom.intake.archives import MOST_NOTEBOOKS, files_in_zip
from grader.submission.notebook_file import UnreadableNotebook, explained, read_whole, shown

IGNORED_FOLDERS = frozenset(
    {".git", ".ipynb_checkpoints", ".svn", ".venv", "__MACOSX", "__pycache__", "node_modules"}
)
"""Folders that editors and systems write. They are counted, but never opened."""
IGNORED_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
SOLUTIONS = "solutions"
"""The folder of a course's repository with the solutions of the notebooks beside it."""
_OFFICE_LOCK, _APPLE_DOUBLE = "~$", "._"

_NOTEBOOK = re.compile(r"\.ipynb(\.(txt|json))?\Z", re.IGNORECASE)
# Browsers and mail programs append .txt or .json to what they take for text.
_ARCHIVE = re.compile(
    r"\.(zip|tar|tgz|tbz2?|txz|7z|rar|(tar|ipynb)\.(gz|bz2|xz|zst))\Z", re.IGNORECASE
)


Parts = tuple[str, ...]
"""A path below a folder, as the names that lead to it."""


@dataclass(slots=True)
class Tree:
    """The files and folders below a folder.

    `candidates` may be submissions, including a folder at the top that is a link, and `others` are
    all other files. `folders` are all folders at the top or one level below, even empty ones.
    `ignored` counts, by name, what was not handed in on purpose. `links` are links to folders
    further down, and `closed` are folders that cannot be listed. `solutions` are the course's own
    solutions in a student's clone. `unopened` says why archives among the candidates give no
    notebook, and `clones` are the folders of Git.
    """

    root: Path
    candidates: list[Parts] = field(default_factory=list)
    others: list[Parts] = field(default_factory=list)
    folders: list[Parts] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    links: list[Parts] = field(default_factory=list)
    closed: list[Parts] = field(default_factory=list)
    solutions: list[Parts] = field(default_factory=list)
    unopened: dict[Parts, str] = field(default_factory=dict)
    clones: set[Parts] = field(default_factory=set)
    notebooks: tuple[str, ...] = ()
    """The names of the course's notebooks, which files may have."""

    @property
    def tops(self) -> set[str]:
        """The entries at the top that are folders or may be submissions."""
        return {parts[0] for parts in (*self.candidates, *self.folders)}


def is_candidate(name: str) -> bool:
    """True if a file with this name may be a submission: a notebook, or an archive of notebooks."""
    return stem(name) != name


def stem(name: str) -> str:
    """The name without the endings of a candidate."""
    for ending in (_ARCHIVE, _NOTEBOOK):  # in this order: .ipynb.zip
        name = ending.sub("", name)
    return name


def walk(root: Path, notebooks: tuple[str, ...] = ()) -> Tree:
    """List everything below `root`, in the order of the names.

    `notebooks` are the names of the course's notebooks.

    Raises:
        OSError: `root` itself cannot be listed.
    """
    tree = Tree(root, notebooks=notebooks)
    folders: list[Parts] = [()]
    while folders:
        parts = folders.pop()
        try:
            with os.scandir(root.joinpath(*parts)) as listing:
                entries = sorted(listing, key=lambda entry: os.fsencode(entry.name))
        except OSError:
            if not parts:
                raise
            tree.closed.append(parts)
            continue
        if not entries and parts and is_candidate(parts[-1]):
            tree.candidates.append(parts)  # a bundle that came without what is in it
        for entry in entries:
            _sort_in(entry, parts, tree, folders)
    for paths in (tree.candidates, tree.others, tree.folders, tree.links, tree.closed):
        paths.sort(key=lambda parts: tuple(map(os.fsencode, parts)))
    beside = {parts[:-1] for parts in tree.candidates}
    tree.solutions = [parts for parts in tree.candidates if _is_solution(parts, beside)]
    left_out = {*tree.solutions}
    tree.candidates = [parts for parts in tree.candidates if parts not in left_out]
    return tree


def _is_solution(parts: Parts, beside: Collection[Parts]) -> bool:
    """True if a file is in a folder `solutions` that has notebooks beside it."""
    above = (parts[:depth] for depth in range(1, len(parts) - 1) if parts[depth] == SOLUTIONS)
    return any(folder in beside for folder in above)


def _sort_in(entry: os.DirEntry[str], parent: Parts, tree: Tree, folders: list[Parts]) -> None:
    name, parts = entry.name, (*parent, entry.name)
    if ignored := _ignored(name):
        tree.ignored[ignored] += 1
        if name == ".git":
            tree.clones.add(parent)
    elif _is_folder(entry, follow=False):
        if len(parts) <= 2:
            tree.folders.append(parts)
        folders.append(parts)
    elif is_candidate(name) or (not parent and _is_folder(entry, follow=True)):
        tree.candidates += _opened(parts, tree) or [parts]
    elif _is_folder(entry, follow=True):
        tree.links.append(parts)
    else:
        tree.others.append(parts)


def _ignored(name: str) -> str:
    if name.startswith((_OFFICE_LOCK, _APPLE_DOUBLE)):
        return f"{name[:2]}..."
    return name if name in IGNORED_FOLDERS or name in IGNORED_FILES else ""


def _opened(parts: Parts, tree: Tree) -> list[Parts]:
    """The notebooks in a zip file, as if it were a folder; none if it cannot be opened."""
    if not parts[-1].lower().endswith(".zip"):
        return []
    path, name = tree.root.joinpath(*parts), Path(as_text(parts))
    try:
        with explained(name):
            if not stat.S_ISREG(path.lstat().st_mode):
                return []
            with path.open("rb") as file:
                inside = files_in_zip(read_whole(file, name), name)
    except UnreadableNotebook as error:
        tree.unopened[parts] = str(error)
        return []
    found = [
        (*parts, *file)
        for file in inside
        if _NOTEBOOK.search(file[-1]) and not any(map(_ignored, file))
    ]
    if not found or len(found) > MOST_NOTEBOOKS:
        how_many = f"more than {MOST_NOTEBOOKS} notebooks" if found else "no notebook"
        tree.unopened[parts] = (
            f"{shown(name)} is a zip file with {how_many}: hand in the notebook itself."
        )
        return []
    return found


def _is_folder(entry: os.DirEntry[str], *, follow: bool) -> bool:
    try:
        return entry.is_dir(follow_symlinks=follow)
    except OSError:  # a link that leads round in a circle, or a file that has just gone
        return False


def as_text(parts: Parts) -> str:
    r"""The path with forward slashes; bytes that are not UTF-8 are spelled out as \xe9."""
    return os.fsencode("/".join(parts)).decode("utf-8", "backslashreplace")
