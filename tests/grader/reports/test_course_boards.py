from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from corpus.readers import encore
from corpus.readers.lecture_course import COURSE
from grader.program.course import Course, read_course
from grader.reports.course_boards import FILE, boards, boards_file, read_boards
from grader.verdict import Report
from tests.helpers.small_course import write_course


@pytest.mark.parametrize("course", [COURSE, encore.COURSE], ids=["lecture", "encore"])
def test_the_file_is_that_of_the_course(course: Course) -> None:
    assert (course.folder / FILE).read_text(encoding="utf-8") == boards_file(course)


def test_a_course_that_was_built_is_not_laid_out_again() -> None:
    """Neither is its forward program run."""
    code = """
import sys
from grader.program.course import built_in_course
from grader.reports.course_boards import boards
from grader.verdict import Report

assert boards(Report("01_atomic_backprop", ()), built_in_course())
print(sorted({"grader.pictures.graph_layout", "torch"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"[]\n"


def test_every_gradient_has_its_box() -> None:
    for outline in COURSE.exercises:
        board = read_boards(COURSE)[outline.prefix]
        for gradient in outline.gradients:
            assert board.count(f">{gradient}</text>") == 1
            assert f'class="{{{gradient}.outcome}}"' in board


def test_a_course_without_the_file_is_drawn(tmp_path: Path) -> None:
    (board,) = boards(Report("01_rms_norm", ()), read_course(write_course(tmp_path)))
    assert board.count(">dgain</text>") == 1


def test_a_file_of_an_earlier_text_does_not_count(tmp_path: Path) -> None:
    course = read_course(write_course(tmp_path))
    (tmp_path / FILE).write_text(boards_file(course).replace(course.digest, "0" * 64))
    (tmp_path / FILE).write_text((tmp_path / FILE).read_text().replace(">dgain<", ">older<"))
    assert ">dgain<" in read_boards(course)["n1"]
