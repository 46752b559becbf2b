import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from grader.notebook import running_notebook
from grader.platforms.otter import GRADED_BY, HANDED_IN, AnswersOnly, NoPoint, expect_point
from grader.submission.notebook_file import UnreadableNotebook
from grader.verdict import Check, Comparison, Outcome, Verdict
from tests.helpers.reasons import said
from tests.helpers.small_course import FILES, FORWARD, write_course

HALF = {
    "ex3-scale": "dbngain = (dhpreact * xhat).sum(0, keepdim=True)\ndbnbias = dhpreact.sum()",
    "ex3-xhat": "dxhat = 2 * bngain * dhpreact",
    "ex3-variance": "dvar = 1 / 0",
    "ex3-mean": "dmu = ...  # your turn",
    "ex3-batchnorm": "dhprebn = dxhat * (var + 1e-5) ** -0.5",
}


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A notebook handed in."""
    cells = [
        {"cell_type": "code", "metadata": {}, "source": f"# answer: {name}\n{text}", "outputs": []}
        for name, text in HALF.items()
    ]
    document = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    path = tmp_path_factory.mktemp("paper") / "notebook 3.ipynb"
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


@pytest.mark.slow
def test_a_right_gradient_has_its_point(paper: str) -> None:
    expect_point("ex3", "dbngain", paper)


@pytest.mark.parametrize(
    ("gradient", "told"),
    [
        ("dbnbias", "dbnbias: fail (ex3-scale, line 3). `dhpreact.sum()` runs over every axis."),
        ("dxhat", "dxhat: fail (ex3-xhat, line 2). "),
        ("dvar", "dvar: error (ex3-variance, line 2). This line divides by zero."),
        ("dmu", "dmu: to do"),
    ],
)
def test_any_other_says_why_it_has_none(paper: str, gradient: str, told: str) -> None:
    with pytest.raises(NoPoint) as trouble:
        expect_point("ex3", gradient, paper)
    assert str(trouble.value).startswith(told)


def test_another_notebook_is_told_so(paper: str) -> None:
    with pytest.raises(NoPoint, match="notebook 03_fused_batchnorm, which has no exercise ex1"):
        expect_point("ex1", "dlogits", paper)


@pytest.mark.slow
def test_points_are_counted_by_the_instructors_course(tmp_path: Path) -> None:
    """Whatever the notebook handed in carries, names, or has beside it."""
    forged = {**FILES, "forward.py": FORWARD.replace("(dout * out)", "(0 * dout * out)")}
    write_course(tmp_path, forward=forged["forward.py"])
    cheat = "dx = 0 * x\ndgain = (dout * xhat).sum(0)"
    sources = [f"start_lesson({forged!r})", f"# answer: n1-norm\n{cheat}"]
    cells = [new_code_cell(source) for source in sources]
    metadata = {"backprop_ninja": {"course": "."}}
    path = tmp_path / "x.ipynb"
    nbformat.write(new_notebook(cells=cells, metadata=metadata), path)
    config = {"course": {name: FILES[name] for name in ("course.toml", "forward.py")}}
    names: dict[str, Any] = {}
    for cell in AnswersOnly(str(path), {}, config).before_execution(new_notebook()).cells:
        exec(cell.source, names)
    handed_in, graded_by = names[HANDED_IN], names[GRADED_BY]
    expect_point("n1", "dgain", handed_in, graded_by)
    with pytest.raises(NoPoint, match="dx: fail"):
        expect_point("n1", "dx", handed_in, graded_by)
    with pytest.raises(UnreadableNotebook, match="knows only ex1-") as trouble:
        expect_point("n1", "dx", handed_in)
    assert "carries" not in str(trouble.value)


def test_a_file_that_is_no_notebook_of_the_course_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text("{}")
    with pytest.raises(UnreadableNotebook):
        expect_point("ex1", "dlogits", str(tmp_path / "a.ipynb"))


@pytest.mark.parametrize("outcome", Outcome)
def test_while_working_the_running_notebook_is_asked(
    outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = Comparison("dh", None, None, None, None, (2, 3))
    verdict = Verdict("dh", outcome, nothing, Check.NOT_RUN, Check.NOT_RUN, said("Said."))
    lessons = {"ex4": SimpleNamespace(verdicts=lambda: {"dh": verdict})}
    monkeypatch.setattr(running_notebook, "open_lesson", lessons.__getitem__)
    if outcome in {Outcome.PASS, Outcome.CARRIED}:
        expect_point("ex4", "dh", None)
    else:
        with pytest.raises(NoPoint, match=r"dh: .*\. Said\."):
            expect_point("ex4", "dh", None)


def test_the_plugin_leaves_of_a_notebook_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "it's.ipynb"
    notebook = new_notebook(cells=[new_code_cell("1 / 0"), new_code_cell("while True: pass")])
    names: dict[str, object] = {}
    for cell in AnswersOnly(str(path), {}, {}).before_execution(notebook).cells:
        exec(cell.source, names)
    assert (names[HANDED_IN], names[GRADED_BY]) == (str(path), None)


def test_the_plugin_removes_what_the_tests_could_import(tmp_path: Path) -> None:
    for name in ("a.ipynb", "torch.py", "grader/otter.py", "tests/ex1-loss.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "numpy").symlink_to("grader")
    (tmp_path / "nowhere").symlink_to("gone")
    AnswersOnly(str(tmp_path / "a.ipynb"), {}, {}).before_execution(new_notebook())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ipynb", "tests"]
    assert (tmp_path / "tests" / "ex1-loss.py").is_file()
