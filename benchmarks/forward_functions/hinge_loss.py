"""Multi-class hinge loss with margin 1, summed over the wrong classes, averaged over examples."""

from typing import Annotated

from torch import Tensor


def hinge_loss(scores: Annotated[Tensor, "n, c"], target: Annotated[Tensor, "n < c"]) -> Tensor:
    right = scores.gather(1, target.unsqueeze(1))
    distance = scores - right
    margins = distance + 1
    hinged = margins.clamp(min=0)
    wrong = hinged.scatter(1, target.unsqueeze(1), 0.0)
    each = wrong.sum(1)
    loss = each.mean()
    return loss
