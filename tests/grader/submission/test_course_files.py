from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from grader.submission.course_files import CourseFiles, find_course_files, where_looked
from tests.helpers.course_notebooks import FOLDER

NOTEBOOKS = {
    "ex1": "01_atomic_backprop",
    "ex2": "02_fused_cross_entropy",
    "ex2s": "02_fused_cross_entropy",
}
FIRST, SECOND = "01_atomic_backprop", "02_fused_cross_entropy"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notebooks").mkdir()
    return tmp_path


def put(path: Path, name: str = FIRST, saved: int = 0) -> Path:
    shutil.copyfile(FOLDER / f"{name}.ipynb", path)
    os.utime(path, (saved, saved))
    return path


def find(*places: Path) -> CourseFiles:
    return find_course_files(places, NOTEBOOKS)


def test_in_a_folder_and_in_its_notebooks(folder: Path) -> None:
    first = put(folder / "whatever.ipynb")
    second = put(folder / "notebooks" / "x.ipynb", SECOND)
    assert find(folder) == CourseFiles({FIRST: first, SECOND: second})


def test_files_may_be_named(folder: Path) -> None:
    second = put(folder / "x.ipynb", SECOND)
    put(folder / "y.ipynb")
    assert find(second) == CourseFiles({SECOND: second})


def test_of_several_the_named_one_then_the_notebooks_own_name_then_the_newest(
    folder: Path,
) -> None:
    own = put(folder / f"{FIRST}.ipynb", saved=10)
    old, new = put(folder / "a.ipynb", saved=20), put(folder / "b.ipynb", saved=30)
    assert find(folder) == CourseFiles({FIRST: own}, (new, old))
    assert find(folder, old) == CourseFiles({FIRST: old}, (own, new))
    own.unlink()
    assert find(folder) == CourseFiles({FIRST: new}, (old,))


def test_backups_do_not_count(folder: Path) -> None:
    put(folder / "01.2026-11-21T14-03-22.ipynb")
    put(folder / "01.2026-11-21T14-03-22-2.ipynb")
    assert find(folder) == CourseFiles({})
    named = folder / "01.2026-11-21T14-03-22.ipynb"
    assert find(named) == CourseFiles({FIRST: named})


def test_the_same_file_twice_is_one(folder: Path) -> None:
    first = put(folder / "notebooks" / "x.ipynb")
    assert find(folder, folder / "notebooks", first) == CourseFiles({FIRST: first})


def test_what_cannot_be_read(folder: Path) -> None:
    (folder / "broken.ipynb").write_text('{"cells": [')
    (folder / "other.ipynb").write_text('{"nbformat": 4, "cells": []}')
    (folder / "text.py").write_text("x = 1")
    (folder / "folder.ipynb").mkdir()
    first = put(folder / "x.ipynb")
    found = find(folder, folder / "gone.ipynb")
    assert found.chosen == {FIRST: first}
    gone, broken = found.unreadable
    assert "There is no file" in gone
    assert "broken.ipynb breaks off at its end" in broken


def test_another_notebook_is_a_mistake_only_if_it_was_named(folder: Path) -> None:
    other = folder / "other.ipynb"
    other.write_text('{"nbformat": 4, "cells": []}')
    assert find(folder).unreadable == ()
    (sentence,) = find(other).unreadable
    assert "is not one of the course's notebooks" in sentence


def test_where_it_looked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert where_looked([Path()]) == "this folder or its subfolder notebooks"
    assert where_looked([Path("gone")]) == ""
    assert where_looked([folder]) == f"{folder} or its subfolder notebooks"
