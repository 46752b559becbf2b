from __future__ import annotations

import atexit
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.submission.carried_course import carried_files, unpack
from grader.submission.notebook_file import Cell


def files_in(*sources: str | None, kind: str = "code") -> dict[str, str]:
    return carried_files([Cell(1, kind, source, {}) for source in sources])


def test_the_files_stand_in_the_call() -> None:
    setup = "from grader import start_lesson\nstart_lesson()"
    carrying = 'start_lesson({\n    "course.toml": "title = \\"Größe\\"\\n",\n    "a.py": ""\n})'
    found = {"course.toml": 'title = "Größe"\n', "a.py": ""}
    assert files_in(None, setup, f"# A cell.\nx = 1\n{carrying}") == found
    assert files_in(carrying, kind="markdown") == {}


@pytest.mark.parametrize(
    "source",
    [
        "start_lesson(files)",
        'start_lesson(dict(a="b"))',
        'lesson.start_lesson({"a.py": "b"})',
        'start_lesson({"a.py": open("b"), "b.py": 3, **{"c.py": ""}, b"d.py": ""})',
        'start_lesson({"a.py": "b"',
        '"""start_lesson({"a.py": "b"})"""',
    ],
)
def test_nothing_else_is_one(source: str) -> None:
    assert files_in(source) == {}


def test_each_course_has_a_folder_of_its_own_from_which_no_name_leads_out() -> None:
    files = {"a.py": "größer", "../b.py": "", "": "", "..": "", "c\n.py": "", "d/e.py": ""}
    folder = unpack(files)
    assert [path.name for path in folder.iterdir()] == ["a.py"]
    assert (folder / "a.py").read_text(encoding="utf-8") == "größer"
    assert all(path.is_dir() for path in folder.parent.iterdir())
    assert unpack(dict(files)) == folder
    assert unpack({"a.py": "other"}) != folder


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_process_of_a_pool_leaves_the_folder() -> None:
    folder = unpack({"a.py": ""})
    child = os.fork()
    if child == 0:
        atexit._clear()  # as multiprocessing does from Python 3.13 on
        os._exit(0)
    os.waitpid(child, 0)
    assert folder.is_dir()


def test_the_folder_ends_with_the_session() -> None:
    code = f"from {unpack.__module__} import unpack; print(unpack({{'a.py': ''}}))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    folder = Path(ran.stdout.strip())
    assert folder.is_absolute()
    assert not folder.parent.exists()
