from pathlib import Path

import nbformat
import pytest

from grader.blank import make_blank
from grader.course.fill import fill_in
from grader.course.read import read_notebook
from grader.source import SourceError


@pytest.mark.usefixtures("toy_course")
def test_fill_writes_a_submission_for_each_file() -> None:
    toy = read_notebook(Path("notebooks/source/01_toy.py"))
    blank, answers, out = Path("blank.ipynb"), Path("ann.py"), Path("out")
    nbformat.write(make_blank(toy), blank)
    answers.write_text("# answer: ex1-toy\nda = 'hm'\n", encoding="utf-8")
    fill_in(blank, [answers], out)
    assert "da = 'hm'" in (out / "ann.ipynb").read_text(encoding="utf-8")
    answers.write_text("# answer: ex7-toy\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"ann\.py: there is no answer cell ex7-toy"):
        fill_in(blank, [answers], out)
