import json
import sys
from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE
from grader.program.course import BUILT_IN, BadCourse
from grader.submission.which_course import VARIABLE, course_for
from tests.helpers.small_course import COURSE as TEXT
from tests.helpers.small_course import write_course


def titled(folder: Path, title: str) -> Path:
    return write_course(folder, course=TEXT.replace("Norms", title))


def notebook(path: Path, named: object = None) -> Path:
    metadata = {} if named is None else {"backprop_ninja": {"course": named}}
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": []}
    path.write_text(json.dumps(document))
    return path


def test_the_option_comes_before_all_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, beside = titled(tmp_path / "asked", "Asked"), titled(tmp_path / "work", "Beside")
    titled(beside / "own", "Named")
    path = notebook(beside / "x.ipynb", "own")
    assert course_for(str(asked), path).title == "Asked"
    assert course_for("built-in", path) is COURSE
    assert course_for(str(BUILT_IN), path) is COURSE
    assert course_for(None, path).title == "Named"
    monkeypatch.setenv(VARIABLE, "built-in")
    assert course_for(None, path) is COURSE
    assert course_for(str(asked), path).title == "Asked"


def test_then_what_lies_beside_the_notebook_or_above_it(tmp_path: Path) -> None:
    titled(tmp_path, "Above")
    path = notebook(tmp_path / "week 1" / "x.ipynb")
    assert course_for(None, path).title == "Above"
    assert course_for(None, path.parent).title == "Above"
    titled(path.parent, "Beside")
    assert course_for(None, path).title == "Beside"


def test_then_the_built_in_one(tmp_path: Path) -> None:
    assert course_for(None, notebook(tmp_path / "x.ipynb")) is COURSE
    assert course_for(None, tmp_path) is COURSE
    assert course_for(None, tmp_path / "not there.ipynb") is COURSE


@pytest.mark.parametrize("named", [3, "", ["own"], {"own": 1}])
def test_metadata_that_name_nothing(named: object, tmp_path: Path) -> None:
    assert course_for(None, notebook(tmp_path / "x.ipynb", named)) is COURSE


def test_a_file_that_is_no_notebook_names_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.ipynb"
    for text in ("backprop_ninja {", '["backprop_ninja"]', '{"metadata": ["backprop_ninja"]}'):
        path.write_text(text)
        assert course_for(None, path) is COURSE


@pytest.mark.parametrize("named", ["gone", "\x1b[31mgone"])
def test_a_course_that_is_not_there_is_said(named: str, tmp_path: Path) -> None:
    with pytest.raises(BadCourse, match=r"There is no course .*gone: neither a folder nor an"):
        course_for(None, notebook(tmp_path / "x.ipynb", named))


def test_an_installed_package_may_offer_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "norms_for_everybody"
    titled(tmp_path / module, "Installed").joinpath("__init__.py").touch()
    info = tmp_path / "norms-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: norms\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[backprop_ninja.courses]\nnorms = {module}\nsys = sys\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert course_for("norms", tmp_path).title == "Installed"
    assert module not in sys.modules, "nothing of it is run to find it"
    with pytest.raises(BadCourse, match="leads to sys, which is no folder"):
        course_for("sys", tmp_path)
    with pytest.raises(BadCourse, match="Installed are norms, sys"):
        course_for("layers", tmp_path)
