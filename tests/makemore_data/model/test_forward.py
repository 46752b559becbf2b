from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from makemore_data import atomic, init_parameters


def loss_by_modules(Xb: Tensor, Yb: Tensor, *parameters: Tensor) -> Tensor:
    """The same network from PyTorch's large operations."""
    C, W1, b1, bngain, bnbias, W2, b2 = parameters
    hprebn = F.embedding(Xb, C).flatten(1) @ W1 + b1
    variance, mean = torch.var_mean(hprebn, 0, correction=1, keepdim=True)
    hpreact = bngain * (hprebn - mean) / torch.sqrt(variance + 1e-5) + bnbias
    return F.cross_entropy(torch.tanh(hpreact) @ W2 + b2, Yb)


@pytest.mark.parametrize(("n", "block_size", "n_hidden"), [(32, 3, 64), (2, 1, 5), (45, 4, 200)])
def test_atomic_agrees_with_the_large_operations(n: int, block_size: int, n_hidden: int) -> None:
    g = torch.Generator().manual_seed(0)
    drawn = init_parameters(g, n_hidden=n_hidden, block_size=block_size)
    Xb = torch.randint(0, 27, (n, block_size), generator=g)
    Yb = torch.randint(0, 27, (n,), generator=g)
    # float64: float32 noise would ask for a tolerance that hides a wrong epsilon
    parameters = [p.double().requires_grad_() for p in drawn]
    ours = atomic(Xb, Yb, *parameters)
    theirs = loss_by_modules(Xb, Yb, *parameters)
    assert ours.shape == ()
    assert torch.allclose(ours, theirs, rtol=1e-12, atol=0)
    for a, b in zip(
        torch.autograd.grad(ours, parameters), torch.autograd.grad(theirs, parameters), strict=True
    ):
        assert torch.allclose(a, b, rtol=1e-9, atol=1e-12)


def test_before_training_the_loss_is_near_that_of_guessing() -> None:
    g = torch.Generator().manual_seed(0)
    Xb = torch.randint(0, 27, (512, 3), generator=g)
    Yb = torch.randint(0, 27, (512,), generator=g)
    assert atomic(Xb, Yb, *init_parameters()).item() == pytest.approx(math.log(27), rel=0.15)
