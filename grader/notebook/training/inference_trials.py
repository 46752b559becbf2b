"""The trials of calibration, logits, mean loss and the sampling of names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.notebook.training.trial import (
    BLOCK_SIZE,
    MOST_CALLS,
    N_HIDDEN,
    Endless,
    Fact,
    Misused,
    Part,
    Trial,
    kind_of,
    rule,
)
from makemore_data.model.inference import calibrate, logits_with, mean_loss, sample_name
from makemore_data.model.parameters import Parameters
from makemore_data.names.vocabulary import build_vocabulary
from makemore_data.training.train import begin_run

MANY_WINDOWS = 3001
"""More windows than a piece would take that takes only the first few. The number is a prime, so
that equal minibatches always leave a shorter one at the end."""


def small_network(windows: int) -> tuple[Parameters, Tensor, Tensor]:
    """Draw the parameters of a small network, windows, and the characters that follow them."""
    g = torch.Generator().manual_seed(5)
    parameters = begin_run(N_HIDDEN, BLOCK_SIZE, seed=5).parameters
    X = torch.randint(27, (windows, BLOCK_SIZE), generator=g)
    return parameters, X, torch.randint(27, (windows,), generator=g)


def _copies(given: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in given.items()}


def _unchanged(before: Mapping[str, Tensor], now: Mapping[str, Tensor]) -> Iterator[Fact]:
    for name, tensor in now.items():
        yield rule(
            torch.equal(tensor, before[name]),
            f"It changes the `{name}` that it is given, and every call changes it again.",
        )


def calibrate_facts(piece: Part) -> Iterator[Fact]:
    """Ask for the mean and the variance of many windows."""
    parameters, X, _ = small_network(MANY_WINDOWS)
    parameters.W1.mul_(0.05)  # with small variances it shows if 1e-5 is added
    given = {**parameters._asdict(), "X": X}
    before = _copies(given)
    returned = piece(parameters, X)
    yield from _unchanged(before, given)
    yield rule(
        isinstance(returned, tuple | list) and len(returned) == 2,
        f"It returns {kind_of(returned)}, but it should return two tensors, mean and variance.",
    )
    yield Fact(dict(zip(("the mean", "the variance"), returned, strict=True)))


def logits_facts(piece: Part) -> Iterator[Fact]:
    """Ask for the logits of ten windows."""
    parameters, X, _ = small_network(10)
    g = torch.Generator().manual_seed(6)
    parameters.bngain[0, 0] = 0.002  # with the variance below it shows if 1e-5 is missing
    mean = torch.randn((1, N_HIDDEN), generator=g)
    variance = torch.rand((1, N_HIDDEN), generator=g) + 1e-4
    variance[0, 0] = 1e-6
    given = {**parameters._asdict(), "mean": mean, "variance": variance, "X": X}
    before = _copies(given)
    logits = piece(parameters, mean, variance, X)
    yield from _unchanged(before, given)
    yield Fact({"the tensor of logits": logits})
    watched = Parameters(*(parameter.requires_grad_() for parameter in parameters))
    yield rule(
        not piece(watched, mean, variance, X).requires_grad,
        "The numbers are right, but if a parameter asks for its gradient, autograd takes notes."
        " Put the lines under `with torch.no_grad():`.",
    )


def mean_loss_facts(piece: Part) -> Iterator[Fact]:
    """Ask for the loss of 150 windows, of 9, and of very many."""
    parameters, *_ = small_network(1)
    # With the small weights of a new network all losses would be about ln 27.
    parameters = parameters._replace(W2=10 * parameters.W2)
    for windows in (150, 9, MANY_WINDOWS):
        _, X, Y = small_network(windows)
        mean, variance = calibrate(parameters, X)
        given = parameters, mean.abs() + 0.5, 2 * variance
        # When the windows are sorted by their losses, no part of them has the mean of all.
        order = F.cross_entropy(logits_with(*given, X), Y, reduction="none").argsort()
        loss = piece(*given, X[order], Y[order])
        hint = " `.item()` turns it into one." if isinstance(loss, Tensor) else ""
        yield rule(
            isinstance(loss, int | float) and not isinstance(loss, bool),
            f"It returns {kind_of(loss)}, but it should return a plain number.{hint}",
        )
        yield Fact({f"the loss of {windows:,} windows": loss})


LONG_NAME = 60
"""Characters of a name that is longer than any `for _ in range(...)` is likely to make."""
SURE = 60.0
"""A logit so large that its character is certain, and so small that its exponential is finite."""


def sample_name_facts(piece: Part) -> Iterator[Fact]:
    """Ask for names whose characters are certain, then for 200 names that are drawn."""
    _, itos = build_vocabulary()
    for script, size in (
        ([5, 13, 1, 12, 25], BLOCK_SIZE),
        ([5, 13, 1, 12, 25], BLOCK_SIZE + 1),
        ([], BLOCK_SIZE),
        ([1] * LONG_NAME, BLOCK_SIZE),
    ):
        windows: list[list[int]] = []
        name = piece(_predict_in_turn(script, windows), itos, size, _generator(2))
        yield from _window_facts(windows, script, size)
        drawn = "".join(itos[index] for index in [*script, 0])
        yield Fact({f"the name, when {drawn} is drawn,": name})

    def predict(window: Any) -> Tensor:
        """Let a name be "a" with probability 0.8 and "b" with probability 0.2."""
        if _indices(window)[-1]:
            return _certain(0)
        logits = torch.full((1, 27), -30.0)
        logits[0, [1, 2]] = torch.tensor([0.8, 0.2]).log() - 2  # logits may be negative
        return logits

    names, again = (
        [piece(predict, itos, BLOCK_SIZE, g) for _ in range(200)]
        for g in (_generator(1), _generator(1))
    )
    yield rule(
        len(set(names)) > 1,
        "It makes the same name every time. Draw each character with its probability, not"
        " always the likeliest one, and draw with `g` as it is given: a generator that is made or"
        " seeded inside the function starts again at every call.",
    )
    yield rule(
        names == again,
        "With the same seed in `g`, other names come out: pass `generator=g`.",
    )
    yield rule(
        0.68 < names.count("a") / len(names) < 0.92,
        "The characters are not drawn with the right probabilities. The right ones are the softmax"
        " of `predict`'s logits along axis 1.",
    )


def _window_facts(
    windows: Sequence[Sequence[int]], script: Sequence[int], size: int
) -> Iterator[Fact]:
    """Compare the windows that a piece gave to `predict` with the right ones."""
    padded = [0] * size + [*script]
    due = [padded[k : k + size] for k in range(len(script) + 1)]
    pairs = enumerate(zip(windows, due, strict=False))
    wrong = next((number for number, (window, right) in pairs if window != right), None)
    if wrong is None:
        sentence = (
            f"It asks `predict` for {len(windows)} character{'s' * (len(windows) != 1)}, but it"
            f" should ask for {len(due)}: {len(script)} letters and then the dot are drawn here,"
            " and nothing but the dot ends a name."
        )
    else:
        after = f", because only character {due[wrong][-1]} could be drawn" if wrong else ""
        sentence = (
            f"Call {wrong + 1} of `predict` gets the window {windows[wrong]}, but it should get"
            f" {due[wrong]}{after}. (`block_size` is {size} here.)"
        )
    yield Fact({"the windows": [*windows]}, sentence)


def _predict_in_turn(script: Sequence[int], windows: list[list[int]]) -> Part:
    """Make a `predict` that allows one character at each call and records the windows."""

    def predict(window: Any) -> Tensor:
        windows.append(_indices(window))
        if len(windows) > MOST_CALLS:
            raise Endless
        number = len(windows) - 1
        return _certain(script[number] if number < len(script) else 0)

    predict.__qualname__ = "predict"  # so that an exception says the student's name of it
    return predict


def _indices(window: Any) -> list[int]:
    try:
        indices: list[int] = torch.as_tensor(window).flatten().tolist()
    except (TypeError, ValueError, RuntimeError):
        raise Misused(
            f"`predict` wants the window as a list of indices, but it is given {window!r}."
        ) from None
    return indices


def _certain(index: int) -> Tensor:
    return SURE * F.one_hot(torch.tensor([index]), 27).float()


def _generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


INFERENCE_TRIALS = {
    "calibrate": Trial(calibrate, calibrate_facts),
    "logits": Trial(logits_with, logits_facts),
    "mean_loss": Trial(mean_loss, mean_loss_facts),
    "sample_name": Trial(sample_name, sample_name_facts),
}
