"""What the mean loss is tried on, with the wrong losses that are known by name."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.notebook.training.inference_trials import kind_of, small_network
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
    for sentence, value in _wrong_losses(logits_with(parameters, *statistics, X), Y).items():
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


def _piece_losses(logits: Tensor, Y: Tensor, size: int) -> Tensor:
    """The mean loss of each piece of so many windows; the last piece may be shorter."""
    pieces = zip(torch.split(logits, size), torch.split(Y, size), strict=True)
    return torch.stack([F.cross_entropy(*some) for some in pieces])


def _losses_of_pieces(logits: Tensor, Y: Tensor) -> dict[str, Tensor]:
    """The losses of the first windows alone, and of pieces that count alike, with the sentences."""
    sizes = [size for size in PIECES if size < len(Y)]
    alike = "Minibatches of {} count alike, and the last of them is shorter: take all at once."
    return {alike.format(size): _piece_losses(logits, Y, size).mean() for size in sizes} | {
        f"Only the first {size} windows count.": F.cross_entropy(logits[:size], Y[:size])
        for size in sizes
    }


def _wrong_losses(logits: Tensor, Y: Tensor) -> Mapping[str, float]:
    """The losses that are known by name, each with its sentence."""
    rows, due, probs = torch.arange(len(Y)), float(F.cross_entropy(logits, Y)), logits.softmax(1)
    at_labels = probs[rows, Y]
    values: dict[str, float | Tensor] = {
        "This is the sum over all windows, not the mean.": due * len(Y),
        "It divides by the number of windows twice: `F.cross_entropy` gives their mean.": (
            due / len(Y)
        ),
        "It adds up means of minibatches, and divides by the number of windows.": (
            _piece_losses(logits, Y, BATCH).sum() / len(Y)
        ),
        **_losses_of_pieces(logits, Y),
        "The sign is wrong: the loss is the mean of -ln p.": -due,
        "This is in bits; the logarithm to the base of e gives nats.": due / math.log(2),
        "This is the median over the windows; the mean is due.": -at_labels.log().median(),
        "This is the entropy of the predictions, in which `Y` has no part.": (
            -(probs * probs.log()).sum(1).mean()
        ),
        "The softmax runs over all numbers at once; it belongs along the characters, axis 1.": (
            due + (logits.logsumexp((0, 1)) - logits.logsumexp(1)).mean()
        ),
        "The logarithm is to the base of 10; that to the base of e gives nats.": due / math.log(10),
        "This is how often the likeliest character is right; the loss is due.": (
            (logits.argmax(1) == Y).float().mean()
        ),
        "This is how often the likeliest character is wrong; the loss is due.": (
            (logits.argmax(1) != Y).float().mean()
        ),
        "This is e to the power of the loss; the loss itself is due.": math.exp(due),
        "This is the logarithm of the mean; the mean of the logarithms is due.": (
            -at_labels.mean().log()
        ),
        "There is no logarithm in it: this is the mean of -p.": -at_labels.mean(),
        "There is no logarithm in it: this is the mean of p.": at_labels.mean(),
        "There is no softmax in it: these are logits, not ln p.": -logits[rows, Y].mean(),
        "The softmax runs over the windows; it belongs along the characters, axis 1.": (
            -logits.softmax(0)[rows, Y].log().mean()
        ),
        "This is the mean over all characters, not over those of Y.": -probs.log().mean(),
        "`[:, Y]` takes whole columns; each row has one right character.": (
            -probs[:, Y].log().mean()
        ),
        "The softmax is taken twice: `F.cross_entropy` takes logits.": F.cross_entropy(probs, Y),
    }
    return {sentence: float(value) for sentence, value in values.items()}
