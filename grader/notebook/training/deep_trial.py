"""What the backward pass with a second hidden layer, at notebook 4's end, is tried on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.notebook.training.trial import (
    BLOCK_SIZE,
    MISTAKES,
    N_HIDDEN,
    Part,
    is_close,
    name_mistake,
)
from grader.printable import listed
from makemore_data.model.parameters import Parameters
from makemore_data.training.train import begin_run

PARAMETERS = (*Parameters._fields, "W3", "b3")
FROM_THE_LOSS = {
    "dlogits": ("W2", "b2"),
    "dhpreact2": ("W3", "b3"),
    "dhpreact": ("bngain", "bnbias"),
    "dhprebn": ("W1", "b1", "C"),
}
"""The order in which a backward pass comes to them: together where one gradient arrives at all."""
N_HIDDEN2, WINDOWS = 5, 9
NOISE = 1e-6
"""Of the largest gradient: how far one that is zero but for rounding may be off."""

RUN_FORWARD = compile(MISTAKES["deep_backward"]["lines"], "<forward>", "exec")


def deep_backward(Xb: Tensor, Yb: Tensor, *parameters: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Autograd's gradients of the network with two hidden layers.

    Args:
        Xb: windows, int64 (n, block_size).
        Yb: the characters that follow, int64 (n,).
        parameters: the nine, in the order of `PARAMETERS`.

    Returns:
        The loss and the gradients, in the same order.
    """
    names = _watched(Xb, Yb, parameters)
    with torch.enable_grad():  # training runs without
        exec(RUN_FORWARD, names)
    return names["loss"].detach(), _gradients(names)


def _watched(Xb: Tensor, Yb: Tensor, parameters: Sequence[Tensor]) -> dict[str, Any]:
    watched = (parameter.detach().requires_grad_() for parameter in parameters)
    return {"F": F, "Xb": Xb, "Yb": Yb, **dict(zip(PARAMETERS, watched, strict=True))}


def _gradients(names: Mapping[str, Any]) -> tuple[Tensor, ...]:
    return torch.autograd.grad(names["loss"], [names[name] for name in PARAMETERS])


def but_back(value: Tensor, like: Tensor) -> Tensor:
    """A value whose gradient goes back as if it was another."""
    return value.detach() + like - like.detach()


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
    if not isinstance(gradients, tuple | list):
        return f"The second thing that it returns is no tuple of {len(due)} gradients."
    if len(gradients) != len(due):
        return (
            f"It returns {len(gradients)} gradients, and there are {len(due)} parameters:"
            f" {listed(f'd{name}' for name in PARAMETERS)}, in this order."
        )
    is_right = _agreeing(gradients, due)
    if all(is_right.values()):
        return ""
    # Those below the first wrong layer may have mistakes of their own.
    seen = list[str]()
    for layer in FROM_THE_LOSS.values():
        seen += layer
        if not all(is_right[name] for name in layer):
            break

    def is_it(made: Mapping[str, Any]) -> bool:
        is_same = _agreeing(gradients, _gradients(made))
        return all(is_same[name] for name in seen)

    watched = {**_watched(X, Y, given), "but_back": but_back}
    with torch.enable_grad():
        said = name_mistake("deep_backward", watched, is_it, most=1)
    by_name = (dict(zip(PARAMETERS, each, strict=True)) for each in (gradients, due))
    return said or _first_wrong(seen, is_right, *by_name)


def _agreeing(gradients: Sequence[object], due: Sequence[Tensor]) -> dict[str, bool]:
    """Which parameters' gradients are those beside them."""
    noise = NOISE * max(float(gradient.abs().max()) for gradient in due)
    pairs = zip(gradients, due, strict=True)
    return {
        name: is_close(gradient, its, noise)
        for name, (gradient, its) in zip(PARAMETERS, pairs, strict=True)
    }


def _first_wrong(
    seen: Sequence[str],
    is_right: Mapping[str, bool],
    gradients: Mapping[str, object],
    due: Mapping[str, Tensor],
) -> str:
    """A sentence about the first gradient, from the loss down, that is not autograd's."""
    right = [name for name in seen if is_right[name]]
    wrong = [name for name in seen if not is_right[name]]
    name = wrong[0]
    gradient, wanted = gradients[name], due[name]
    if not isinstance(gradient, Tensor):
        return f"d{name} is a {type(gradient).__name__}, not a tensor."
    for other, its in due.items():
        if is_close(gradient, its):
            return (
                f"What it returns for d{name} is d{other}: are two lines mixed up, or the order of"
                " the gradients?"
            )
    if gradient.shape != wanted.shape:
        is_flat = is_close(gradient.flatten(), wanted.flatten())
        why = " Is there a `keepdim=True`?" if is_flat else ""
        if name == "W2" and gradient.shape == (N_HIDDEN, 27):
            why = " `W2` reads `h2`, not `h`."
        if name == "W3" and gradient.shape == (N_HIDDEN2, N_HIDDEN2):
            why = " `W3` reads `h`, not `h2`."
        return (
            f"d{name} has the shape {tuple(gradient.shape)}, but {name} has"
            f" {tuple(wanted.shape)} here.{why}"
        )
    are = "is" if len(right) == 1 else "are"
    before = f"{listed(f'd{each}' for each in right)} {are} right. " if right else ""
    if len(wrong) > 1:
        arrives = next(each for each, layer in FROM_THE_LOSS.items() if name in layer)
        return (
            f"{before}{listed(f'd{each}' for each in wrong)} are the first that are not autograd's,"
            f" from the loss down: look first at `{arrives}`, which they are made of."
        )
    return (
        f"{before}d{name} is the first that is not autograd's, from the loss down: mend it, or"
        " what it is made of, and run this again."
    )
