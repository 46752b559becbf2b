"""The lecture's own notebook: which exercises are found in it, and what they get."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from grader.execution.runner import Runner
from grader.grading.grade import grade
from grader.program.course import BadCourse, built_in_course
from grader.program.exercises import exercises_of
from grader.reports.wording import note
from grader.submission.lecture import cut_lecture
from grader.submission.notebook_file import read_cells
from grader.submission.read import read_submissions
from grader.verdict import Outcome, Place, Verdict
from tests.helpers.lecture_notebook import (
    BLANK,
    EXERCISE_1,
    EXERCISE_4,
    FORWARD,
    RIGHT,
    training,
    write_lecture,
)

Judged = dict[str, dict[str, Verdict]]


def found(path: Path) -> list[str]:
    return [course.notebooks[0] for course, _ in cut_lecture(read_cells(path))]


def judge(path: Path, cells: Mapping[str, str], runner: Runner) -> Judged:
    """The verdicts of each exercise in a notebook with these cells, by its name."""
    judged = Judged()
    file = write_lecture(path / "my notes.ipynb", cells)
    for course, submission in read_submissions(file, built_in_course()):
        report = grade(exercises_of(course, submission.notebook), submission.cells, runner)
        judged[report.notebook] = {verdict.name: verdict for verdict in report.verdicts}
    return judged


def outcomes(judged: Judged) -> dict[str, dict[str, str]]:
    """Those that do not pass."""
    return {
        name: {g: v.outcome.value for g, v in verdicts.items() if v.outcome is not Outcome.PASS}
        for name, verdicts in judged.items()
    }


def test_the_right_one_passes_with_a_remark_on_a_shape(tmp_path: Path, warm_runner: Runner) -> None:
    judged = judge(tmp_path, RIGHT, warm_runner)
    assert outcomes(judged) == {f"Exercise {number}": {} for number in (1, 2, 3, 4)}
    assert [len(verdicts) for verdicts in judged.values()] == [26, 1, 1, 11]
    verdict = judged["Exercise 1"]["dbnmeani"]
    assert note(verdict) == (
        "The numbers are right. The shape is (64,), and `bnmeani` has (1, 64). "
        "The lecture's `cmp` accepts this."
    )
    assert (verdict.comparison.shape, verdict.comparison.expected_shape) == ((64,), (1, 64))
    assert verdict.comparison.approximate


def test_the_blank_one_is_to_do(tmp_path: Path, warm_runner: Runner) -> None:
    judged = judge(tmp_path, BLANK, warm_runner)
    assert [len(verdicts) for verdicts in judged.values()] == [26, 1, 1, 7]
    every = (verdict.outcome for verdicts in judged.values() for verdict in verdicts.values())
    assert {*every} == {Outcome.TODO}


WRONG = {
    "of the wrong sign": (
        "dbnvar = -0.5",
        "dbnvar = 0.5",
        "dbnvar",
        "`0.5` has the wrong sign here.",
    ),
    "of another shape, too": ("= -dbndiff.sum(0)", "= dbndiff.sum(0)", "dbnmeani", "wrong sign"),
}


@pytest.mark.parametrize(("right", "wrong", "gradient", "why"), WRONG.values(), ids=[*WRONG])
def test_a_wrong_line_fails_at_its_place(
    right: str, wrong: str, gradient: str, why: str, tmp_path: Path, warm_runner: Runner
) -> None:
    answer = EXERCISE_1.replace(right, wrong)
    judged = judge(tmp_path, {**RIGHT, "1": answer}, warm_runner)["Exercise 1"]
    line = 1 + answer.split(wrong)[0].count("\n")
    at_fault = {name: one for name, one in judged.items() if one.outcome is Outcome.FAIL}
    assert {name: one.place for name, one in at_fault.items()} == {gradient: Place("cell 8", line)}
    assert why in at_fault[gradient].diagnosis[0].message
    others = {one.outcome for name, one in judged.items() if name != gradient}
    assert others == {Outcome.PASS, Outcome.CARRIED}


def test_a_shape_that_does_not_broadcast_fails(tmp_path: Path, warm_runner: Runner) -> None:
    answer = EXERCISE_1.replace("h.T @ dlogits", "dlogits.T @ h")
    judged = judge(tmp_path, {**RIGHT, "1": answer}, warm_runner)
    assert outcomes(judged)["Exercise 1"] == {"dW2": "fail"}


def test_a_place_in_the_loop_is_that_of_its_cell(tmp_path: Path, warm_runner: Runner) -> None:
    cell = training(EXERCISE_4.replace("1 - h**2", "1 - h"))
    verdict = judge(tmp_path, {**RIGHT, "4": cell}, warm_runner)["Exercise 4"]["dhpreact"]
    assert verdict.outcome is Outcome.FAIL
    line = 1 + cell.split("1 - h)")[0].count("\n")
    assert (verdict.place, verdict.code) == (
        Place("cell 18", line),
        "dhpreact = dlogits @ W2.T * (1 - h)",
    )


def test_the_forward_pass_of_the_file_counts(tmp_path: Path, warm_runner: Runner) -> None:
    """A variance without Bessel's correction, of squares under another name."""
    forward = FORWARD.replace("1 / (n - 1)", "1 / n").replace("bndiff2", "squares")
    answer = EXERCISE_1.replace("(n - 1)", "n").replace("bndiff2", "squares")
    cells = {**RIGHT, "forward": forward, "1": answer}
    judged = judge(tmp_path, cells, warm_runner)["Exercise 1"]
    assert {"dsquares", "dbndiff2"} & judged.keys() == {"dsquares"}
    assert {verdict.outcome for verdict in judged.values()} == {Outcome.PASS}


def called(cells: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """The cells with other names, and those of their gradients."""
    renamed = {f"d{name}": f"d{other}" for name, other in names.items()} | dict(names)
    pattern = rf"\b({'|'.join(renamed)})\b"
    return {cell: re.sub(pattern, lambda f: renamed[f[1]], text) for cell, text in cells.items()}


@pytest.mark.parametrize(
    "names",
    [
        {"Yb": "yb"},
        {"Xb": "X_batch", "Yb": "Y_batch"},
        {"C": "c", "Xb": "xs", "W1": "w1", "W2": "w2", "bngain": "gamma", "Yb": "ys"},
    ],
)
def test_inputs_may_have_other_names(
    names: dict[str, str], tmp_path: Path, warm_runner: Runner
) -> None:
    parameters = "parameters = [C, W1, b1, W2, b2, bngain, bnbias]"
    cells = {**RIGHT, "batch": f"{parameters}\n{RIGHT['batch']}"}
    judged = judge(tmp_path, called(cells, names), warm_runner)
    assert outcomes(judged) == {f"Exercise {number}": {} for number in (1, 2, 3, 4)}
    assert [len(verdicts) for verdicts in judged.values()] == [26, 1, 1, 11]
    asked = {f"d{names.get(name, name)}" for name in ("C", "W1", "W2", "bngain")}
    assert asked <= judged["Exercise 1"].keys()


def test_a_name_too_many_is_no_input(tmp_path: Path) -> None:
    forward = FORWARD.replace("emb = C[Xb]", "emb = C[Xb] + noise")
    cells = {**RIGHT, "forward": forward}
    assert found(write_lecture(tmp_path / "x.ipynb", cells)) == ["Exercise 4"]


def test_a_line_of_the_forward_pass_may_bind_two_names(tmp_path: Path, warm_runner: Runner) -> None:
    line = "logit_maxes = logits.max(1, keepdim=True).values"
    forward = FORWARD.replace(line, "logit_maxes, _ = logits.max(1, keepdim=True)")
    assert forward != FORWARD
    judged = judge(tmp_path, {**RIGHT, "forward": forward}, warm_runner)
    assert outcomes(judged)["Exercise 1"] == {}


def test_cmp_says_what_is_meant_by_another_name(tmp_path: Path, warm_runner: Runner) -> None:
    answer = EXERCISE_1.replace("dhprebn", "dbhprebn")
    judged = judge(tmp_path, {**RIGHT, "1": answer}, warm_runner)
    assert outcomes(judged)["Exercise 1"] == {}


def test_half_a_notebook_has_the_exercises_that_are_found(tmp_path: Path) -> None:
    path = tmp_path / "x.ipynb"
    for missing, expected in (
        ("norm", ["Exercise 1", "Exercise 2", "Exercise 4"]),
        ("cheap", ["Exercise 1", "Exercise 3", "Exercise 4"]),
        ("4", ["Exercise 1", "Exercise 2", "Exercise 3"]),
        ("forward", []),
    ):
        cells = {name: text for name, text in RIGHT.items() if name != missing}
        assert found(write_lecture(path, cells)) == expected, missing


def test_a_cell_that_python_cannot_read_is_said(tmp_path: Path, warm_runner: Runner) -> None:
    judged = judge(tmp_path, {**RIGHT, "1": EXERCISE_1 + "\ndh = ("}, warm_runner)["Exercise 1"]
    verdict = judged["dC"]
    assert verdict.outcome is Outcome.ERROR
    assert verdict.place is not None
    assert verdict.place.cell == "cell 8"


@pytest.mark.parametrize(
    "line", ["emb = __import__('os').getcwd()", "emb = torch.load(Xb)", "emb = C.data.fill_(0)[Xb]"]
)
def test_a_forward_pass_that_is_no_arithmetic_is_not_run(line: str, tmp_path: Path) -> None:
    forward = FORWARD.replace("emb = C[Xb]", line)
    assert found(write_lecture(tmp_path / "x.ipynb", {**RIGHT, "forward": forward})) == [
        "Exercise 4"
    ]


def test_a_forward_pass_that_does_not_run_is_said(tmp_path: Path, warm_runner: Runner) -> None:
    forward = FORWARD.replace("h @ W2", "h @ W1")
    with pytest.raises(BadCourse, match="the notebook's own forward pass does not run"):
        judge(tmp_path, {**RIGHT, "forward": forward}, warm_runner)


def test_a_gradient_that_shares_its_memory_with_a_right_one(
    tmp_path: Path, warm_runner: Runner
) -> None:
    """What is added to `dnorm_logits` is zero. What is added to `dbndiff` is not."""
    answer = EXERCISE_1.replace("dlogits = dnorm_logits +", "dlogits = dnorm_logits\ndlogits +=")
    answer = answer.replace("dhprebn = dbndiff +", "dhprebn = dbndiff\ndhprebn +=")
    judged = judge(tmp_path, {**RIGHT, "1": answer}, warm_runner)["Exercise 1"]
    assert judged["dnorm_logits"].why == "changed-by-nothing"
    assert outcomes({"": judged}) == {"": {"dbndiff": "fail"}}


def test_tagged_cells_are_our_own_courses(tmp_path: Path) -> None:
    tagged = {**RIGHT, "1": f"# answer: ex1-all\n{EXERCISE_1}"}
    assert found(write_lecture(tmp_path / "x.ipynb", tagged)) == []
