from __future__ import annotations

import io
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.gradebook.junit_file import JunitFile
from grader.gradebook.results_file import graded_file
from grader.gradebook.rubric import Rubric
from grader.gradebook.table import build_table
from grader.intake.class_folder import Student
from tests.grader.gradebook.lines import (
    FUSED,
    Line,
    class_of,
    graded,
    gradient,
    journal,
    unreadable,
)


def junit(folder: Path, lines: list[Line], students: list[Student]) -> str:
    table = build_table(class_of(lines, students), journal(folder / "r.jsonl", lines), Rubric())
    files = {line["id"]: graded_file(line) for line in lines if "error" not in line}
    text = io.StringIO()
    file = JunitFile(text, table)
    for row in table.rows:
        file.add(row, files)
    file.close()
    return text.getvalue()


def test_a_small_class(tmp_path: Path) -> None:
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
    <testcase classname="{FUSED}" name="dlogits"/>
    <testcase classname="{FUSED}" name="dz">
      <failure message="Wrong sign." type="fail">ex2-fused, line 2: dz = 1
sign: Wrong sign.</failure>
    </testcase>
  </testsuite>
  <testsuite name="bob" tests="2" failures="1" errors="0" skipped="1">
    <testcase classname="{FUSED}" name="dlogits">
      <failure message="carried" type="carried">ex2-fused, line 2: dlogits = 1</failure>
    </testcase>
    <testcase classname="{FUSED}" name="dz">
      <skipped message="to do"/>
    </testcase>
  </testsuite>
  <testsuite name="cyd" tests="1" failures="0" errors="1" skipped="0">
    <testcase classname="{FUSED}" name="can be graded">
      <error message="No &lt;JSON&gt;." type="ungraded"/>
    </testcase>
  </testsuite>
  <testsuite name="dan" tests="2" failures="0" errors="1" skipped="1">
    <testcase classname="{FUSED}" name="can be graded">
      <skipped message="missing"/>
    </testcase>
    <testcase classname="notes" name="can be graded">
      <error message="Nor this." type="ungraded"/>
    </testcase>
  </testsuite>
  <testsuite name="eve" tests="1" failures="0" errors="0" skipped="1">
    <testcase classname="{FUSED}" name="can be graded">
      <skipped message="missing"/>
    </testcase>
  </testsuite>
</testsuites>
"""
    )


TEXT = st.text(alphabet=st.characters(codec=None))


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
