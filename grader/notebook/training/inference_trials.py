"""What the parts that use a trained network are tried on, and the mistakes known by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.notebook.training.loop_trials import (
    BLOCK_SIZE,
    MOST_CALLS,
    N_HIDDEN,
    WINDOWS,
    Endless,
    Part,
    is_close,
)
from grader.printable import listed
from makemore_data.model.inference import calibrate, logits_with, mean_loss
from makemore_data.model.parameters import Parameters
from makemore_data.names.vocabulary import build_vocabulary
from makemore_data.training.train import begin_run

NOT_AS_OFTEN = "Characters do not come as often as the softmax of the logits says."


def _network() -> tuple[Parameters, Tensor, Tensor]:
    g = torch.Generator().manual_seed(5)
    parameters = begin_run(N_HIDDEN, BLOCK_SIZE, seed=5).parameters
    X = torch.randint(27, (WINDOWS, BLOCK_SIZE), generator=g)
    return parameters, X, torch.randint(27, (WINDOWS,), generator=g)


def try_calibration(function: Part) -> str:
    """Ask for mean and variance of 150 windows, twice, in another order."""
    parameters, X, _ = _network()
    returned = function(parameters, X)
    if not isinstance(returned, tuple | list) or len(returned) != 2:
        return "It should return two tensors, mean and variance."
    for name, found in zip(("mean", "variance"), returned, strict=True):
        if (shape := tuple(getattr(found, "shape", ()))) != (1, N_HIDDEN):
            return f"The {name} has the shape {shape}; (1, {N_HIDDEN}) is due, a column a unit."
    again = function(parameters, X.flip(0))
    if not all(map(is_close, again, returned)):
        return (
            "With the rows of X in another order it gives other numbers: it uses some of them, or"
            " batches of them; mean and variance are those of all rows at once."
        )
    mean, variance = calibrate(parameters, X)
    C, W1, b1, *_ = parameters
    hprebn = C[X].view(WINDOWS, -1) @ W1 + b1
    for sentence, place, value in (
        ("Mean and variance come in the wrong order.", 0, variance),
        ("The mean is that without `b1`.", 0, mean - b1),
        (
            "The variance is divided by n, and in training by n - 1.",
            1,
            hprebn.var(0, keepdim=True, unbiased=False),
        ),
        ("This is the standard deviation; its square is the variance.", 1, variance.sqrt()),
    ):
        if is_close(returned[place], value):
            return sentence
    for name, found, due in zip(("mean", "variance"), returned, (mean, variance), strict=True):
        if not is_close(found, due):
            return f"The {name} is not that of `hprebn` over all of X."
    return ""


def _logits(
    parameters: Parameters,
    mean: Tensor,
    variance: Tensor,
    X: Tensor,
    *,
    eps: float = 1e-5,
    power: float = -0.5,
    activation: Callable[[Tensor], Tensor] = torch.tanh,
    last: Callable[[Tensor], Tensor] = lambda logits: logits,
) -> Tensor:
    """The forward pass, right or with one mistake in it."""
    C, W1, b1, bngain, bnbias, W2, b2 = parameters
    hprebn = C[X].view(X.shape[0], -1) @ W1 + b1
    bnraw = (hprebn - mean) * (variance + eps) ** power
    return last(activation(bngain * bnraw + bnbias) @ W2 + b2)


def try_logits(function: Part) -> str:
    """Ask for the logits of ten windows, then of the first alone."""
    parameters, X, _ = _network()
    X, g = X[:10], torch.Generator().manual_seed(6)
    parameters.bngain[0, 0] = 0.002  # with the variance below: so that it shows if eps is missing
    mean = torch.randn((1, N_HIDDEN), generator=g)
    variance = torch.rand((1, N_HIDDEN), generator=g) + 1e-4
    variance[0, 0] = 1e-6
    due = logits_with(parameters, mean, variance, X)
    logits = function(parameters, mean, variance, X)
    if not isinstance(logits, Tensor):
        return f"It returns {_kind(logits)}; a tensor of the shape {tuple(due.shape)} is due."
    if not is_close(logits, due):
        alone = function(parameters, mean, variance, X[:1])
        if not is_close(alone, logits[:1]):
            return (
                "The same window has other logits in another batch: the mean or the variance is the"
                " batch's own, and not what it is given."
            )
        wrong: Mapping[str, Tensor] = {
            "There is no 1e-5 beside the variance.": _logits(parameters, mean, variance, X, eps=0),
            "It divides by the variance and not by its root.": _logits(
                parameters, mean, variance, X, power=-1
            ),
            "It multiplies by the root of the variance.": _logits(
                parameters, mean, variance, X, power=0.5
            ),
            "There is no tanh in it.": _logits(
                parameters, mean, variance, X, activation=lambda x: x
            ),
            "These are probabilities; the logits are what goes into the softmax.": _logits(
                parameters, mean, variance, X, last=partial(F.softmax, dim=1)
            ),
        }
        for sentence, value in wrong.items():
            if is_close(logits, value):
                return sentence
        if logits.shape != due.shape:
            return f"They have the shape {tuple(logits.shape)}; {tuple(due.shape)} is due."
        return "These are not the logits of the forward pass with this mean and this variance."
    watched = Parameters(*(parameter.requires_grad_() for parameter in parameters))
    if function(watched, mean, variance, X).requires_grad:
        return (
            "The numbers are right, but where a parameter asks for its gradient, autograd takes"
            " notes: put the lines under `with torch.no_grad():`."
        )
    return ""


def try_mean_loss(function: Part) -> str:
    """Ask for the loss of 150 windows."""
    parameters, X, Y = _network()
    statistics = calibrate(parameters, X)
    due = mean_loss(parameters, *statistics, X, Y)
    loss = function(parameters, *statistics, X, Y)
    if isinstance(loss, Tensor) and loss.numel() == 1 and is_close(loss.detach().view(()), due):
        return "It returns a tensor; `.item()` makes a number of it, without autograd's notes."
    if isinstance(loss, bool) or not isinstance(loss, int | float):
        return f"It returns {_kind(loss)}; a number is due."
    for sentence, value in {
        "This is the sum over all windows, not the mean.": due * WINDOWS,
        "The sign is wrong: the loss is the mean of -ln p.": -due,
        "This is in bits; the logarithm to the base of e gives nats.": due / math.log(2),
    }.items():
        if is_close(loss, value):
            return sentence
    if not is_close(loss, due):
        return f"It gives {loss:.4f} where the cross-entropy over all of X and Y is {due:.4f} nats."
    fewer = mean_loss(parameters, *statistics, X[:9], Y[:9])
    if not is_close(function(parameters, *statistics, X[:9], Y[:9]), fewer):
        return "On other data it gives a wrong loss: does it use X and Y as they are given?"
    return ""


def try_sample_name(function: Part) -> str:
    """Have names made of predictions that are known: first a certain one, then chances."""
    _, itos = build_vocabulary()
    script = [5, 13, 1, 12, 25]
    windows: list[list[int]] = []

    def certain(window: Any) -> Tensor:
        windows.append(torch.as_tensor(window).flatten().tolist())
        if len(windows) > MOST_CALLS:
            raise Endless("The name never ends: index 0, the dot, ends it.")
        number = len(windows) - 1
        return 90 * F.one_hot(torch.tensor([script[number] if number < 5 else 0]), 27).float()

    name = function(certain, itos, BLOCK_SIZE, torch.Generator().manual_seed(2))
    if trouble := _trouble_with_windows(windows, [0, 0, 0, *script]):
        return trouble
    due = "".join(itos[index] for index in script)
    if name == f"{due}.":
        return "The dot ends the name; it is no part of it."
    if name != due:
        return f"The characters {listed(due)} were drawn, and it returns {name!r}, not {due!r}."

    chances = torch.full((1, 27), -30.0)
    chances[0, [1, 2]] = torch.tensor([0.8, 0.2]).log() - 2  # logits may be negative
    end = 90 * F.one_hot(torch.tensor([0]), 27).float()

    def chance(window: Any) -> Tensor:
        return end if torch.as_tensor(window).flatten()[-1] else chances

    def drawn(seed: int) -> list[str]:
        g = torch.Generator().manual_seed(seed)
        return [function(chance, itos, BLOCK_SIZE, g) for _ in range(200)]

    names = drawn(1)
    if len(set(names)) == 1:
        return "It always takes the likeliest character: draw one, each as often as is probable."
    if names != drawn(1):
        return "The same seed gives other names: draw with the generator it is given."
    if not 0.68 < names.count("a") / len(names) < 0.92:
        return NOT_AS_OFTEN
    return ""


def _trouble_with_windows(windows: Sequence[Sequence[int]], indices: Sequence[int]) -> str:
    """Compare the windows that predictions were asked for with those of a name's characters."""
    due = [list(indices[k : k + BLOCK_SIZE]) for k in range(len(indices) - BLOCK_SIZE + 1)]
    if not windows:
        return "It asks `predict` for nothing."
    if windows[0] != due[0]:
        return f"It begins with the window {windows[0]}; a name begins after {due[0]}."
    if windows == due:
        return ""
    if len(windows) == 1:
        return "It stops after one character."
    if windows[1] == due[0]:
        return "The window stays as it is: shift each new character into it."
    second, new = windows[1], indices[BLOCK_SIZE]
    if len(second) != BLOCK_SIZE:
        return (
            f"The window has {len(second)} characters after the first step, and not {BLOCK_SIZE}."
        )
    if second[0] == new:
        return "A new character comes in on the left; the newest is the last of the window."
    if second[-1] != new:
        return NOT_AS_OFTEN
    for window, right in zip(windows, due, strict=False):
        if window != right:
            return f"After the window {due[due.index(right) - 1]} comes {window}, and not {right}."
    return f"It asks {len(windows)} times where {len(due)} characters, with the dot, were drawn."


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
