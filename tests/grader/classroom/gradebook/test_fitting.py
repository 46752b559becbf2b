from __future__ import annotations

from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE
from grader.classroom.gradebook.adjustments import UnusableAdjustment, read_adjustments
from grader.classroom.gradebook.fitting import refuse_early
from grader.classroom.gradebook.rubric import parse_rubric
from grader.classroom.intake.class_folder import HandedIn, Student
from tests.helpers.lines import FUSED

FILES = [HandedIn(id_, id_[:3], id_) for id_ in ("ada/x.ipynb", "ada/y.ipynb", "bob/x.ipynb")]


def refuse(tmp_path: Path, line: str, rubric: str = "") -> None:
    path = tmp_path / "adjustments.csv"
    path.write_text(f"id,notebook,gradient,points,attempt\n{line}\n", encoding="utf-8")
    students = [Student(id_) for id_ in ("ada", "bob", "zoe")]
    found = read_adjustments(path, COURSE, students)
    refuse_early(found, parse_rubric(rubric, COURSE), FILES, tmp_path / "results.sqlite")


@pytest.mark.parametrize(
    ("line", "rubric", "said"),
    [
        ("ada,02,,3,", "", f"3 are more points than the 2 of {FUSED}"),
        ("ada,03,dvar,4,", "[ex3]\ndvar = 3", "4 are more points than the 3 of dvar in"),
        ("ada,03,,1,", f'notebooks = ["{FUSED}"]', "is not in this gradebook; there is 02_"),
        ("ada,,,3,", f'notebooks = ["{FUSED}"]', f"3 are more points than the 2 of {FUSED}"),
        ("ada,,,1,", 'notebooks = ["02_fused_cross_entropy", "03_fused_batchnorm"]', "of which"),
        ("ada,02,,,3", "", "ada has no attempt '3'; there are ada/x.ipynb and ada/y.ipynb."),
        ("bob,02,,,y.ipynb", "", "bob has no attempt 'y.ipynb'; there is bob/x.ipynb."),
        ("zoe,02,,,1", "", "zoe has no attempt '1', nor any other that can be graded."),
    ],
)
def test_what_cannot_apply_is_refused(tmp_path: Path, line: str, rubric: str, said: str) -> None:
    with pytest.raises(UnusableAdjustment, match=r"^Line 2 of ") as refused:
        refuse(tmp_path, line, rubric)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("line", "rubric"),
    [
        ("ada,02,,2,", ""),
        ("ada,03,dvar,3,", "[ex3]\ndvar = 3"),
        ("ada,03,,1,", ""),  # somebody may have handed it in
        ("ada,,,3,", ""),  # perhaps there is one notebook, which has three points
        ("ada,02,,,2", ""),
        ("ada,02,,,y.ipynb", ""),
    ],
)
def test_what_may_apply_waits_for_the_table(tmp_path: Path, line: str, rubric: str) -> None:
    refuse(tmp_path, line, rubric)
