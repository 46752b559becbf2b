"""The network's parameters as they are before training."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

LECTURE_SEED = 2147483647
"""The seed of the lecture's generator."""


class Parameters(NamedTuple):
    """The parameters in the order in which the forward programs take them.

    Attributes:
        C: (vocab_size, n_embd)
        W1: (block_size * n_embd, n_hidden)
        b1: (n_hidden,)
        bngain: (1, n_hidden)
        bnbias: (1, n_hidden)
        W2: (n_hidden, vocab_size)
        b2: (vocab_size,)
    """

    C: Tensor
    W1: Tensor
    b1: Tensor
    bngain: Tensor
    bnbias: Tensor
    W2: Tensor
    b2: Tensor


def init_parameters(
    generator: torch.Generator | None = None,
    *,
    vocab_size: int = 27,
    n_embd: int = 10,
    n_hidden: int = 64,
    block_size: int = 3,
    requires_grad: bool = False,
) -> Parameters:
    """Draw the parameters with the scales and in the order of the lecture (exercise 1).

    `C, W1, b1, W2, b2` come from `generator`, which the caller goes on using: seeded with
    LECTURE_SEED, it then draws the lecture's own minibatches. None stands for a new generator with
    that seed. The lecture draws `bngain` and `bnbias` from the global generator, differently each
    time. Here they come from a second generator, whose seed follows from that of `generator`.

    4,137 parameters with 64 hidden units, 12,297 with 200. `b1` is useless: batch normalisation
    subtracts it again. It is there so that its gradient can be looked at.

    >>> g = torch.Generator().manual_seed(LECTURE_SEED)
    >>> C, W1, b1, bngain, bnbias, W2, b2 = init_parameters(g)
    >>> W1.shape
    torch.Size([30, 64])
    """
    if generator is None:
        generator = torch.Generator().manual_seed(LECTURE_SEED)
    # Another seed than the first generator's, or C would begin with the same numbers as bngain.
    batchnorm_generator = torch.Generator().manual_seed(generator.initial_seed() ^ 1)
    n_inputs = n_embd * block_size

    C = torch.randn((vocab_size, n_embd), generator=generator)
    # 5/3 is the gain that makes up for tanh's squeezing.
    W1 = torch.randn((n_inputs, n_hidden), generator=generator) * (5 / 3) / n_inputs**0.5
    # Small biases rather than zeros, which would hide mistakes in a gradient.
    b1 = torch.randn(n_hidden, generator=generator) * 0.1
    W2 = torch.randn((n_hidden, vocab_size), generator=generator) * 0.1
    b2 = torch.randn(vocab_size, generator=generator) * 0.1
    bngain = torch.randn((1, n_hidden), generator=batchnorm_generator) * 0.1 + 1.0
    bnbias = torch.randn((1, n_hidden), generator=batchnorm_generator) * 0.1

    parameters = Parameters(C, W1, b1, bngain, bnbias, W2, b2)
    for parameter in parameters:
        parameter.requires_grad_(requires_grad)
    return parameters
