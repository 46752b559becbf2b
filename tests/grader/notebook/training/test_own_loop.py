"""The parts of the training loop: right ones pass, blanks are to do, what is wrong never passes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jupytext
import pytest
import torch
import torch.nn.functional as F

from corpus.readers.places import PROJECT
from grader.authoring.source import role_of
from grader.notebook.training import own_loop
from grader.notebook.training.first_prints import SHOWN, first_prints
from grader.notebook.training.own_loop import TRIALS, check_own
from grader.notebook.training.step_trials import Recorder
from grader.notebook.training.trial import Fact, Part, Trial
from makemore_data import begin_run
from makemore_data.training.train import learning_rate, train_steps, update
from tests.grader.notebook.training.conftest import HEADS, LOOP, UPDATE, changed, function

SOURCE = PROJECT / "notebooks/source/04_manual_training.py"


@pytest.mark.parametrize("part", HEADS)
def test_a_right_part_passes_and_is_used(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    right = function(part, HEADS[part][1])
    assert check_own(part, right) is right
    assert capsys.readouterr().out == "mine             | pass\n"


@pytest.mark.parametrize("part", HEADS)
def test_a_blank_is_to_do(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    blank = function(part, '"""What it does."""\n...  # your turn')
    assert check_own(part, blank) is TRIALS[part].own
    said = capsys.readouterr().out
    assert said.startswith("mine             | to do\n")
    assert "the course's own" in said


def test_what_fails_in_the_checker_is_not_the_students_mistake(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def facts(piece: Part) -> Iterator[Fact]:
        yield Fact({"the step": dict[str, int]()["a mistake of ours"]})

    monkeypatch.setattr(own_loop, "TRIALS", {"update": Trial(update, facts)})
    assert check_own("update", function("update", UPDATE)) is update
    said = capsys.readouterr().out
    assert said.startswith("mine             | not checked\n  This is not your mistake.")
    assert "KeyError" in said


def test_what_fails_in_a_recorder_is_not_the_students_mistake(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Recorder, "place", lambda self: torch.stack([]))
    check_own("loop", function("loop", LOOP))
    assert capsys.readouterr().out.startswith("mine             | not checked\n")


def test_a_wrong_call_of_an_update_that_prints_is_the_students_mistake(
    capsys: pytest.CaptureFixture[str],
) -> None:
    printing = first_prints(update, "`my_update`")
    body = changed("loop", "update(run.parameters, gradients, rate)", "update(run.parameters)")
    check_own("loop", function("loop", body, update=printing))
    assert "fail\n  It raises TypeError in `update(run.parameters)`" in capsys.readouterr().out


def test_an_earlier_function_is_not_judged_for_a_cell_that_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = function("update", UPDATE)
    monkeypatch.setattr(own_loop, "has_failed", lambda name: name == "mine")
    assert check_own("update", right) is update
    said = "mine             | fail\n  Its cell ended in an error."
    assert capsys.readouterr().out.startswith(said)


@pytest.mark.slow
@pytest.mark.parametrize("part", HEADS)
def test_nothing_and_nan_never_pass(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    for body in (
        "pass",
        "return None",
        "return float('nan')",
        "return torch.tensor(float('nan'))",
        "return (torch.full((1, 7), float('nan')), torch.full((1, 7), float('nan')))",
        "1 / 0",
        "raise SystemExit",
        "yield 1",
    ):
        assert check_own(part, function(part, body)) is TRIALS[part].own, body
        assert "| fail\n  " in capsys.readouterr().out


def test_what_does_not_end_is_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(own_loop, "SECONDS", 0.2)
    body = """
while True:
    try:
        while True:
            pass
    except Exception:
        pass
"""
    mine = function("learning_rate", body)
    assert check_own("learning_rate", mine) is learning_rate
    assert "It did not end within 0.2 seconds." in capsys.readouterr().out
    with ThreadPoolExecutor() as pool:  # a cell may run in any thread
        assert pool.submit(check_own, "learning_rate", mine).result() is learning_rate


def test_the_notebooks_tensors_and_draws_stay_as_they_are() -> None:
    run = begin_run(5)
    before = run.parameters.C.clone()
    body = "for p, d in zip(run.parameters, gradients): p -= 1\ntorch.manual_seed(3)"
    mine = function("update", body, run=run)
    state = torch.get_rng_state()
    check_own("update", mine)
    assert torch.equal(run.parameters.C, before)
    assert mine.__globals__["run"] is run
    assert torch.equal(torch.get_rng_state(), state)


def test_a_decorated_function_is_judged_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    for part in ("update", "logits"):
        right = torch.no_grad()(function(part, changed(part)))
        assert check_own(part, right) is right
    hidden = torch.no_grad()(function("update", changed("update", "zip(p", "zip(run.p")))
    check_own("update", hidden)
    assert "It uses the notebook's `run`" in capsys.readouterr().out


def test_a_print_in_a_part_does_not_flood_the_training(capsys: pytest.CaptureFixture[str]) -> None:
    body = f"{changed('update')}\nprint('rate', learning_rate)"
    quieter = check_own("update", function("update", body))
    assert capsys.readouterr().out == "mine             | pass\n"
    for _ in range(20):
        quieter([], [], 0.1)
    said = "`mine` prints at every step: from here on that is left out.\n"
    assert capsys.readouterr().out == "rate 0.1\n" * SHOWN + said


def test_what_is_no_function_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    thing: Any = 3
    assert check_own("update", thing) is update
    assert "It is int, not a function." in capsys.readouterr().out
    assert check_own("updat", update) is update
    assert 'There is no part "updat" of the loop' in capsys.readouterr().out


def test_a_blank_that_was_left_in_place_does_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    for body in ("...  # your turn\n" + UPDATE.strip(), UPDATE.strip() + "\n...  # your turn"):
        right = function("update", body)
        assert check_own("update", right) is right
    check_own("update", function("update", "...  # your turn\nparameters += 1"))
    assert "fail\n  It raises TypeError in `parameters += 1`: " in capsys.readouterr().out


def test_the_notebooks_own_solutions_pass_and_train_as_the_course_does() -> None:
    cells = jupytext.read(SOURCE, fmt="py:percent").cells
    scope: dict[str, Any] = {"torch": torch, "F": F, "check_own": check_own}
    for cell in cells:
        role = role_of(cell)
        if role and role.kind == "try" and cell.source.split("def ")[-1].startswith("my_"):
            exec(cell.source, scope)
        elif cell.cell_type == "code" and " = check_own(" in cell.source:
            line = next(line for line in cell.source.splitlines() if "check_own" in line)
            exec(line, scope)
            name, _, call = line.partition(" = ")
            assert scope[name] is eval(call.rpartition(", ")[2].rstrip(")"), scope)

    def backward(*given: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
        return given[0].sum() / 7, [p.cos() for p in given[2:]]

    X, Y = torch.arange(300).view(100, 3) % 27, torch.arange(100) % 27
    runs = begin_run(5), begin_run(5)
    for run, loop in zip(runs, (scope["loop"], train_steps), strict=True):
        loop(run, backward, X, Y, 20)
    assert runs[0].losses == runs[1].losses
    assert all(map(torch.equal, runs[0].parameters, runs[1].parameters))
