"""What the backward pass with a second hidden layer, at notebook 4's end, is tried on."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.notebook.training.loop_trials import BLOCK_SIZE, N_HIDDEN, TOLERANCE, Part
from grader.printable import listed
from makemore_data.model.parameters import Parameters
from makemore_data.training.train import begin_run

PARAMETERS = (*Parameters._fields, "W3", "b3")
FROM_THE_LOSS = ("W2", "b2", "W3", "b3", "bngain", "bnbias", "W1", "b1", "C")
"""The order in which a backward pass comes to them."""
N_HIDDEN2, WINDOWS = 5, 9
NOISE = 1e-6
"""Of the largest gradient: how far one that is zero but for rounding may be off."""


def deep_backward(Xb: Tensor, Yb: Tensor, *parameters: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Autograd's gradients of the network with two hidden layers.

    Args:
        Xb: windows, int64 (n, block_size).
        Yb: the characters that follow, int64 (n,).
        parameters: the nine, in the order of `PARAMETERS`.

    Returns:
        The loss and the gradients, in the same order.
    """
    watched = [parameter.detach().requires_grad_() for parameter in parameters]
    C, W1, b1, bngain, bnbias, W2, b2, W3, b3 = watched
    with torch.enable_grad():  # training runs without
        hidden = C[Xb].flatten(1) @ W1 + b1
        mean, variance = hidden.mean(0, keepdim=True), hidden.var(0, keepdim=True)
        first = torch.tanh(bngain * (hidden - mean) / (variance + 1e-5).sqrt() + bnbias)
        loss = F.cross_entropy(torch.tanh(first @ W3 + b3) @ W2 + b2, Yb)
    return loss.detach(), torch.autograd.grad(loss, watched)


def try_deep_backward(function: Part) -> str:
    """Ask for the gradients of a network whose layers all have different sizes."""
    g = torch.Generator().manual_seed(7)
    parameters = begin_run(N_HIDDEN, BLOCK_SIZE, seed=7).parameters._replace(
        W2=torch.randn((N_HIDDEN2, 27), generator=g)
    )
    W3 = torch.randn((N_HIDDEN, N_HIDDEN2), generator=g) / N_HIDDEN**0.5
    given = (*parameters, W3, 0.1 * torch.randn(N_HIDDEN2, generator=g))
    X = torch.randint(27, (WINDOWS, BLOCK_SIZE), generator=g)
    Y = torch.randint(27, (WINDOWS,), generator=g)
    due_loss, due = deep_backward(X, Y, *given)
    returned = function(X, Y, *(parameter.clone() for parameter in given))
    if returned is None:
        return "It returns nothing: `return loss, (dC, dW1, ...)`, nine gradients."
    if not isinstance(returned, tuple | list) or len(returned) != 2:
        return "It should return two things: the loss, and a tuple of nine gradients."
    loss, gradients = returned
    if not isinstance(loss, Tensor):
        return "It returns the loss as a number: return the tensor, without `.item()`."
    if not torch.allclose(loss, due_loss):
        return f"It returns {loss} first; this is not the loss, which is {due_loss:.4f}."
    if not isinstance(gradients, tuple | list) or len(gradients) != len(due):
        return f"The second thing that it returns is no tuple of {len(due)} gradients."
    return _first_wrong(
        dict(zip(PARAMETERS, gradients, strict=True)), dict(zip(PARAMETERS, due, strict=True))
    )


def _first_wrong(gradients: dict[str, object], due: dict[str, Tensor]) -> str:
    """A sentence about the first gradient, from the loss down, that is not autograd's, or ""."""
    largest = max(float(gradient.abs().max()) for gradient in due.values())

    def is_close(gradient: Tensor, wanted: Tensor) -> bool:
        allowed = max(TOLERANCE * float(wanted.abs().max()), NOISE * largest)
        # NaN is not close to anything.
        return gradient.shape == wanted.shape and float((gradient - wanted).abs().max()) <= allowed

    right = list[str]()
    for name in FROM_THE_LOSS:
        gradient, wanted = gradients[name], due[name]
        if not isinstance(gradient, Tensor):
            return f"d{name} is a {type(gradient).__name__}, not a tensor."
        if is_close(gradient, wanted):
            right.append(name)
            continue
        for other, its in due.items():
            if is_close(gradient, its):
                return f"In d{name}'s place stands d{other}: what is the order of the parameters?"
        if gradient.shape != wanted.shape:
            is_flat = is_close(gradient.flatten(), wanted.flatten())
            kept = " Is there a `keepdim=True`?" if is_flat else ""
            return (
                f"d{name} has the shape {tuple(gradient.shape)}, but {name} has"
                f" {tuple(wanted.shape)} here.{kept}"
            )
        before = f"{listed(f'd{each}' for each in right)} {_are(right)} right. " if right else ""
        return (
            f"{before}d{name} is the first that is not autograd's, from the loss down: mend it, or"
            " what it is made of, and run this again."
        )
    return ""


def _are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"
