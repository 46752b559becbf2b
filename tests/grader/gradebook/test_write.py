from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import TextIO

import pytest

from grader.gradebook import UnreadableResults, write_gradebook
from grader.gradebook import whole_file as files
from grader.gradebook.whole_file import whole_file, write_text
from tests.grader.gradebook.lines import class_of, graded, journal
from tests.grader.gradebook.made_class import make_class

WRITTEN = ["canvas.csv", "grades.csv", "junit.xml", "moodle.csv"]


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    made = make_class(25)
    books = []
    for seed in range(3):
        results = made.write(tmp_path / f"{seed}.jsonl", shuffled=seed)
        write_gradebook(made.folder, results, None, tmp_path / f"out{seed}")
        books.append(digests(tmp_path / f"out{seed}"))
    assert books[0] == books[1] == books[2]
    assert [name for name in books[0] if "/" not in name] == WRITTEN
    assert len(books[0]) == len(WRITTEN) + 1 + 25


def test_needs_neither_torch_nor_matplotlib(tmp_path: Path) -> None:
    made = make_class(3)
    results = made.write(tmp_path / "results.jsonl")
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from grader.gradebook import read_rubric, write_gradebook\n"
        "from grader.intake.class_folder import ClassFolder, Student\n"
        "folder = ClassFolder(Path('x'), 'flat', (Student('ada'),), ())\n"
        f"book = write_gradebook(folder, Path({str(results)!r}), None, Path({str(tmp_path)!r}))\n"
        "assert book.index.is_file()\n"
        "print(sorted({'torch', 'numpy', 'matplotlib', 'IPython'} & set(sys.modules)))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    assert ran.stdout == "[]\n"


def test_pages_of_students_who_left_are_deleted_and_nothing_else(tmp_path: Path) -> None:
    lines = [graded("a", "ada", "pp"), graded("b", "bob", "pp")]
    for kept in (lines, lines[:1]):
        results = journal(tmp_path / "results.jsonl", kept)
        write_gradebook(class_of(kept), results, None, tmp_path / "out")
        (tmp_path / "out/report/students/mine.html").write_text("<h1>Notes</h1>", encoding="utf-8")
    there = sorted(path.name for path in (tmp_path / "out/report/students").iterdir())
    assert there == ["ada.html", "mine.html"]


def test_results_that_are_none_change_nothing(tmp_path: Path) -> None:
    results = journal(tmp_path / "results.jsonl", [graded("a", "ada", "pp")])
    write_gradebook(class_of([]), results, None, tmp_path / "out")
    before = digests(tmp_path / "out")
    results.write_text("{]\n" + results.read_text("ascii"), encoding="ascii")
    with pytest.raises(UnreadableResults):
        write_gradebook(class_of([]), results, None, tmp_path / "out")
    assert digests(tmp_path / "out") == before


def test_says_how_far_it_is(tmp_path: Path) -> None:
    made = make_class(4)
    seen: list[tuple[int, int]] = []
    results = made.write(tmp_path / "results.jsonl")
    write_gradebook(
        made.folder, results, None, tmp_path / "out", lambda done, total: seen.append((done, total))
    )
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"

    def write(text: str, fail: bool) -> None:
        with whole_file(path) as file:
            file.write(text)
            if fail:
                raise KeyboardInterrupt

    for before in ("", "old"):
        if before:
            write(before, fail=False)
        with pytest.raises(KeyboardInterrupt):
            write("new", fail=True)
        assert (path.read_text("utf-8") if path.exists() else "") == before
        assert len(list(tmp_path.iterdir())) == bool(before)


def test_a_page_that_is_the_same_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.html"
    write_text(path, "half a pair: \ud83d\n")
    assert path.read_bytes() == b"half a pair: \\ud83d\n"

    def refuse(*_: object) -> TextIO:
        raise AssertionError("written again")

    monkeypatch.setattr(files, "whole_file", refuse)
    write_text(path, "half a pair: \ud83d\n")
    with pytest.raises(AssertionError, match="written again"):
        write_text(path, "another")
