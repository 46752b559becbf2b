from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.gradebook.write import render, write_page
from grader.classroom.intake.class_folder import Student
from grader.classroom.run.results import BrokenResults
from tests.helpers.lines import (
    BATCHNORM,
    FUSED,
    Document,
    class_of,
    graded,
    gradient,
    journal,
    spoil,
    unreadable,
)
from tests.helpers.made_class import make_class


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    made = make_class(25)
    books = []
    for seed in range(3):
        results = made.write(tmp_path / f"{seed}.jsonl", shuffled=seed)
        render(make_book(made.folder, results, Rubric()), tmp_path / f"out{seed}")
        books.append(digests(tmp_path / f"out{seed}"))
    assert books[0] == books[1] == books[2]
    assert [name for name in books[0] if "/" not in name] == ["grades.csv"]
    assert len(books[0]) == 1 + 2 + 25


@pytest.mark.parametrize(
    "further", [graded("x", "s0", "pppppp", BATCHNORM), unreadable(BATCHNORM, "s0")]
)
def test_a_notebook_that_few_handed_in_is_said(tmp_path: Path, further: Document) -> None:
    lines = [*(graded(f"{n}", f"s{n}", "pp") for n in range(3)), further]

    def write(lines: list[Document], rubric: Rubric) -> list[str]:
        results = journal(tmp_path / "results.sqlite", lines)
        return [*render(make_book(class_of(lines), results, rubric), tmp_path / "out").notices]

    assert write(lines, Rubric()) == [
        f"{BATCHNORM} was handed in by 1 of 3 students and does not count. "
        f"`--due-notebooks {FUSED},{BATCHNORM}` makes it count."
    ]
    assert write(lines, Rubric(notebooks=(FUSED, BATCHNORM))) == []
    assert write([lines[0], further], Rubric()) == []  # half of them have both: who knows?
    assert write([], Rubric()) == []


@pytest.mark.slow
def test_needs_neither_torch_nor_matplotlib(tmp_path: Path) -> None:
    made = make_class(3)
    results = made.write(tmp_path / "results.sqlite")
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from grader.classroom.gradebook.rubric import Rubric\n"
        "from grader.classroom.gradebook.make_book import make_book\n"
        "from grader.classroom.gradebook.write import render\n"
        "from grader.classroom.intake.class_folder import ClassFolder, Student\n"
        "folder = ClassFolder(Path('x'), 'flat', (Student('ada'),), ())\n"
        f"results, out = Path({str(results)!r}), Path({str(tmp_path)!r})\n"
        "book = render(make_book(folder, results, Rubric()), out)\n"
        "assert book.index.is_file()\n"
        "print(sorted({'torch', 'numpy', 'matplotlib', 'IPython'} & set(sys.modules)))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    assert ran.stdout == "[]\n"


def test_pages_of_students_who_left_are_deleted_and_nothing_else(tmp_path: Path) -> None:
    lines = [graded("a", "ada", "pp"), graded("b", "bob", "pp")]
    students = tmp_path / "out/report/students"
    students.mkdir(parents=True)
    (students / "mine.html").write_text("<h1>Notes</h1>", encoding="utf-8")
    (students / ".bob.html.123.tmp").write_bytes(b"what a killed run left behind")
    for kept in (lines, lines[:1]):
        results = journal(tmp_path / "results.sqlite", kept)
        render(make_book(class_of(kept), results, Rubric()), tmp_path / "out")
    assert sorted(path.name for path in students.iterdir()) == ["ada.html", "mine.html"]


def test_results_that_are_none_change_nothing(tmp_path: Path) -> None:
    results = journal(tmp_path / "results.sqlite", [graded("a", "ada", "pp")])
    render(make_book(class_of([]), results, Rubric()), tmp_path / "out")
    before = digests(tmp_path / "out")
    spoil(results, "{]")
    with pytest.raises(BrokenResults):
        render(make_book(class_of([]), results, Rubric()), tmp_path / "out")
    assert digests(tmp_path / "out") == before


def test_a_page_that_is_the_same_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    write_page(path, "half a pair: \ud83d\n")
    assert path.read_bytes() == b"half a pair: \\ud83d\n"
    first = path.stat().st_ino
    write_page(path, "half a pair: \ud83d\n")
    assert path.stat().st_ino == first
    write_page(path, "another")
    assert path.stat().st_ino != first


def junit(folder: Path, lines: list[Document], students: list[Student]) -> str:
    results, path = journal(folder / "r.sqlite", lines), folder / "junit.xml"
    render(make_book(class_of(lines, students), results, Rubric()), folder / "out", junitxml=path)
    return path.read_text(encoding="utf-8")


def test_the_test_results_of_a_small_class(tmp_path: Path) -> None:
    diagnosis = [{"kind": "sign", "message": "Wrong sign.", "hint": "Where?"}]
    failing = graded("a", "ada", "pf")
    failing["gradients"][1] = gradient("dz", "f", diagnosis=diagnosis)
    lines = [failing, graded("b", "bob", "ct"), unreadable(f"{FUSED}.x", "cyd", "No <JSON>.")]
    lines.append(unreadable("notes", "dan", "Nor this."))
    assert (
        junit(tmp_path, lines, [Student("eve")])
        == f"""\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="grader" tests="8" failures="2" errors="2" skipped="3">
  <testsuite name="ada" tests="2" failures="1" errors="0" skipped="0">
    <testcase classname="{FUSED}" name="dlogits" line="2" />
    <testcase classname="{FUSED}" name="dz" line="2">
      <failure message="Wrong sign." type="fail">ex2-fused, line 2: dz = 1
exact: False, approximate: False, maxdiff: 0.25, shape: (32, 27), expected: (32, 27)
sign: Wrong sign.
Hint: Where?</failure>
    </testcase>
  </testsuite>
  <testsuite name="bob" tests="2" failures="1" errors="0" skipped="1">
    <testcase classname="{FUSED}" name="dlogits" line="2">
      <failure message="dlogits: carried" type="carried">ex2-fused, line 2: dlogits = 1
exact: False, approximate: False, maxdiff: 0.5, shape: (32, 27), expected: (32, 27)</failure>
    </testcase>
    <testcase classname="{FUSED}" name="dz">
      <skipped message="dz: to do" />
    </testcase>
  </testsuite>
  <testsuite name="cyd" tests="1" failures="0" errors="1" skipped="0">
    <testcase classname="{FUSED}" name="can be graded">
      <error message="No &lt;JSON&gt;." type="ungraded" />
    </testcase>
    <system-out>earned-nothing: 1</system-out>
  </testsuite>
  <testsuite name="dan" tests="2" failures="0" errors="1" skipped="1">
    <testcase classname="{FUSED}" name="can be graded">
      <skipped message="missing" />
    </testcase>
    <testcase classname="notes" name="can be graded">
      <error message="Nor this." type="ungraded" />
    </testcase>
    <system-out>earned-nothing: 1</system-out>
  </testsuite>
  <testsuite name="eve" tests="1" failures="0" errors="0" skipped="1">
    <testcase classname="{FUSED}" name="can be graded">
      <skipped message="missing" />
    </testcase>
  </testsuite>
</testsuites>
"""
    )


TEXT = st.text(alphabet=st.characters(codec=None))


@pytest.mark.slow
@given(TEXT, TEXT)
def test_any_text_makes_readable_xml(
    tmp_path_factory: pytest.TempPathFactory, student: str, text: str
) -> None:
    flags = [{"kind": text, "line": None, "message": text, "cell": None}]
    line = graded("a", student, "pf", flags=flags)
    line["gradients"][1] = gradient(
        "dz", "e", note=text, code=text, diagnosis=[{"kind": text, "message": text, "hint": text}]
    )
    lines = [line, unreadable(f"b{text}", student, text or "-")]
    root = ET.fromstring(junit(tmp_path_factory.mktemp("xml"), lines, []))
    (suite,) = root.findall("testsuite")
    counts = {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {name: suite.get(name) for name in counts}
    assert len(suite.findall("testcase")) == int(counts["tests"] or 0) == 3
    assert len(root.findall(".//error")) == int(counts["errors"] or 0) == 2
