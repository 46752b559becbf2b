from __future__ import annotations

import ast
import inspect
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from makemore_data import Run, begin_run, train
from makemore_data.model.inference import calibrate, logits_with, mean_loss, sample_names
from makemore_data.training.solved.lecture import lecture_backward

Data = tuple[Tensor, Tensor]
STEPS = 40


@pytest.fixture(scope="module")
def data() -> Data:
    g = torch.Generator().manual_seed(3)
    return torch.randint(0, 27, (500, 3), generator=g), torch.randint(0, 27, (500,), generator=g)


def go_on(run: Run, data: Data, until: int = STEPS) -> Run:
    train(run, lecture_backward, *data, until=until)
    return run


def assert_same(one: Run, other: Run) -> None:
    assert one.losses == other.losses
    assert all(map(torch.equal, one.parameters, other.parameters))
    assert torch.equal(one.generator.get_state(), other.generator.get_state())


def test_a_run_in_two_parts_is_the_run_in_one(data: Data) -> None:
    assert_same(go_on(go_on(begin_run(20), data, until=13), data), go_on(begin_run(20), data))


@pytest.mark.parametrize("step", [0, 7, STEPS - 1])
def test_an_interrupt_in_the_middle_of_a_step_loses_nothing(data: Data, step: int) -> None:
    """The signal comes while gradients are computed; the step is finished, and not one more."""
    run = begin_run(20)

    def interrupted(*inputs: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        if run.step == step:
            os.kill(os.getpid(), signal.SIGINT)
        return lecture_backward(*inputs)

    train(run, interrupted, *data, until=STEPS)
    assert run.step == step + 1
    assert_same(go_on(run, data), go_on(begin_run(20), data))


def test_a_finished_run_does_nothing_more(data: Data) -> None:
    run = go_on(begin_run(20), data)
    assert_same(go_on(run, data), go_on(begin_run(20), data))


def test_an_exception_of_the_answer_comes_out_and_changes_no_parameter(data: Data) -> None:
    run = go_on(begin_run(20), data, until=3)
    before = [parameter.clone() for parameter in run.parameters]

    def broken(*inputs: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        train(run, broken, *data, until=STEPS)
    assert run.step == 3
    assert all(map(torch.equal, run.parameters, before))


def test_the_learning_rate_falls_at_half_time(data: Data) -> None:
    def constant(*inputs: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        return torch.tensor(1.0), tuple(torch.ones_like(p) for p in inputs[2:])

    run = begin_run(5)
    run.losses.extend([0.0] * 99_999)
    for moved in (0.1, 0.01):
        before = run.parameters.C.clone()
        train(run, constant, *data, until=run.step + 1)
        assert torch.allclose(before - run.parameters.C, torch.tensor(moved), atol=1e-6)


def test_nothing_is_written_to_stderr_and_the_bar_does_not_stay(
    data: Data, capsys: pytest.CaptureFixture[str]
) -> None:
    go_on(begin_run(5), data)
    out, err = capsys.readouterr()
    assert err == ""
    assert out.endswith("\r")


def test_somebody_may_watch(data: Data) -> None:
    seen: list[int] = []
    train(
        begin_run(5), lecture_backward, *data, until=1001, watch=lambda run: seen.append(run.step)
    )
    assert seen == [500, 1000]


def without_annotations(source: str, name: str) -> str:
    """A function's code alone: no types, no docstring, no matter how its lines are broken."""
    (function,) = (
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name == name
    )
    function.returns = None
    if ast.get_docstring(function) is not None:
        del function.body[0]
    for argument in function.args.args:
        argument.annotation = None
    return ast.unparse(function)


@pytest.mark.parametrize("function", [train, calibrate, logits_with, mean_loss, sample_names])
def test_the_notebook_defines_the_very_same_function(
    function: Callable[..., object], project: Path
) -> None:
    notebook = project / "notebooks/source/04_manual_training.py"
    # unwrapped: torch puts a function of its own around what is decorated with `no_grad`
    module = Path(inspect.getfile(inspect.unwrap(function)))
    texts = [
        without_annotations(path.read_text(encoding="utf-8"), function.__name__)
        for path in (notebook, module)
    ]
    assert texts[0] == texts[1]
