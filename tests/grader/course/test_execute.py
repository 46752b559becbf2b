from pathlib import Path

import pytest

from grader.course.build import build
from grader.source import SourceError
from tests.grader.course.toy_course import edit


@pytest.mark.parametrize(
    ("find", "replace", "sentence"),
    [
        ("print(da)", "1 / 0", "A cell of the solution raises"),
        (
            "print(da)",
            "import sys; print(da, file=sys.stderr)",
            "The cell ex1-toy writes to stderr",
        ),
        ("print(da)", "print(os.path.expanduser('~/x'))", "shows a folder of this machine"),
    ],
)
@pytest.mark.usefixtures("toy_course")
def test_a_solution_unfit_for_publishing_is_refused(find: str, replace: str, sentence: str) -> None:
    edit("notebooks/source/01_toy.py", find, replace)
    with pytest.raises(SourceError, match=sentence):
        build()
    assert not list(Path("notebooks").glob("**/*.ipynb"))
