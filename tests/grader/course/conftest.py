from pathlib import Path

import pytest

from grader.course import build
from tests.grader.course.toy_course import SOURCE


@pytest.fixture
def toy_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a course of one notebook; it is the current one."""
    files = {
        "pyproject.toml": '[project.urls]\nRepository = "https://github.com/a/b"\n',
        "grader/hints/ex1.toml": '[da]\nhints = ["one", "two", "three"]\n',
        "notebooks/source/01_toy.py": SOURCE,
        "names.txt": "ann\nbob\ncleo\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAKEMORE_NAMES", "names.txt")
    monkeypatch.setattr(build, "load_names", lambda: ["ann"] * build.LECTURE_NAMES)
    return tmp_path
