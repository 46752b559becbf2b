"""References: zero by structure is found, not listed."""

from typing import Annotated

import pytest
import torch
from torch import Tensor

from corpus.readers.lecture_course import ATOMIC, FUSED_BATCHNORM
from grader.program.exercises import Exercise
from grader.program.parse import parse_program
from grader.program.references import make_references, prepare


def test_notebook_one_has_two_gradients_that_are_zero_by_structure() -> None:
    references = prepare(ATOMIC, seed=1)
    assert references.zero_by_structure == {"logit_maxes", "b1"}


def centred(x: Annotated[Tensor, "n, m"], shift: Annotated[Tensor, "m"]) -> Tensor:
    """The shift goes out again with the mean; `unused` reaches no loss."""
    moved = x + shift
    unused = shift * 2  # noqa: F841 - a step that reaches no loss
    mean = moved.sum(0, keepdim=True) / x.shape[0]
    loss = ((moved - mean) ** 2).sum()
    return loss


def test_another_program_has_others() -> None:
    references = make_references(parse_program(centred), {"n": 6, "m": 3}, seed=1)
    assert references.zero_by_structure == {"shift", "mean", "unused"}


def test_local_vjp_counts_the_zeroed_upstreams_as_given() -> None:
    reference = prepare(ATOMIC, seed=1).hidden[0]
    without = reference.local_vjp("logits", {"norm_logits"}, {"logit_maxes"})
    assert torch.equal(without, reference.cotangents["norm_logits"])
    with_branch = reference.local_vjp("logits", {"norm_logits", "logit_maxes"})
    assert not torch.equal(with_branch, without)


@pytest.mark.parametrize(
    ("exercise", "name", "given", "branch"),
    [
        (ATOMIC, "bnmeani", {"bnraw"}, "bndiff2"),
        (FUSED_BATCHNORM, "mu", {"xhat"}, "var"),
        (ATOMIC, "bnmeani", {"bndiff"}, None),  # step by step: both have come together
        (ATOMIC, "bndiff", {"bnraw"}, None),
        (ATOMIC, "hprebn", {"bnraw"}, None),
        (ATOMIC, "counts", {"probs", "counts_sum"}, None),
    ],
)
def test_a_branch_that_hands_nothing_on_is_found(
    exercise: Exercise, name: str, given: set[str], branch: str | None
) -> None:
    assert prepare(exercise, seed=1).idle_branch(name, given) == branch


def small(x: Annotated[Tensor, "n, m"], shift: Annotated[Tensor, "m"]) -> Tensor:
    """All gradients are small; those that come through `centred` alone are zero as well."""
    moved = x + shift
    xc = moved - moved.mean(0, keepdim=True)
    charge = xc * 1.6e-19
    scaled = x * 1e-40
    loss = charge.sin().sum() + scaled.sum() + x.shape[0] * 1.0
    return loss


def test_a_small_gradient_is_not_zero() -> None:
    references = make_references(parse_program(small), {"n": 6, "m": 3}, seed=1)
    assert references.zero_by_structure >= {"shift", "moved"}
    assert references.zero_by_structure.isdisjoint({"charge", "scaled"})
