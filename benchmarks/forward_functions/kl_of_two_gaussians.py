"""Kullback-Leibler divergence of two diagonal Gaussians, averaged over examples."""

from typing import Annotated

from torch import Tensor


def kl_of_two_gaussians(
    mean_p: Annotated[Tensor, "n, d"],
    logvar_p: Annotated[Tensor, "n, d"],
    mean_q: Annotated[Tensor, "n, d"],
    logvar_q: Annotated[Tensor, "n, d"],
) -> Tensor:
    gap = mean_p - mean_q
    square = gap**2
    var_p = logvar_p.exp()
    var_q = logvar_q.exp()
    spread = var_p + square
    ratio = spread / var_q
    log_ratio = logvar_q - logvar_p
    terms = ratio + log_ratio
    half = 0.5 * (terms - 1)
    each = half.sum(1)
    loss = each.mean()
    return loss
