"""Log of a sum of two exponentials: the share is made of the input, not of its exponential.

Source: rsokl/MyGrad, commit c955d9a "fix logaddexp backprop + optimize; implement exp; ...".
"""

from typing import Annotated

from torch import Tensor

SOURCE = "rsokl/MyGrad@c955d9a"
WRONG = ["da", "db"]
KINDS = ["wrong-name", "operator"]


def forward(a: Annotated[Tensor, "n, d"], b: Annotated[Tensor, "n, d"]) -> Tensor:
    grown_a = a.exp()
    grown_b = b.exp()
    total = grown_a + grown_b
    out = total.log()
    return out


def backward(dout: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    da = dout * a / (a.exp() + b.exp())
    db = dout * b / (a.exp() + b.exp())
    return da, db


def mended(dout: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    da = dout / (1 + (b - a).exp())
    db = dout / (1 + (a - b).exp())
    return da, db
