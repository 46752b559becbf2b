"""Training loops of the race that contain no answer."""

from __future__ import annotations

import torch
from torch import Tensor

from makemore_data.course.forward import fused_forward
from makemore_data.model.parameters import Parameters
from makemore_data.training.train import BATCH, Backward, Run


def autograd_loop(run: Run, X: Tensor, Y: Tensor, steps: int, learning_rate: float = 0.1) -> None:
    """What everybody writes: `loss.backward()`, then a step downhill.

    Args:
        run: is taken `steps` steps further, in place.
        X: windows, int64 (N, block_size).
        Y: the characters that follow, int64 (N,).
        steps: how many.
        learning_rate: the length of a step.
    """
    parameters = [p.requires_grad_() for p in run.parameters]
    for _ in range(steps):
        ix = torch.randint(0, X.shape[0], (BATCH,), generator=run.generator)
        loss = fused_forward(X[ix], Y[ix], *parameters)
        for p in parameters:
            p.grad = None
        loss.backward()  # type: ignore[no-untyped-call]
        for p in parameters:
            assert p.grad is not None
            p.data -= learning_rate * p.grad
        run.losses.append(loss.item())
    for p in parameters:
        p.requires_grad_(False)


@torch.no_grad()
def manual_loop(
    run: Run,
    X: Tensor,
    Y: Tensor,
    steps: int,
    learning_rate: float = 0.1,
    *,
    backward: Backward,
) -> None:
    """The loop of notebook 4 around a backward pass written by hand.

    Args:
        run: is taken `steps` steps further, in place.
        X: windows, int64 (N, block_size).
        Y: the characters that follow, int64 (N,).
        steps: how many.
        learning_rate: the length of a step.
        backward: from a minibatch and the parameters to the loss and the gradients, see `train`.

    Raises:
        ValueError: `backward` gives more or fewer gradients than there are parameters.
    """
    for _ in range(steps):
        ix = torch.randint(0, X.shape[0], (BATCH,), generator=run.generator)
        loss, gradients = backward(X[ix], Y[ix], *run.parameters)
        for p, gradient in zip(run.parameters, gradients, strict=True):
            p -= learning_rate * gradient
        run.losses.append(loss.item())


def matrix_products(parameters: Parameters, steps: int) -> None:
    """Compute the six matrix products of a step alone: no training step can be faster."""
    W1, W2 = parameters.W1, parameters.W2
    # Which product is which gradient is notebook 4's question: the results have numbers for names.
    x1, y1 = torch.ones(BATCH, W1.shape[0]), torch.ones(BATCH, W1.shape[1])
    x2, y2 = torch.ones(BATCH, W2.shape[0]), torch.ones(BATCH, W2.shape[1])
    first, second = x1 @ W1, x2 @ W2
    third, fourth = y2 @ W2.T, x2.T @ y2
    fifth, sixth = y1 @ W1.T, x1.T @ y1
    for _ in range(steps):
        torch.mm(x1, W1, out=first)
        torch.mm(x2, W2, out=second)
        torch.mm(y2, W2.T, out=third)
        torch.mm(x2.T, y2, out=fourth)
        torch.mm(y1, W1.T, out=fifth)
        torch.mm(x1.T, y1, out=sixth)
