"""What the mean loss is tried on."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.notebook.training.inference_trials import kind_of, small_network
from grader.notebook.training.known_mistakes import name_mistake
from grader.notebook.training.trial import Part, is_close
from makemore_data.model.inference import calibrate, logits_with, mean_loss
from makemore_data.model.parameters import Parameters
from makemore_data.training.train import BATCH

PRIME_WINDOWS = 3001
"""A prime: cut into pieces of one size, the last is shorter."""
PIECES = (16, 32, 64, 100, 128, 200, 250, 256, 500, 512, 1000, 1024, 1500, 2000, 2048, 3000)
"""Sizes of pieces that somebody might take."""


def try_mean_loss(function: Part) -> str:
    """Ask for the loss of 150 windows."""
    parameters, X, Y = small_network()
    # With the small weights of the beginning all losses are about ln 27.
    parameters = parameters._replace(W2=10 * parameters.W2)
    own = calibrate(parameters, X)
    statistics = own[0].abs() + 0.5, 2 * own[1]
    due = mean_loss(parameters, *statistics, X, Y)
    loss = function(parameters, *statistics, X, Y)
    if isinstance(loss, Tensor) and loss.numel() == 1 and is_close(loss.detach().view(()), due):
        return "It returns a tensor; `.item()` makes a number of it, without autograd's notes."
    if isinstance(loss, bool) or not isinstance(loss, int | float):
        return f"It returns {kind_of(loss)}; a number is due."
    if is_close(loss, mean_loss(parameters, *own, X, Y)):
        return (
            "It takes mean and variance of X itself, and not those that it is given:"
            " `logits_with(parameters, mean, variance, X)` uses them."
        )
    if is_close(loss, mean_loss(parameters, *statistics[::-1], X, Y)):
        return "It hands on mean and variance in the wrong order."
    logits = logits_with(parameters, *statistics, X)
    names = {"logits": logits, "Y": Y, "BATCH": BATCH}
    if said := name_mistake("mean_loss", names, lambda made: is_close(loss, made["loss"]), most=1):
        return said
    for sentence, value in _losses_of_pieces(logits, Y).items():
        if is_close(loss, value):
            return sentence
    if not is_close(loss, due):
        if not is_close(function(parameters, *statistics, X, Y), loss):
            return "It gives another loss every time: nothing is drawn, all of X and Y count."
        return f"It gives {loss:.4f} where the cross-entropy over all of X and Y is {due:.4f} nats."
    fewer = mean_loss(parameters, *statistics, X[:9], Y[:9])
    if not is_close(function(parameters, *statistics, X[:9], Y[:9]), fewer):
        return "On other data it gives a wrong loss: does it use X and Y as they are given?"
    return _trouble_with_many(function, parameters, statistics)


def _trouble_with_many(
    function: Part, parameters: Parameters, statistics: tuple[Tensor, Tensor]
) -> str:
    """Ask for the loss of so many windows that nobody takes more at once, if not all."""
    _, X, Y = small_network(PRIME_WINDOWS)
    loss = function(parameters, *statistics, X, Y)
    logits = logits_with(parameters, *statistics, X)
    # Means of pieces are nearer than `TOLERANCE`; a right loss, rounded to 4 places, is nearer yet.
    if math.isclose(loss, float(F.cross_entropy(logits, Y)), rel_tol=2e-5):
        return ""
    wrong = _losses_of_pieces(logits, Y)
    sentence = min(wrong, key=lambda sentence: abs(loss - float(wrong[sentence])))
    if math.isclose(loss, float(wrong[sentence]), rel_tol=2e-6):  # the rounding of float32
        return sentence
    return (
        f"Of {len(X):,} windows it gives {loss:.4f} where the cross-entropy is"
        f" {float(F.cross_entropy(logits, Y)):.4f} nats: does each window count, and count alike?"
    )


def _losses_of_pieces(logits: Tensor, Y: Tensor) -> dict[str, Tensor]:
    """The losses of the first windows alone, and of pieces that count alike, with the sentences."""
    sizes = [size for size in PIECES if size < len(Y)]
    each = F.cross_entropy(logits, Y, reduction="none")
    means = {
        size: torch.stack([piece.mean() for piece in torch.split(each, size)]) for size in sizes
    }
    alike = "Minibatches of {} count alike, and the last of them is shorter: take all at once."
    return {alike.format(size): means[size].mean() for size in sizes} | {
        f"Only the first {size} windows count.": means[size][0] for size in sizes
    }
