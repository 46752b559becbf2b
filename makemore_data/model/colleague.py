"""A backward pass with one fault in it, for notebook 1's reader to find."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from makemore_data.model.parameters import Parameters

FAULT = "hprebn"
BEHIND_IT = frozenset({"embcat", "emb", "C", "W1", "b1"})
"""The tensors whose gradients are wrong because that of `FAULT` is."""


def colleagues_gradients(
    Xb: Tensor,
    Yb: Tensor,
    C: Tensor,
    W1: Tensor,
    b1: Tensor,
    bngain: Tensor,
    bnbias: Tensor,
    W2: Tensor,
    b2: Tensor,
) -> dict[str, Tensor]:
    """Gradients of the notebook's network; one branch has been forgotten on the way back.

    Args:
        Xb: a minibatch's contexts, int64 (n, block_size), with n >= 2.
        Yb: the characters that follow them, int64 (n,).
        C: the embedding table, and after it the other parameters, in the order of `Parameters`.

    Returns:
        The gradients by the names of their tensors; which of them are wrong is for the reader.
    """
    given = (C, W1, b1, bngain, bnbias, W2, b2)
    parameters = Parameters(*(p.detach().requires_grad_() for p in given))
    C, W1, b1, bngain, bnbias, W2, b2 = parameters
    with torch.enable_grad():
        emb = C[Xb]
        embcat = emb.view(Xb.shape[0], -1)
        hprebn = embcat @ W1 + b1
        # The fault: cut off from hprebn, the mean sends nothing back to it.
        bnmeani = hprebn.mean(0, keepdim=True).detach().requires_grad_()
        bndiff = hprebn - bnmeani
        bnvar = bndiff.square().sum(0, keepdim=True) / (Xb.shape[0] - 1)
        bnraw = bndiff * (bnvar + 1e-5) ** -0.5
        hpreact = bngain * bnraw + bnbias
        h = torch.tanh(hpreact)
        logits = h @ W2 + b2
        loss = F.cross_entropy(logits, Yb)
    tensors = {
        **parameters._asdict(),
        **{"emb": emb, "embcat": embcat, "hprebn": hprebn, "bnmeani": bnmeani},
        **{"bndiff": bndiff, "bnraw": bnraw, "hpreact": hpreact, "h": h, "logits": logits},
    }
    return dict(zip(tensors, torch.autograd.grad(loss, list(tensors.values())), strict=True))


def judge_fault(choice: object, tensors: Mapping[str, Tensor]) -> tuple[str, str]:
    """Answer a reader who points at the first wrong gradient of the colleague's.

    Args:
        choice: one of the tensors, or its name ("logits" or "dlogits"); `...` is not a choice yet.
        tensors: those among which the reader chooses, by name.

    Returns:
        The name of the chosen tensor, empty if its gradient is not wrong, and a sentence.
    """
    if choice is ...:
        return "", "to do"
    named = str(choice).removeprefix("d")
    name = next((key for key, one in tensors.items() if one is choice or key == named), "")
    if not name:
        once_more = "If the forward cell ran again, run the cell above as well."
        return "", f"Give one of {', '.join(tensors)}, or its name in quotes. {once_more}"
    if name == FAULT:
        return name, f"d{name} is wrong, and all that lead to it are right: this is the line."
    if name in BEHIND_IT:
        look = "on the board, look at what its arrows come from."
        return name, f"d{name} is wrong, but not the first that is: {look}"
    return "", f"d{name} is right, as are all that lead to it: the fault lies further back."
