from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.class_of_students import Class, write_class
from grader.classroom.gradebook.alike import handed_in_answers
from grader.classroom.gradebook.alike.handed_in_answers import HandedInAnswers, lines_of_all
from grader.classroom.intake.class_reader import read_class
from grader.program.course import built_in_course


@pytest.mark.slow
def test_several_processes_read_what_one_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_class(tmp_path, Class(40))
    (tmp_path / "s00003.ipynb").write_text("no notebook")
    course = built_in_course()
    found = read_class(tmp_path, course)
    answers = HandedInAnswers(found, course, "01_atomic_backprop")
    alone = [*lines_of_all(answers, found.handed_in, 1)]
    monkeypatch.setattr(handed_in_answers, "WORTH_A_PROCESS", 20)
    monkeypatch.setattr(handed_in_answers, "AT_ONCE", 3)
    assert [*lines_of_all(answers, found.handed_in, 2)] == alone
    assert alone[3] == []
    assert len([lines for lines in alone if lines]) > 30
