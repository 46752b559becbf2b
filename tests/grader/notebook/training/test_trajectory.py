"""Training with an answer beside training with autograd."""

from __future__ import annotations

import pytest

from grader.execution.runner import Runner
from grader.notebook.training.trajectory import compare_trajectories
from grader.program.instances import HIDDEN_SIZES
from grader.worker.terms import Limits
from tests.helpers.exercise_four import STYLES, as_cells, right_answer, with_mistake

PLACES = 1 + len(HIDDEN_SIZES)
"""Instances on which an answer trains: one of the lecture's sizes, then the hidden ones."""

STEPS = 20


def departures(text: str, runner: Runner, steps: int = STEPS) -> dict[str, str]:
    return compare_trajectories(as_cells(text), runner, steps=steps)


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
def test_right_answers_stay_with_autograd(style: str, runner: Runner) -> None:
    found = departures(right_answer(style), runner)
    assert [*found.values()] == [""] * PLACES
    lecture, *hidden = found
    assert lecture == "a network of the lecture's sizes, float32"
    assert all("hidden network" in place for place in hidden)


@pytest.mark.slow
def test_a_hundred_steps_do_not_drift_apart(runner: Runner) -> None:
    assert not any(departures(right_answer(), runner, 100).values())


@pytest.mark.parametrize(
    ("right", "wrong", "sentence"),
    [
        (" / (n - 1) * bnraw", " / n * bnraw", "At step 1, dC and dW1 are not autograd's."),
        ("db2 = dlogits.sum(0)", "db2 = -dlogits.sum(0)", "At step 1, db2 is not autograd's."),
        ("(1 - h**2) * dh", "float('nan') * dh", "not autograd's."),
        (
            "dh = dlogits @ W2.T",
            "dh = dlogits @ W2",
            "mat1 and mat2 shapes cannot be multiplied",
        ),
        ("db1 = dhprebn.sum(0)", "raise SystemExit", "The training asked Python to stop."),
    ],
)
def test_a_mistake_parts_at_the_first_step(
    right: str, wrong: str, sentence: str, runner: Runner
) -> None:
    text = with_mistake(right, wrong)
    assert all(sentence in said for said in departures(text, runner).values())


def test_a_gradient_that_is_kept_from_the_step_before_is_found(runner: Runner) -> None:
    """Right on any single batch, wrong in a loop: what the checks of single batches cannot see."""
    text = with_mistake(
        "dC = torch.zeros_like(C).index_add_(",
        "if 'kept' not in globals():\n    kept = torch.zeros_like(C)\ndC = kept.index_add_(",
    )
    found = departures(text, runner)
    assert [*found.values()] == ["At step 2, dC is not autograd's."] * PLACES


def test_an_answer_that_changes_its_parameters_is_found(runner: Runner) -> None:
    text = right_answer() + "C -= 0.1 * dC\n"
    found = departures(text, runner)
    assert [*found.values()] == [
        "After step 1, C is not where autograd's training has it."
    ] * PLACES


def test_hard_coded_sizes_do_not_travel(runner: Runner) -> None:
    found = departures(with_mistake("dlogits /= n", "dlogits /= 32"), runner)
    lecture, *hidden = found.values()
    assert lecture == ""
    assert all("not autograd's" in said for said in hidden)


def test_autograd_is_of_no_use_in_the_worker(runner: Runner) -> None:
    text = right_answer() + (
        "C.requires_grad_()\nloss = F.cross_entropy(logits, Yb)\nloss.backward()\n"
    )
    assert all(departures(text, runner).values())


@pytest.mark.slow
def test_a_training_that_hangs_is_ended() -> None:
    with Runner(Limits(statement_seconds=0.5, total_seconds=0.5)) as impatient:
        found = departures(with_mistake("db2 = dlogits.sum(0)", "while True: pass"), impatient)
    assert all("did not end within 0.5 seconds" in said for said in found.values())
