"""The maintainer's check says what is missing, of a course that was in order before."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pytest
from click.testing import CliRunner
from torch import Tensor

from corpus.readers.lecture_course import EXERCISES, FUSED_BATCHNORM, FUSED_CROSS_ENTROPY
from grader import cli
from grader.authoring.dev_check import check_exercise, check_notebooks, right_answers
from grader.execution.runner import Runner
from grader.program.exercises import Exercise
from grader.program.instances import HIDDEN_SIZES
from makemore_data.course import forward

SOURCE = "notebooks/source/02_fused_cross_entropy.py"
BLANK = "notebooks/02_fused_cross_entropy.ipynb"
SOLUTION = "notebooks/solutions/02_fused_cross_entropy.ipynb"
HINTS = "makemore_data/course/hints.toml"
RIGHT = "corpus/answers/ex2/right/lecture.py"


@pytest.fixture
def course(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what belongs to exercise 2, in the current folder."""
    for name in ("pyproject.toml", SOURCE, BLANK, SOLUTION, RIGHT):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(project / name, tmp_path / name)
    shutil.copytree(project / "makemore_data/course", tmp_path / "makemore_data/course")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def complaints(runner: Runner, exercise: Exercise = FUSED_CROSS_ENTROPY) -> list[str]:
    return list(check_exercise(exercise, runner))


def change(path: str, old: str, new: str) -> Path:
    """Replace some text in a file."""
    text = Path(path).read_text(encoding="utf-8")
    assert old in text
    Path(path).write_text(text.replace(old, new), encoding="utf-8")
    return Path(path)


@pytest.mark.slow
def test_what_is_in_order_has_no_complaints(course: Path, runner: Runner) -> None:
    assert complaints(runner) == []
    assert right_answers(FUSED_CROSS_ENTROPY, Path("corpus/answers")) == [Path(RIGHT)]


# --- texts

EDITS: dict[str, tuple[Callable[[], object], str]] = {
    "a forward cell out of step": (
        lambda: change(SOURCE, "loss = F.cross_entropy(logits, Yb)\n", "loss = 0\n"),
        f"{SOURCE} has no cells that begin with the body of fused_cross_entropy, as it stands in"
        " its file, without its docstring and its return: it needs one.",
    ),
    "a forward cell with one line more": (
        lambda: change(
            SOURCE,
            "loss = F.cross_entropy(logits, Yb)\n\n",
            "loss = F.cross_entropy(logits, Yb)\nloss = 2 * loss\n\n",
        ),
        f"{SOURCE} has no cells that begin with the body of fused_cross_entropy, as it stands in"
        " its file, without its docstring and its return: it needs one.",
    ),
    "no source": (
        lambda: Path(SOURCE).unlink(),
        f"{SOURCE} is missing: the notebook of ex2.",
    ),
    "a solution that is left to the author": (
        lambda: change(SOURCE, "### BEGIN SOLUTION\n", "### BEGIN SOLUTION\ndlogits = None\n"),
        f"{SOURCE}: `dlogits = None` is not a solution yet; this one is left to you.",
    ),
    "no hints": (
        lambda: change(HINTS, "[ex2]", "[ex22]"),
        f"{HINTS} has no [ex2]: `dx = [...]` for each gradient.",
    ),
    "hints of another gradient": (
        lambda: change(HINTS, "[ex2]\ndlogits = [", "[ex2]\ndlogit = ["),
        f"dlogits has 0 hints in {HINTS}; it needs 3.",
    ),
    "hints that nobody asks for": (
        lambda: change(HINTS, "[ex2]\n", '[ex2]\ndz = ["a", "b", "c"]\n'),
        f"{HINTS} has hints for dz, which nobody asks for.",
    ),
    "no right answer": (
        lambda: Path(RIGHT).unlink(),
        "corpus/answers/ex2/right holds no right answer: put at least one there.",
    ),
    "a right answer that is wrong": (
        lambda: change(RIGHT, "dlogits /= n", "dlogits /= -n"),
        f"{RIGHT}: dlogits is `fail`, not `pass`: ",
    ),
    "a right answer with a cell of another exercise": (
        lambda: change(RIGHT, "# answer: ex2-dlogits", "# answer: ex1-dlogits"),
        f"{RIGHT}: the cell ex1-dlogits is none of ex2.",
    ),
    "a right answer that is not an answer": (
        lambda: change(RIGHT, "# answer:", "#"),
        f"{RIGHT}: the answers have no line like `# answer: ex1-softmax`.",
    ),
    "a blank that is not": (
        lambda: change(BLANK, "dlogits = ...  # your turn", "dlogits = logits"),
        f"{BLANK}: dlogits is `fail`, not `todo`: ",
    ),
    "a solution that is none": (
        lambda: shutil.copy(BLANK, SOLUTION),
        f"{SOLUTION}: dlogits is `todo`, not `pass`: its solution is still to be written.",
    ),
    "a notebook that cannot be read": (
        lambda: Path(BLANK).write_text("{", encoding="utf-8"),
        "02_fused_cross_entropy.ipynb",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EDITS)
def test_what_is_missing_is_said(name: str, course: Path, runner: Runner) -> None:
    edit, sentence = EDITS[name]
    edit()
    found = complaints(runner)
    assert any(sentence in text for text in found), found
    assert all(text[-1] in ".?`)" for text in found), found


def test_a_source_that_cannot_become_a_notebook_is_said_once(course: Path, runner: Runner) -> None:
    change(SOURCE, "### END SOLUTION", "")
    assert [text for text in complaints(runner) if "### END SOLUTION" in text]


def test_what_the_notebook_does_not_ask_for_is_said(course: Path, runner: Runner) -> None:
    other = replace(FUSED_CROSS_ENTROPY, forward=forward.smoothed_cross_entropy, gradients=("dz",))
    assert set(complaints(runner, other)) >= {
        f"{SOURCE}: no answer cell of ex2 assigns dz.",
        f"{SOURCE}: no check cell of ex2 names dz.",
        f"{SOURCE}: a check cell of ex2 names dlogits.",
    }


# --- the forward pass and what is asked of it


def not_straight(x: Annotated[Tensor, "n, m"]) -> Tensor:
    x = x * 2
    loss = x.sum()
    return loss


def of_one_size(x: Annotated[Tensor, "n, m"]) -> Tensor:
    y = x.view(40, 18)
    loss = y.sum()
    return loss


def of_several(x: Annotated[Tensor, "n, m"]) -> Tensor:
    parts = x.chunk(2, 1)
    first = parts[0] * 2
    loss = first.sum()
    return loss


def infinite(x: Annotated[Tensor, "n, m"]) -> Tensor:
    y = x - x
    z = y.abs().sqrt()
    loss = (z * x).sum()
    return loss


NEW_SIZES = {"n": 40, "m": 18}


@pytest.mark.parametrize(
    ("exercise", "sentence"),
    [
        (
            replace(FUSED_CROSS_ENTROPY, forward=not_straight),
            f"line {not_straight.__code__.co_firstlineno + 1}, is not a step: `x = x * 2`",
        ),
        (
            replace(FUSED_CROSS_ENTROPY, sizes={"n": 32}),
            "`sizes` of ex2 has n; the shapes in fused_cross_entropy use n, vocab_size.",
        ),
        (
            replace(FUSED_CROSS_ENTROPY, sizes={"n": HIDDEN_SIZES[1][0], "vocab_size": 27}),
            f"n = {HIDDEN_SIZES[1][0]} is a size of a hidden instance too",
        ),
        (
            replace(FUSED_CROSS_ENTROPY, forward=of_one_size, sizes=NEW_SIZES),
            f"line {of_one_size.__code__.co_firstlineno + 1}, does not run on every size,"
            " {'n': 40, 'm': 18} and the hidden ones (RuntimeError: ",
        ),
        (
            replace(FUSED_CROSS_ENTROPY, forward=of_several, sizes=NEW_SIZES),
            f"{__file__}: of_several, line {of_several.__code__.co_firstlineno + 1}, is not a step:"
            " `parts = x.chunk(2, 1)` makes several tensors. Give each tensor a line of its own",
        ),
        (
            replace(FUSED_CROSS_ENTROPY, forward=infinite, sizes=NEW_SIZES, gradients=("dz", "dy")),
            "dy has NaN or infinite numbers in it on a hidden instance.",
        ),
        (
            replace(FUSED_CROSS_ENTROPY, gradients=("dlogits", "dYb")),
            "dYb is asked for, but fused_cross_entropy has no such gradient.",
        ),
        (
            replace(FUSED_CROSS_ENTROPY, gradients=("dlogits", "dlogits")),
            "dlogits is asked for twice.",
        ),
        (
            replace(FUSED_BATCHNORM, gradients=("dvar", "dxhat")),
            "dvar is made from dxhat, and is asked for before.",
        ),
    ],
    ids=lambda part: part.forward.__name__ if isinstance(part, Exercise) else "",
)
def test_a_forward_pass_that_will_not_do(
    exercise: Exercise, sentence: str, course: Path, runner: Runner
) -> None:
    found = complaints(runner, exercise)
    assert any(sentence in text for text in found), found


def test_a_program_with_more_sizes_than_there_are(course: Path, runner: Runner) -> None:
    names = [f"s{number}" for number in range(len(HIDDEN_SIZES[0]) + 1)]

    def many(x: Tensor) -> Tensor:
        loss = x.sum()
        return loss

    many.__annotations__["x"] = Annotated[Tensor, ", ".join(names)]
    exercise = replace(
        FUSED_CROSS_ENTROPY, forward=many, sizes=dict.fromkeys(names, 50), gradients=()
    )
    assert f"many has {len(names)} sizes; a hidden" in complaints(runner, exercise)[0]


# --- the command


def run(*arguments: str) -> tuple[int, str, str]:
    words = ["dev", "check", *arguments]
    result = CliRunner().invoke(cli.command, words, prog_name="grader", standalone_mode=False)
    assert result.exception is None
    return result.return_value, result.stdout, result.stderr


def test_elsewhere_the_command_says_where_it_belongs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, error = run()
    assert code == 2
    assert error == (
        "`grader dev check` looks at the course's own files: run it in a clone of the course's"
        " repository. There is no notebooks/source here.\n"
    )


def test_in_another_clone_the_command_says_whose_grader_it_is(course: Path) -> None:
    code, _, error = run()
    assert code == 2
    assert "This grader stands in" in error


def test_an_unknown_exercise_is_said(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    known = ", ".join(exercise.prefix for exercise in EXERCISES)
    assert run("ex9") == (2, "", f"There is no exercise ex9; there are {known}.\n")


@pytest.mark.slow
def test_one_line_an_exercise(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exercise is in order; its notebooks may be out of step while a text is being written."""
    monkeypatch.chdir(project)
    monkeypatch.setattr("grader.authoring.dev_check.verify", list)
    code, out, _ = run("ex2")
    assert (code, out) == (
        0,
        "ex2 (02_fused_cross_entropy): 1 gradient, 8 right answers: in order\n"
        "notebooks and their sources: in order\n",
    )


def test_sentences_stand_below_their_line(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setattr("grader.authoring.dev_check.verify", lambda: ["A is out of date.", "B is."])
    monkeypatch.setattr("grader.authoring.dev_check.check_exercise", lambda *_: ["This.", "That."])
    code, out, _ = run("ex2s")
    assert code == 1
    assert out.splitlines()[:3] == [
        "ex2s (02_fused_cross_entropy): 1 gradient, 6 right answers: to mend",
        "  This.",
        "  That.",
    ]
    assert out.splitlines()[3] == "notebooks and their sources: in order"


def test_notebooks_out_of_step_are_said(course: Path) -> None:
    change(BLANK, "dlogits = ...  # your turn", "dlogits = None")
    found = check_notebooks(["02_fused_cross_entropy"])
    assert found[0].startswith(f"{BLANK} is out of date: ")
    assert found[-1] == "Run `make notebooks`, look, commit."
    assert check_notebooks(["03_fused_batchnorm"]) == []


def test_every_exercise_of_the_course_is_looked_at() -> None:
    defined = {name for name, value in vars(forward).items() if inspect.isfunction(value)}
    assert {exercise.forward.__name__ for exercise in EXERCISES} == defined
