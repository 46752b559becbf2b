"""What calibration, logits and the mean loss are tried on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.notebook.training.trial import (
    BLOCK_SIZE,
    N_HIDDEN,
    TOLERANCE,
    WINDOWS,
    Part,
    is_close,
    name_mistake,
)
from makemore_data.model.inference import calibrate, logits_with, mean_loss
from makemore_data.model.parameters import Parameters
from makemore_data.training.train import BATCH, begin_run

MANY_WINDOWS = 3000
"""More than anybody would take for all, who takes the first of them."""


def small_network(windows: int = WINDOWS) -> tuple[Parameters, Tensor, Tensor]:
    """Parameters of a small network, with windows and the characters that follow, at random."""
    g = torch.Generator().manual_seed(5)
    parameters = begin_run(N_HIDDEN, BLOCK_SIZE, seed=5).parameters
    X = torch.randint(27, (windows, BLOCK_SIZE), generator=g)
    return parameters, X, torch.randint(27, (windows,), generator=g)


def _call(
    function: Part, parameters: Parameters, X: Tensor, **statistics: Tensor
) -> tuple[Any, str]:
    """What a function returns, and what is said of it if it changes what it is given."""
    given = {**parameters._asdict(), **statistics}
    before = {name: tensor.clone() for name, tensor in given.items()}
    returned = function(parameters, *statistics.values(), X)
    for name, tensor in given.items():
        if not torch.equal(tensor, before[name]):
            said = f"It changes the `{name}` that it is given, and every call changes it again."
            return returned, said
    return returned, ""


def try_calibration(function: Part) -> str:
    """Ask for mean and variance of many windows, twice, in another order."""
    parameters, X, _ = small_network(MANY_WINDOWS)
    parameters.W1.mul_(0.05)  # small variances: it shows if a small number is added
    returned, trouble = _call(function, parameters, X)
    if trouble:
        return trouble
    if not isinstance(returned, tuple | list) or len(returned) != 2:
        return "It should return two tensors, mean and variance."
    for name, found in zip(("mean", "variance"), returned, strict=True):
        if (shape := tuple(getattr(found, "shape", ()))) != (1, N_HIDDEN):
            return f"The {name} has the shape {shape}; (1, {N_HIDDEN}) is due, a column a unit."
    mean, variance = calibrate(parameters, X)

    def is_it(names: Mapping[str, Any]) -> bool:
        return all(map(is_close, returned, names["result"]))

    names = {**parameters._asdict(), "X": X}
    if said := name_mistake("calibrate", names, is_it):
        return said
    for name, found in zip(("mean", "variance"), returned, strict=True):
        if bool(found.isnan().any()):
            return f"There is NaN in the {name}: is it that of one row, and not of all of X?"
    again = function(parameters, X.flip(0))
    pairs = zip(again, returned, (mean, variance), strict=True)
    # Rounding, of what is returned or of what is due: all of it may be nothing but rounding.
    if not all(
        is_close(other, found) or is_close(due + other - found, due) for other, found, due in pairs
    ):
        return (
            "With the rows of X in another order it gives other numbers: it uses some of them, or"
            " batches of them, or mixes them; mean and variance are those of all rows at once."
        )
    if bool((returned[1].abs() < TOLERANCE * variance).all()):
        return "The variance is zero: square the differences first, then add them up."
    for name, found, due in zip(("mean", "variance"), returned, (mean, variance), strict=True):
        if is_close(found, due):
            continue
        times = float((found / due).mean())
        if times and is_close(found, times * due):
            divisor = MANY_WINDOWS - (name == "variance")
            return (
                f"The {name} is {times:.6g} times what is due, as if its sum were divided by"
                f" {divisor / times:.6g} and not by {divisor}: X has {MANY_WINDOWS} rows here."
            )
        return (
            f"The {name} is not that of `hprebn` over all of X: {float(found[0, 0]):.4f} for the"
            f" first unit, where {float(due[0, 0]):.4f} is due."
        )
    return ""


def try_logits(function: Part) -> str:
    """Ask for the logits of ten windows, then of the first alone."""
    parameters, X, _ = small_network()
    X, g = X[:10], torch.Generator().manual_seed(6)
    parameters.bngain[0, 0] = 0.002  # with the variance below: so that it shows if eps is missing
    mean = torch.randn((1, N_HIDDEN), generator=g)
    variance = torch.rand((1, N_HIDDEN), generator=g) + 1e-4
    variance[0, 0] = 1e-6
    due = logits_with(parameters, mean, variance, X)
    logits, trouble = _call(function, parameters, X, mean=mean, variance=variance)
    if trouble:
        return trouble
    if not isinstance(logits, Tensor):
        return f"It returns {kind_of(logits)}; a tensor of the shape {tuple(due.shape)} is due."
    if logits.shape != due.shape:
        return f"They have the shape {tuple(logits.shape)}; {tuple(due.shape)} is due."
    if not is_close(logits, due):
        if bool(logits.isnan().any()):
            return "There is NaN in them: is it the variance, and 1e-5, whose root is taken?"
        names = {**parameters._asdict(), "mean": mean, "variance": variance, "X": X}
        said = name_mistake("logits", names, lambda made: is_close(logits, made["result"]))
        if said:
            return said
        alone = function(parameters, mean, variance, X[:1])
        if not is_close(alone, logits[:1]):
            return (
                "The same window has other logits in another batch: each window goes its own way,"
                " with the mean and the variance that are given."
            )
        return (
            "These are not the logits of the forward pass with this mean and this variance: the"
            f" first is {float(logits[0, 0]):.4f}, where {float(due[0, 0]):.4f} is due."
        )
    watched = Parameters(*(parameter.requires_grad_() for parameter in parameters))
    if function(watched, mean, variance, X).requires_grad:
        return (
            "The numbers are right, but where a parameter asks for its gradient, autograd takes"
            " notes: put the lines under `with torch.no_grad():`."
        )
    return ""


def kind_of(value: object) -> str:
    """What a function has returned, with its article."""
    if isinstance(value, Tensor):
        return f"a tensor of the shape {tuple(value.shape)}"
    return "nothing" if value is None else f"a {type(value).__name__}"


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
