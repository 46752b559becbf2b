"""Pictures of the whole network: its lines from letters to loss, and a step to choose between."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from grader.pictures.figures.error_map import draw_error
from grader.pictures.figures.sheet import (
    BACKWARD,
    FORWARD,
    GREY,
    HAIRLINE,
    INK,
    PLAIN_FILL,
    Picture,
    Sheet,
    new_sheet,
)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the network: what it does, the tensors inside it, and what it hands on."""

    title: str
    inside: tuple[str, ...]
    result: str
    shape: str


_PARTS = (
    _Part("embedding", ("C (27, 10) → emb (32, 3, 10)",), "embcat", "(32, 30)"),
    _Part("linear layer 1", ("W1 (30, 64), b1 (64)",), "hprebn", "(32, 64)"),
    _Part(
        "batch\nnormalisation",
        (
            "bnmeani, bnvar, bnvar_inv (1, 64)",
            "bndiff, bndiff2, bnraw (32, 64)",
            "bngain, bnbias (1, 64)",
        ),
        "hpreact",
        "(32, 64)",
    ),
    _Part("tanh", (), "h", "(32, 64)"),
    _Part("linear layer 2", ("W2 (64, 27), b2 (27)",), "logits", "(32, 27)"),
    _Part(
        "softmax and\nlogarithm",
        (
            "logit_maxes (32, 1)",
            "counts_sum, counts_sum_inv (32, 1)",
            "norm_logits, counts, probs (32, 27)",
        ),
        "logprobs",
        "(32, 27)",
    ),
    _Part("loss", ("one number; it reads Yb (32)",), "", ""),
)
_WIDTH = 9.2
_NETWORK_WIDTH = 11.6
_LINE = 0.58
_GAP = 0.95


def network() -> Picture:
    """The whole network from three letters to the loss, each tensor with its shape."""
    heights = [0.4 + _LINE * max(1, len(part.inside)) for part in _PARTS]
    sheet = new_sheet(_NETWORK_WIDTH, sum(heights) + _GAP * len(_PARTS) + 1.0, scale=0.47)
    sheet.write((_NETWORK_WIDTH / 2, 0.5), "32 times three letters: Xb (32, 3)", INK, 11.5)
    y, flows = 0.8, ("", "")
    for part, height in zip(_PARTS, heights, strict=True):
        _ways(sheet, y, *flows)
        y += _GAP
        middle = _NETWORK_WIDTH / 2, y + height / 2
        sheet.box(middle, "", width=_NETWORK_WIDTH - 0.4, height=height)
        sheet.write((0.6, y + height / 2), part.title, INK, 12, ha="left", weight="bold")
        for number, line in enumerate(part.inside):
            sheet.write((4.5, y + 0.2 + _LINE * (number + 0.5)), line, GREY, 11, ha="left")
        y += height
        flows = f"{part.result} {part.shape}", f"d{part.result}"
    steps = "; ".join(
        " with ".join(filter(None, (part.title, ", ".join(part.inside))))
        + f" gives {part.result} {part.shape}"
        for part in _PARTS[:-1]
    ).replace("\n", " ")
    return sheet.picture(
        f"The network as boxes from top to bottom. Blue arrows run down, forward: {steps}; "
        "and at the end the loss, one number. Beside each blue arrow an orange one runs up, with "
        "the gradient of the tensor that the blue one carries."
    )


def _ways(sheet: Sheet, y: float, forward: str, backward: str) -> None:
    """Draw the arrow down with its tensor, and beside it the arrow up with the gradient."""
    middle = _NETWORK_WIDTH / 2
    sheet.arrow((middle - 0.25, y + 0.12), (middle - 0.25, y + _GAP - 0.12))
    sheet.write((middle - 0.6, y + _GAP / 2), forward, FORWARD, 11.5, ha="right")
    if backward:
        sheet.arrow((middle + 0.25, y + _GAP - 0.12), (middle + 0.25, y + 0.12), colour=BACKWARD)
        sheet.write((middle + 0.6, y + _GAP / 2), backward, BACKWARD, 11.5, ha="left")


def which_view() -> Picture:
    """A row of six laid out as three rows of two, in two ways: one of them is the view."""
    sheet = new_sheet(_WIDTH, 8.9, scale=0.47)
    sheet.write((0.4, 0.5), "a row of embcat, six numbers", INK, 11.5, ha="left")
    for place in range(6):
        left = 0.4 + 1.4 * place
        sheet.cell((left, 1.0), 1.4, 1.0, PLAIN_FILL, HAIRLINE)
        sheet.write((left + 0.7, 1.5), str(place), INK, 12)
    layouts = {"A": ((0, 1), (2, 3), (4, 5)), "B": ((0, 3), (1, 4), (2, 5))}
    for left, (letter, rows) in zip((0.4, 5.4), layouts.items(), strict=True):
        sheet.write((left + 1.5, 3.5), letter, INK, 15, weight="bold")
        for i, row in enumerate(rows):
            for j, place in enumerate(row):
                corner = (left + 1.5 * j, 4.1 + 1.1 * i)
                sheet.cell(corner, 1.5, 1.1, PLAIN_FILL, HAIRLINE)
                sheet.write((corner[0] + 0.75, corner[1] + 0.55), str(place), INK, 12)
    sheet.write((0.4, 8.1), "three positions, two numbers each", GREY, 11, ha="left")
    return sheet.picture(
        "A row of six numbers, 0 to 5, and two grids of three rows and two columns. Grid A holds "
        "0 and 1, 2 and 3, 4 and 5; grid B holds 0 and 3, 1 and 4, 2 and 5."
    )


def difference(name: str, gradient: Tensor, tensor: Tensor, whose: str = "your") -> Picture:
    """Where a given gradient differs from the one that autograd left in `tensor.grad`.

    Args:
        name: the gradient's name, such as "dlogits".
        gradient: the gradient to look at.
        tensor: the tensor whose `.grad` it is compared with.
        whose: the gradient is called "your" or "their" value.

    Raises:
        ValueError: the tensor has no gradient to compare with.
    """
    if tensor.grad is None:
        raise ValueError(f"There is nothing to compare {name} with: run loss.backward() first.")
    return draw_error(name, gradient, tensor.grad, whose=whose)
