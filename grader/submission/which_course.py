"""Which course a notebook belongs to."""

from __future__ import annotations

import os
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from grader.program.course import BUILT_IN, FILE, BadCourse, Course, built_in_course, read_course
from grader.submission.carried_course import carried_course
from grader.submission.notebook_file import KEY, UnreadableNotebook, metadata_in, read_bytes, shown

GROUP = "backprop_ninja.courses"
"""The entry points by which installed packages offer courses: a name, and the folder's module."""

VARIABLE = "GRADER_COURSE"
"""Environment variable that decides about the course where no option does."""

OURS = "built-in"
"""The name of the course that comes with the grader."""


def course_for(asked: str | None, place: Path) -> Course:
    """The course asked for, or else the one that `place` belongs to.

    Args:
        asked: a folder, the name of a course, or a notebook that carries one; None where nobody
            has said.
        place: a notebook, whose metadata may name a course; else, or where it is a folder, a
            `course.toml` beside it or above it counts, then the built-in course.

    Raises:
        BadCourse: the course cannot be used, or there is none of that name.
        UnreadableNotebook: a notebook is asked for, and its file is none.
    """
    if decided := asked or os.environ.get(VARIABLE):
        return course_called(decided)
    folder = place if place.is_dir() else place.parent
    if (named := _named_in(place)) is not None:
        return course_called(named, folder)
    for above in (folder.absolute(), *folder.absolute().parents):
        if (above / FILE).is_file():
            return _course_in(above)
    return built_in_course()


def course_called(name: str, beside: Path | None = None) -> Course:
    """The built-in course, the one in a folder (from `beside` on), or an installed one.

    Where a person says the name, and no file whose folder is `beside`, it may be that of a notebook
    too: its course is what it carries. A notebook comes from anybody.

    Raises:
        BadCourse: it cannot be used, or there is none.
        UnreadableNotebook: the file is no notebook.
    """
    if name == OURS:
        return built_in_course()
    folder = (beside or Path()) / name
    if folder.is_dir():
        return _course_in(folder)
    if beside is None and folder.suffix == ".ipynb":
        return carried_course(folder)
    offered = {point.name: point for point in entry_points(group=GROUP)}
    if name not in offered:
        known = f" Installed are {', '.join(sorted(offered))}." if offered else ""
        raise BadCourse(
            f"There is no course {shown(Path(name))}: neither a folder nor an installed course is "
            f"called that.{known}"
        )
    module = offered[name].value
    spec = find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise BadCourse(f"The installed course {name} leads to {module}, which is no folder.")
    return _course_in(Path(spec.submodule_search_locations[0]))


def _course_in(folder: Path) -> Course:
    return built_in_course() if folder.resolve() == BUILT_IN.resolve() else read_course(folder)


def _named_in(notebook: Path) -> str | None:
    """The course that a notebook's metadata name, if any; what cannot be read names none."""
    if notebook.is_dir():
        return None
    try:
        data = read_bytes(notebook)
        own = metadata_in(data, notebook).get(KEY) if KEY.encode() in data else None
    except UnreadableNotebook:  # whoever reads its cells says why
        return None
    named = own.get("course") if isinstance(own, dict) else None
    return named if isinstance(named, str) and named else None
