import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE as OURS
from corpus.readers.lecture_course import EXERCISES
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.program.course import HINTS_FILE, BadCourse, read_course, read_hints
from grader.program.exercises import Exercise, exercises_of, load_exercises
from tests.helpers.small_course import COURSE, FORWARD, RIGHT, write_course


def test_a_course_is_a_folder(tmp_path: Path) -> None:
    course = read_course(write_course(tmp_path))
    assert (course.title, course.repository) == ("Norms", "https://github.com/a/norms")
    assert course.notebooks == ("01_rms_norm",)
    assert course.notebook_of == {"n1": "01_rms_norm"}
    assert course.gradients("01_rms_norm") == (("n1", "dx"), ("n1", "dgain"))
    assert course.gradients("02_elsewhere") == ()
    (exercise,) = exercises_of(course, "01_rms_norm")
    assert exercise.sizes == {"n": 6, "d": 10}
    assert exercise.forward.__name__ == "rms_norm"


def test_its_exercise_is_graded_as_any_other(tmp_path: Path, runner: Runner) -> None:
    (exercise,) = load_exercises(read_course(write_course(tmp_path)))
    cells = [AnswerCell("n1-norm", RIGHT)]
    verdicts, _ = grade_exercise(exercise, cells, runner)
    assert [verdict.outcome for verdict in verdicts] == ["pass", "pass"]
    wrong = [AnswerCell("n1-norm", RIGHT.replace("keepdim=True) * inv", "keepdim=True)"))]
    verdicts, _ = grade_exercise(exercise, wrong, runner)
    assert [verdict.outcome for verdict in verdicts] == ["fail", "pass"]


@pytest.mark.slow
def test_a_course_travels_without_its_folder(tmp_path: Path) -> None:
    folder = write_course(tmp_path / "course")
    sent = pickle.dumps(read_course(folder))
    folder.rename(tmp_path / "elsewhere")
    script = (
        "import pickle, sys; from grader.program.exercises import load_exercises\n"
        "from grader.program.references import prepare\n"
        "(exercise,) = load_exercises(pickle.loads(sys.stdin.buffer.read()))\n"
        "print(*(step.name for step in prepare(exercise).program.steps))"
    )
    done = subprocess.run([sys.executable, "-c", script], input=sent, capture_output=True)
    assert done.stdout.split() == [b"ms", b"inv", b"xhat", b"out", b"loss"], done.stderr


def test_reading_runs_nothing_and_imports_no_torch(tmp_path: Path) -> None:
    write_course(tmp_path, forward=f"raise SystemExit\n{FORWARD}")
    script = (
        "import sys; from pathlib import Path; from grader.program.course import read_course\n"
        f"print(read_course(Path({str(tmp_path)!r})).title, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "Norms False\n", done.stderr


def with_line(find: str, replacement: str) -> str:
    assert find in COURSE
    return COURSE.replace(find, replacement)


SECOND = COURSE[COURSE.index("[[exercise]]") :]

TROUBLES = {
    "no TOML": (with_line('"Norms"', "Norms"), " is not TOML: Invalid value (at line 1, "),
    "an unfinished TOML": ('title = "', " is not TOML: "),
    "an unknown key": (f"language = 3\n{COURSE}", ": `language` is not a key of a course"),
    "no title": (with_line('title = "Norms"\n', ""), ": `title` has to be a text"),
    "no exercise": ('title = "x"', ": `exercise` has to be one table `[[exercise]]` or more."),
    "no table": (
        'title = "x"\nexercise = [3]',
        ": `exercise` has to be one table `[[exercise]]` or more.",
    ),
    "an unknown key of an exercise": (
        f"{COURSE}size = 3\n",
        ", exercise 1: `size` is not a key of an exercise: it has id, notebook, forward",
    ),
    "a missing key": (
        with_line('id = "n1"\n', ""),
        ", exercise 1: `id` has to be letters and a number",
    ),
    "no id": (with_line('"n1"', '"norm"'), ", exercise 1: `id` has to be letters and a number"),
    "two of an id": (f"{COURSE}\n{SECOND}", ", exercise 2: n1 is the id of an exercise before"),
    "a path": (
        with_line('"01_rms_norm"', '"../x"'),
        ", exercise 1: `notebook` has to be a name",
    ),
    "no function named": (
        with_line("forward.py:rms_norm", "forward.py"),
        ", exercise 1: `forward` has to be a file of the folder",
    ),
    "another folder's file": (
        with_line("forward.py:rms_norm", "../forward.py:rms_norm"),
        ", exercise 1: `forward` has to be a file of the folder",
    ),
    "a gradient of an exercise before": (
        f"{COURSE}\n{SECOND.replace('n1', 'n2')}",
        ", exercise 2: dx is asked for by another exercise of 01_rms_norm already",
    ),
    "no list": (
        with_line('["dx", "dgain"]', '"dx"'),
        ", exercise 1: `gradients` has to be a list",
    ),
    "a gradient twice": (
        with_line('"dgain"', '"dx"'),
        ", exercise 1: `gradients` has to be a list",
    ),
    "a size of no number": (
        with_line("n = 6", 'n = "6"'),
        ", exercise 1: `sizes` has to be a table",
    ),
    "points of nothing": (
        f"{COURSE}points = 0\n",
        ", exercise 1: `points` has to be a whole",
    ),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_bad_course_gets_a_sentence_with_the_key(tmp_path: Path, trouble: str) -> None:
    text, sentence = TROUBLES[trouble]
    with pytest.raises(BadCourse) as error:
        read_course(write_course(tmp_path, course=text))
    assert str(error.value).startswith(f"{tmp_path / 'course.toml'}{sentence}")


def test_a_folder_without_the_file_is_no_course(tmp_path: Path) -> None:
    with pytest.raises(BadCourse, match=r"course\.toml is missing"):
        read_course(tmp_path)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadCourse, match=r"norms\.py is missing, which a course has to have"):
        read_course(write_course(tmp_path, course=with_line("forward.py:", "norms.py:")))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            with_line("py:rms_norm", "py:rms_nrom"),
            ", n1: forward.py has no function rms_nrom; it has rms_norm.",
        ),
        (
            with_line('"dgain"', '"dgrain"'),
            ", n1: dgrain is asked for, and rms_norm has no input or step grain.",
        ),
    ],
)
def test_what_the_forward_functions_lack_is_said(tmp_path: Path, text: str, sentence: str) -> None:
    course = read_course(write_course(tmp_path, course=text))
    with pytest.raises(BadCourse) as error:
        load_exercises(course)
    assert str(error.value) == f"{tmp_path / 'course.toml'}{sentence}"


BAD_FORWARD = {
    "not Python": (
        "\ndef rms_norm(:\n",
        ", line 2: this file cannot be run (SyntaxError: invalid syntax).",
    ),
    "raises": (f"import torch\n1 / 0\n{FORWARD[FORWARD.index('from typing') :]}", ", line 2: this"),
    "a loop": (
        FORWARD.replace("    inv =", "    for i in x:\n        pass\n    inv ="),
        ": rms_norm, line 14, is not a step: `for i in x:`.",
    ),
    "no function": (f"{FORWARD}\nrms_norm = 3\n", ": 3 is not a plain Python function."),
    "a size": (
        FORWARD.replace('gain: Annotated[Tensor, "d"]', 'gain: Annotated[Tensor, "e"]'),
        ": rms_norm, line 10: its shapes name a size e, which `sizes` of n1 lacks.",
    ),
}


@pytest.mark.parametrize("trouble", BAD_FORWARD)
def test_a_bad_forward_function_gets_a_sentence(tmp_path: Path, trouble: str) -> None:
    text, sentence = BAD_FORWARD[trouble]
    if trouble == "raises":
        text = text.replace("from __future__ import annotations\n", "")
    course = read_course(write_course(tmp_path, forward=text))
    with pytest.raises(BadCourse) as error:
        load_exercises(course)
    assert str(error.value).startswith(f"{tmp_path / 'forward.py'}{sentence}")


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.prefix)
def test_every_gradient_has_three_hints(exercise: Exercise) -> None:
    hints = read_hints(OURS.folder / HINTS_FILE)[exercise.prefix]
    assert set(hints) == set(exercise.gradients)
    assert all(len(texts) == 3 and all(map(str.strip, texts)) for texts in hints.values())


def test_there_are_no_hints_but_for_the_courses_exercises() -> None:
    assert set(read_hints(OURS.folder / HINTS_FILE)) == {each.prefix for each in EXERCISES}


def test_hints_of_exercises_that_are_not_finished_can_be_read(tmp_path: Path) -> None:
    (tmp_path / HINTS_FILE).write_text('[n2]\ndz = ["Größe", "two"]\n', encoding="utf-8")
    assert read_hints(tmp_path / HINTS_FILE) == {"n2": {"dz": ["Größe", "two"]}}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[n1", " is not TOML: "),
        ("n1 = 3", ": `n1` has to be a table, "),
        ('[n1]\ndx = "a"', ", [n1]: the hints for dx have to be a list of texts."),
        ('[n1]\ndx = ["a", " "]', ", [n1]: the hints for dx have to be a list of texts."),
    ],
)
def test_bad_hints_get_a_sentence_with_the_key(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / HINTS_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(BadCourse) as error:
        read_hints(tmp_path / HINTS_FILE)
    assert str(error.value).startswith(f"{tmp_path / HINTS_FILE}{sentence}")


ATOMIC = "01_atomic_backprop"


@pytest.mark.parametrize("text", ["01", "1", ATOMIC, f"{ATOMIC}.ipynb", " 001 "])
def test_a_notebook_by_its_number_or_name(text: str) -> None:
    assert OURS.notebook_called(text) == ATOMIC


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("5", "there are 01_atomic"),
        ("atomic_backprop", f"did you mean {ATOMIC}?"),
        ("", "there are"),
    ],
)
def test_no_notebook_of_the_course(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        OURS.notebook_called(text)
