from __future__ import annotations

import os
import signal

import pytest
import torch
from torch import Tensor

from makemore_data import Run, begin_run, train
from makemore_data.training.solved.lecture import lecture_backward
from makemore_data.training.train import Backward, train_steps

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


@pytest.mark.slow
def test_somebody_may_watch(data: Data) -> None:
    seen: list[int] = []
    train(
        begin_run(5), lecture_backward, *data, until=1001, watch=lambda run: seen.append(run.step)
    )
    assert seen == [500, 1000]


def test_a_loop_of_ones_own_takes_the_steps(data: Data) -> None:
    asked: list[int] = []

    def loop(run: Run, backward: Backward, X: Tensor, Y: Tensor, until: int) -> None:
        asked.append(until)
        train_steps(run, backward, X, Y, until)

    run = begin_run(20)
    train(run, lecture_backward, *data, until=3, loop=loop)
    assert asked == [1, 2, 3]
    assert_same(run, go_on(begin_run(20), data, until=3))
