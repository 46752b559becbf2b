"""However fast a loop is, it arrives where autograd arrives."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import Tensor

from makemore_data import Run, autograd_loop, begin_run, manual_loop
from makemore_data.training.solved.compiled import NoCompiler, compile_loop
from makemore_data.training.solved.lecture import lecture_backward
from makemore_data.training.solved.tuned import AHEAD, tuned_loop
from makemore_data.training.train import Loop

STEPS = 60
Data = tuple[Tensor, Tensor]
by_hand = partial(manual_loop, backward=lecture_backward)


def data(block_size: int = 3) -> Data:
    g = torch.Generator().manual_seed(3)
    X = torch.randint(0, 27, (500, block_size), generator=g)
    return X, torch.randint(0, 27, (500,), generator=g)


def run_in_float64(**sizes: int) -> Run:
    """float64: what a wrong step does is not to be taken for rounding."""
    run = begin_run(**sizes)
    run.parameters = type(run.parameters)(*(p.double() for p in run.parameters))
    return run


def assert_together(one: Run, other: Run, relative: float) -> None:
    assert one.losses == pytest.approx(other.losses, rel=relative)
    for mine, theirs in zip(one.parameters, other.parameters, strict=True):
        assert float((mine - theirs).abs().max()) <= relative * float(theirs.abs().max())
    assert torch.equal(one.generator.get_state(), other.generator.get_state())


@pytest.mark.parametrize("loop", [by_hand, tuned_loop])
@pytest.mark.parametrize(("n_hidden", "block_size"), [(200, 3), (7, 1), (30, 5)])
def test_a_loop_follows_autograds_trajectory(loop: Loop, n_hidden: int, block_size: int) -> None:
    sizes = {"n_hidden": n_hidden, "block_size": block_size}
    reference, run = run_in_float64(**sizes), run_in_float64(**sizes)
    autograd_loop(reference, *data(block_size), STEPS)
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        loop(run, *data(block_size), STEPS)
    finally:
        torch.set_default_dtype(default)
    assert_together(run, reference, 1e-9)


@pytest.mark.parametrize("loop", [by_hand, tuned_loop])
def test_in_float32_it_differs_by_rounding(loop: Loop) -> None:
    reference, run = begin_run(), begin_run()
    autograd_loop(reference, *data(), STEPS)
    loop(run, *data(), STEPS)
    assert_together(run, reference, 1e-3)


def test_loops_can_take_turns_on_one_run() -> None:
    """Each leaves everything that the next one needs, the generator included."""
    reference, run = begin_run(20), begin_run(20)
    autograd_loop(reference, *data(), 4 * STEPS)
    for loop in (tuned_loop, autograd_loop, by_hand, tuned_loop):
        loop(run, *data(), STEPS)
    assert_together(run, reference, 1e-3)
    assert not any(parameter.requires_grad for parameter in run.parameters)


@pytest.mark.slow
def test_minibatches_drawn_ahead_are_the_same_ones() -> None:
    reference, run = begin_run(4), begin_run(4)
    autograd_loop(reference, *data(), AHEAD + 1)
    tuned_loop(run, *data(), AHEAD + 1)
    assert run.step == AHEAD + 1
    assert torch.equal(run.generator.get_state(), reference.generator.get_state())
    assert run.losses[:50] == pytest.approx(reference.losses[:50], rel=1e-3)


def test_other_learning_rates() -> None:
    reference, run = begin_run(20), begin_run(20)
    autograd_loop(reference, *data(), STEPS, 0.01)
    tuned_loop(run, *data(), STEPS, 0.01)
    assert_together(run, reference, 1e-3)


def test_b1_is_left_alone_by_the_tuned_loop_and_nearly_so_by_autograd() -> None:
    run, reference = begin_run(20), begin_run(20)
    tuned_loop(run, *data(), STEPS)
    autograd_loop(reference, *data(), STEPS)
    assert torch.equal(run.parameters.b1, begin_run(20).parameters.b1)
    assert torch.allclose(reference.parameters.b1, run.parameters.b1, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("steps_a_call", [1, 10])
def test_the_compiled_step_follows_autograds_trajectory(steps_a_call: int) -> None:
    try:
        loop = compile_loop(steps_a_call)
    except NoCompiler as trouble:
        pytest.skip(str(trouble))
    reference, run = begin_run(), begin_run()
    autograd_loop(reference, *data(), STEPS)
    loop(run, *data(), STEPS)
    assert_together(run, reference, 1e-3)


def test_without_a_compiler_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_compile(*_: object, **__: object) -> Loop:
        def raises(*_: object) -> None:
            raise RuntimeError("No working C++ compiler found.\nsecond line")

        return raises

    monkeypatch.setattr(torch, "compile", no_compile)
    with pytest.raises(NoCompiler, match=r"does not work here \(No working C\+\+ compiler found\)"):
        compile_loop()


def test_a_compiled_loop_does_whole_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)
    loop = compile_loop(10)
    with pytest.raises(ValueError, match="10 steps a call, and not 15 in all"):
        loop(begin_run(), *data(), 15)
    reference, run = begin_run(), begin_run()
    autograd_loop(reference, *data(), 20)
    loop(run, *data(), 20)
    assert_together(run, reference, 1e-3)
