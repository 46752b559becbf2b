"""Find the notebooks of the course in files and folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.printable import listed
from grader.program.course import FILE
from grader.submission.answer_cells import which_notebook
from grader.submission.backup import original_of
from grader.submission.carried_course import advice_on, carried_files
from grader.submission.notebook_file import UnreadableNotebook, cells_in, read_bytes, shown

SUBFOLDER = "notebooks"
"""Where the notebooks lie in a copy of the whole course."""


@dataclass(frozen=True, slots=True)
class CourseFiles:
    """What was found.

    `chosen` is one file for each notebook; `others` are further files of the same notebooks;
    `unreadable` are sentences about files that may have been notebooks, `strangers` about those of
    a folder that carry another course, each with the text of its `course.toml`.
    """

    chosen: Mapping[str, Path]
    others: tuple[Path, ...] = ()
    unreadable: tuple[str, ...] = ()
    strangers: Mapping[str, str] = field(default_factory=dict)


def find_course_files(places: Sequence[Path], notebooks: Mapping[str, str]) -> CourseFiles:
    """Look for the notebooks of the course.

    A file that is named counts before one that lies in a folder, then one with the notebook's own
    name, then the one saved last. What lies in a folder and is some other notebook, or a backup
    of `grader reset`, does not count at all.

    Args:
        places: files, and folders to look into; their subfolder `notebooks` as well.
        notebooks: the notebook of each exercise's prefix.
    """
    found: dict[str, list[tuple[Path, bool]]] = {name: [] for name in notebooks.values()}
    unreadable, strangers = list[str](), dict[str, str]()
    for path, named in _candidates(places):
        try:
            cells = cells_in(read_bytes(path), path)
        except UnreadableNotebook as error:
            unreadable.append(str(error))
            continue
        try:
            found[which_notebook(path, cells, notebooks)].append((path, named))
        except UnreadableNotebook as error:
            if named:
                unreadable.append(str(error))
            elif carried := carried_files(cells):
                said = f"{shown(path)} carries {advice_on(path)}"
                strangers[said] = carried.get(FILE, "")
    ranked = {
        notebook: sorted(files, key=lambda file: _rank(notebook, *file), reverse=True)
        for notebook, files in found.items()
        if files
    }
    return CourseFiles(
        chosen={notebook: files[0][0] for notebook, files in ranked.items()},
        others=tuple(path for files in ranked.values() for path, _ in files[1:]),
        unreadable=tuple(unreadable),
        strangers=strangers,
    )


def _candidates(places: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """Every file to look at once, and whether it was named."""
    seen: set[Path] = set()
    files = [(place, True) for place in places if not place.is_dir()]
    folders = [place for place in places if place.is_dir()]
    for folder in [sub for place in folders for sub in (place, place / SUBFOLDER)]:
        files += [(path, False) for path in _notebooks_in(folder)]
    for path, named in files:
        if path.resolve() not in seen:
            seen.add(path.resolve())
            yield path, named


def _notebooks_in(folder: Path) -> list[Path]:
    try:
        names = sorted(folder.glob("*.ipynb"))
    except OSError:
        return []
    return [path for path in names if path.is_file() and original_of(path.name) is None]


def _rank(notebook: str, path: Path, named: bool) -> tuple[bool, bool, float]:
    try:
        saved = path.stat().st_mtime
    except OSError:
        saved = 0.0
    return named, path.stem == notebook, saved


def where_looked(places: Sequence[Path]) -> str:
    """The folders among `places`, as a sentence names them; "" where there are none."""
    folders = [place for place in places if place.is_dir()]
    named = [shown(place) if str(place) != "." else "this folder" for place in folders]
    return listed([*named, *(f"its subfolder {SUBFOLDER}" for _ in folders[:1])], "or")
