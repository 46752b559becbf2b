"""Training loops that contain no answer of notebook 4."""

from __future__ import annotations

import torch
from torch import Tensor

from makemore_data.course.forward import fused_forward
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
