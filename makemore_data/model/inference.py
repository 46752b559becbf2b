"""The trained network at work, with the batch's statistics replaced by fixed ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from makemore_data.model.parameters import LECTURE_SEED, Parameters


@torch.no_grad()
def calibrate(parameters: Parameters, X: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and variance of every hidden unit over a whole data set.

    Args:
        parameters: a trained network's.
        X: windows, int64 (N, block_size), N >= 2 for the variance.

    Returns:
        The mean and the variance (with Bessel's correction) of hprebn, float32 (1, n_hidden) each.

    Raises:
        IndexError: an index in X is not below vocab_size.
        RuntimeError: block_size is not that of the parameters.
    """
    C, W1, b1, *_ = parameters
    hprebn = C[X].view(X.shape[0], -1) @ W1 + b1
    return hprebn.mean(0, keepdim=True), hprebn.var(0, keepdim=True, unbiased=True)


@torch.no_grad()
def logits_with(parameters: Parameters, mean: Tensor, variance: Tensor, X: Tensor) -> Tensor:
    """The logits of windows, each on its own, whatever else is in the batch.

    Args:
        parameters: a trained network's.
        mean: of the hidden units, (1, n_hidden), as `calibrate` gives it.
        variance: likewise.
        X: windows, int64 (N, block_size).

    Returns:
        A row of scores for each window, float32 (N, vocab_size).

    Raises:
        IndexError: an index in X is not below vocab_size.
        RuntimeError: block_size is not that of the parameters.
    """
    C, W1, b1, bngain, bnbias, W2, b2 = parameters
    hprebn = C[X].view(X.shape[0], -1) @ W1 + b1
    bnraw = (hprebn - mean) * (variance + 1e-5) ** -0.5
    return torch.tanh(bngain * bnraw + bnbias) @ W2 + b2


def mean_loss(
    parameters: Parameters, mean: Tensor, variance: Tensor, X: Tensor, Y: Tensor
) -> float:
    """The cross-entropy over a data set, in nats a character.

    Args:
        parameters: a trained network's.
        mean: of the hidden units, (1, n_hidden), as `calibrate` gives it.
        variance: likewise.
        X: windows, int64 (N, block_size).
        Y: the characters that follow, int64 (N,).

    Raises:
        IndexError: an index in X or Y is not below vocab_size.
        RuntimeError: block_size is not that of the parameters.
    """
    return F.cross_entropy(logits_with(parameters, mean, variance, X), Y).item()


def sample_names(
    parameters: Parameters,
    mean: Tensor,
    variance: Tensor,
    itos: Mapping[int, str],
    block_size: int,
    count: int = 20,
    seed: int = LECTURE_SEED + 10,
) -> list[str]:
    """Names that the network makes up, one character after the other.

    Args:
        parameters: a trained network's.
        mean: of the hidden units, (1, n_hidden), as `calibrate` gives it.
        variance: likewise.
        itos: from an index to its character, as in `build_vocabulary()`; 0 ends a name.
        block_size: how many characters the network sees.
        count: how many names.
        seed: of the draws; the same seed gives the same names.

    Raises:
        RuntimeError: block_size is not that of the parameters.
    """
    g = torch.Generator().manual_seed(seed)

    def predict(window: Sequence[int]) -> Tensor:
        return logits_with(parameters, mean, variance, torch.tensor([window]))

    return [sample_name(predict, itos, block_size, g) for _ in range(count)]


def sample_name(
    predict: Callable[[Sequence[int]], Tensor],
    itos: Mapping[int, str],
    block_size: int,
    generator: torch.Generator,
) -> str:
    """One name, made up character after character until a dot is drawn.

    Args:
        predict: from a window, `block_size` indices, to the logits (1, vocab_size) of what follows.
        itos: from an index to its character; 0 ends a name.
        block_size: how many characters the network sees.
        generator: of the draws.
    """
    window, name = [0] * block_size, ""
    while True:
        probabilities = F.softmax(predict(window), dim=1)
        index = int(torch.multinomial(probabilities, 1, generator=generator))
        if index == 0:
            return name
        name += itos[index]
        window = [*window[1:], index]
