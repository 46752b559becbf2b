"""The forward programs that exercises differentiate, one step a line."""

from typing import Annotated

import torch
import torch.nn.functional as F
from torch import Tensor


def atomic(
    Xb: Annotated[Tensor, "n, block_size < vocab_size"],  # int64 indices below vocab_size
    Yb: Annotated[Tensor, "n < vocab_size"],
    C: Annotated[Tensor, "vocab_size, n_embd"],
    W1: Annotated[Tensor, "block_size * n_embd, n_hidden"],
    b1: Annotated[Tensor, "n_hidden"],
    bngain: Annotated[Tensor, "1, n_hidden"],
    bnbias: Annotated[Tensor, "1, n_hidden"],
    W2: Annotated[Tensor, "n_hidden, vocab_size"],
    b2: Annotated[Tensor, "vocab_size"],
) -> Tensor:
    """The network's loss, one small operation a line: the forward pass of the lecture's exercise 1.

    An embedding, a linear layer, batch normalisation in training mode (Bessel's correction,
    epsilon 1e-5), tanh, a linear layer, and the cross-entropy of its softmax.

    The text of this function is read by the grader and shown in the notebook: each line
    `name = expression` is a step, and each name a tensor with a gradient. The annotations give the
    inputs' shapes; `< vocab_size` marks int64 indices below that size, everything else is floating
    point.

    Args:
        Xb: the minibatch's contexts, int64 (n, block_size), with n >= 2 for the variance.
        Yb: the characters that follow them, int64 (n,).
        C: the embedding table.
        W1: weights of the first linear layer.
        b1: its bias.
        bngain: batch normalisation's gain.
        bnbias: batch normalisation's bias.
        W2: weights of the second linear layer.
        b2: its bias.

    Returns:
        The mean negative log-likelihood of Yb in nats, a scalar.
    """
    n = Xb.shape[0]
    # embedding and linear layer 1
    emb = C[Xb]
    embcat = emb.view(n, -1)
    hprebn = embcat @ W1 + b1
    # batch normalisation
    bnmeani = 1 / n * hprebn.sum(0, keepdim=True)
    bndiff = hprebn - bnmeani
    bndiff2 = bndiff**2
    bnvar = 1 / (n - 1) * bndiff2.sum(0, keepdim=True)
    bnvar_inv = (bnvar + 1e-5) ** -0.5
    bnraw = bndiff * bnvar_inv
    hpreact = bngain * bnraw + bnbias
    # non-linearity and linear layer 2
    h = torch.tanh(hpreact)
    logits = h @ W2 + b2
    # cross-entropy, one small operation a line
    logit_maxes = logits.max(1, keepdim=True).values
    norm_logits = logits - logit_maxes
    counts = norm_logits.exp()
    counts_sum = counts.sum(1, keepdim=True)
    counts_sum_inv = counts_sum**-1
    probs = counts * counts_sum_inv
    logprobs = probs.log()
    loss = -logprobs[range(n), Yb].mean()
    return loss


def fused_cross_entropy(
    logits: Annotated[Tensor, "n, vocab_size"],
    Yb: Annotated[Tensor, "n < vocab_size"],
) -> Tensor:
    """The cross-entropy of the softmax as one step: the forward pass of the lecture's exercise 2.

    Args:
        logits: a row of scores for each example.
        Yb: the right characters, int64 (n,).

    Returns:
        The mean negative log-likelihood of Yb in nats, a scalar.
    """
    loss = F.cross_entropy(logits, Yb)
    return loss


def smoothed_cross_entropy(
    z: Annotated[Tensor, "n, vocab_size"],
    Yb: Annotated[Tensor, "n < vocab_size"],
) -> Tensor:
    """The cross-entropy with targets that leave a share of their certainty to all characters.

    Label smoothing, section 7 of Szegedy et al., "Rethinking the Inception architecture" (2015).
    The share is a tenth for the lecture's batch, and another in each hidden one: an answer has to
    read it.

    Args:
        z: the logits, a row of scores for each example.
        Yb: the right characters, int64 (n,).

    Returns:
        The mean cross-entropy between the smoothed targets and the softmax of z in nats, a scalar.
    """
    n = z.shape[0]
    smoothing = 3.2 / n
    loss = F.cross_entropy(z, Yb, label_smoothing=smoothing)
    return loss


def batchnorm(
    hprebn: Annotated[Tensor, "n, n_hidden"],
    bngain: Annotated[Tensor, "1, n_hidden"],
    bnbias: Annotated[Tensor, "1, n_hidden"],
    dhpreact: Annotated[Tensor, "n, n_hidden"],
) -> Tensor:
    """Batch normalisation with a given upstream: the forward pass of the lecture's exercise 3.

    In training mode, with Bessel's correction and epsilon 1e-5. The loss stands for the rest of a
    network: its gradient with respect to hpreact is dhpreact, whatever that is.

    Args:
        hprebn: what is to be normalised, column by column, with n >= 2 for the variance.
        bngain: the gain.
        bnbias: the bias.
        dhpreact: the gradient that arrives from above.

    Returns:
        The sum of dhpreact times the layer's output, a scalar.
    """
    n = hprebn.shape[0]
    mu = 1 / n * hprebn.sum(0, keepdim=True)
    var = 1 / (n - 1) * ((hprebn - mu) ** 2).sum(0, keepdim=True)
    xhat = (hprebn - mu) * (var + 1e-5) ** -0.5
    hpreact = bngain * xhat + bnbias
    loss = (dhpreact * hpreact).sum()
    return loss


def fused_forward(
    Xb: Annotated[Tensor, "n, block_size < vocab_size"],  # int64 indices below vocab_size
    Yb: Annotated[Tensor, "n < vocab_size"],
    C: Annotated[Tensor, "vocab_size, n_embd"],
    W1: Annotated[Tensor, "block_size * n_embd, n_hidden"],
    b1: Annotated[Tensor, "n_hidden"],
    bngain: Annotated[Tensor, "1, n_hidden"],
    bnbias: Annotated[Tensor, "1, n_hidden"],
    W2: Annotated[Tensor, "n_hidden, vocab_size"],
    b2: Annotated[Tensor, "vocab_size"],
) -> Tensor:
    """The network's loss in large steps: the forward pass of the lecture's exercise 4.

    The same function as `atomic`, with the cross-entropy in one line. Arguments and result are
    those of `atomic`.
    """
    n = Xb.shape[0]
    # embedding and linear layer 1
    emb = C[Xb]
    embcat = emb.view(n, -1)
    hprebn = embcat @ W1 + b1
    # batch normalisation
    bnmean = hprebn.mean(0, keepdim=True)
    bnvar = hprebn.var(0, keepdim=True, unbiased=True)
    bnvar_inv = (bnvar + 1e-5) ** -0.5
    bnraw = (hprebn - bnmean) * bnvar_inv
    hpreact = bngain * bnraw + bnbias
    # non-linearity, linear layer 2 and cross-entropy
    h = torch.tanh(hpreact)
    logits = h @ W2 + b2
    loss = F.cross_entropy(logits, Yb)
    return loss
