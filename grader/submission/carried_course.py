"""The course that a notebook carries in a cell, for `start_lesson` to take."""

from __future__ import annotations

import ast
import atexit
import re
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from grader.answer.cell_source import parsed
from grader.program.course import BadCourse, Course, read_course
from grader.submission.notebook_file import Cell, read_cells, shown

_FILE_NAME = re.compile(r"[\w-]{1,100}\.\w{1,20}")


def carried_course(path: Path) -> Course:
    """The course that a notebook's file carries; nothing of it is run.

    Raises:
        BadCourse: it carries none, or one that cannot be used.
        UnreadableNotebook: the file is no notebook.
    """
    files = carried_files(read_cells(path))
    if not files:
        raise BadCourse(f"{shown(path)} carries no course: no cell says `start_lesson({{...}})`.")
    return read_course(unpack(files))


def carried_files(cells: Sequence[Cell]) -> dict[str, str]:
    """The texts of the course's files, by their names, in the cell that has them; else none."""
    code = [cell.source or "" for cell in cells if cell.kind == "code"]
    for tree in (parsed(source) for source in code if "start_lesson" in source):
        for statement in tree.body if tree else ():
            match statement:
                case ast.Expr(ast.Call(ast.Name("start_lesson"), [ast.Dict(keys, values)])):
                    pairs = zip(map(_text, keys), map(_text, values), strict=True)
                    return {name: text for name, text in pairs if name and text is not None}
    return {}


def advice_on(path: Path) -> str:
    """What to do with a notebook that carries a course nobody has named, as a sentence ends."""
    return f"its own course: add `--course {shlex.quote(shown(path))}` if you trust who made it."


def _text(node: ast.expr | None) -> str | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else None


def unpack(files: Mapping[str, str]) -> Path:
    """Write a course's files into a folder of this session; the same files have the same folder.

    What has no plain file's name is left out.
    """
    folder = _courses_of_this_session() / sha256(repr([*files.items()]).encode()).hexdigest()
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        if _FILE_NAME.fullmatch(name):
            (folder / name).write_text(text, encoding="utf-8")
    return folder


@cache
def _courses_of_this_session() -> Path:
    # Not a TemporaryDirectory: a fork that forgets what is to be done at the end would delete it.
    folder = Path(tempfile.mkdtemp(prefix="courses-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
