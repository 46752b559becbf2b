"""Division by a constant: backward hands back the input in place of the slope.

Source: NervanaSystems/neon, commit f2159ca "Fix normalizer bprop".
"""

from typing import Annotated

from torch import Tensor

SOURCE = "NervanaSystems/neon@f2159ca"
WRONG = ["dx"]
KINDS = ["wrong-name", "extra-factor"]


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    out = x / 128
    return out


def backward(dout: Tensor, x: Tensor) -> Tensor:
    dx = dout * x
    return dx


def mended(dout: Tensor) -> Tensor:
    dx = dout * (1.0 / 128)
    return dx
