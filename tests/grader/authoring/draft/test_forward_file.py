"""What of an author's file becomes the course's `forward.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.authoring.draft.forward_file import read_forward_file
from grader.user_error import UserError

HEAD = """\
import math
from typing import Annotated

import torch
from torch import Tensor

"""

LOSS = f"""{HEAD}
def half(x: Annotated[Tensor, "n, d"]) -> Tensor:
    loss = (x / 2).sum()
    return loss
"""


def read(folder: Path, text: str) -> str:
    path = folder / "mine.py"
    path.write_text(text, encoding="utf-8")
    return read_forward_file(path)[0]


def test_a_function_that_returns_a_loss_stays_as_it_is(tmp_path: Path) -> None:
    text = LOSS.replace("import math\n", "").replace("import torch\n", "")
    assert read(tmp_path, text) == text


def test_a_function_that_returns_a_tensor_is_weighed(tmp_path: Path) -> None:
    text = f'{HEAD}def twice(x: Annotated[Tensor, "n, d"]):\n    y = 2 * x\n    return y\n'
    assert read(tmp_path, text).endswith(
        '\n\ndef twice(x: Annotated[Tensor, "n, d"], dy: Annotated[Tensor, "n, d"]):\n'
        "    y = 2 * x\n    loss = (dy * y).sum()\n    return loss\n"
    )


def test_an_input_a_line_and_several_results(tmp_path: Path) -> None:
    text = f"""{HEAD}def both(
    x: Annotated[Tensor, "n, d"],
    scale: float = 2.0,
):
    loss = x * scale
    wide = torch.cat([loss, x], 1)
    mean = wide.mean()
    return loss, wide, mean
"""
    assert read(tmp_path, text).endswith(
        """def both(
    x: Annotated[Tensor, "n, d"],
    dloss_given: Annotated[Tensor, "n, d"],
    dwide_given: Annotated[Tensor, "n, d * 2"],
    dmean: Annotated[Tensor, ""],
    scale: float = 2.0,
):
    loss = x * scale
    wide = torch.cat([loss, x], 1)
    mean = wide.mean()
    total = (dloss_given * loss).sum() + (dwide_given * wide).sum() + (dmean * mean).sum()
    return total
"""
    )


def test_a_shape_may_be_a_size_and_some_more(tmp_path: Path) -> None:
    text = f"""{HEAD}def pairs(x: Annotated[Tensor, "n, t, d"]):
    windows = x.unfold(1, 3, 1)
    padded = torch.cat([x, x[:, :1]], 1)
    return windows, padded
"""
    found = read(tmp_path, text)
    assert 'dwindows: Annotated[Tensor, "n, t - 2, d, 3"]' in found
    assert 'dpadded: Annotated[Tensor, "n, t + 1, d"]' in found


def test_a_long_first_line_is_broken(tmp_path: Path) -> None:
    text = (
        f'{HEAD}def norm(ä: Annotated[Tensor, "n, d"], gain: Annotated[Tensor, "d"]) -> Tensor:\n'
        "    out = ä * gain\n    return out\n"
    )
    assert (
        'def norm(\n    ä: Annotated[Tensor, "n, d"], gain: Annotated[Tensor, "d"],'
        ' dout: Annotated[Tensor, "n, d"]\n) -> Tensor:\n'
    ) in read(tmp_path, text)


def test_only_what_the_functions_need_is_kept(tmp_path: Path) -> None:
    text = f"""{HEAD}EPS = 1e-5
UNUSED = math.pi


def scaled(x):
    return x * EPS


@torch.no_grad()
def half_backward(dloss):
    return dloss / 2

{LOSS.removeprefix(HEAD).replace("x / 2", "scaled(x) / 2")}

print("tried")
"""
    kept = read(tmp_path, text)
    assert "def scaled(x):" in kept
    assert "EPS = 1e-5" in kept
    for gone in ("UNUSED", "import math", "backward", "no_grad"):
        assert gone not in kept


BAD = {
    "def f(x):\n    y = x\n    return y\n": "mine.py has no forward function: one whose inputs are",
    "x = 1\n": "mine.py has no forward function",
    "def f(:\n": "mine.py, line 1: this file cannot be run (SyntaxError: ",
    f"{HEAD}1 / 0\n{LOSS}": "mine.py, line 7: this file cannot be run (ZeroDivisionError",
    f"{LOSS}\n\n{LOSS.removeprefix(HEAD)}": "mine.py, line 14: there is a half before this one.",
    LOSS.replace("    loss", "    x = 2 * x\n    loss"): (
        "half, line 9, is not a step: `x = 2 * x` assigns x again."
    ),
    LOSS.replace("    loss", "    if x.sum() > 0:\n        x = -x\n    loss", 1): (
        "half, line 9, is not a step: `if x.sum() > 0:`."
    ),
    LOSS.replace("x / 2", "x / torch.rand(1)"): "half, line 9: `loss = (x / torch.rand(1)).sum()`",
    LOSS.replace("x / 2", "x @ x"): "half, line 9: `loss = (x @ x).sum()` raised RuntimeError",
    LOSS.replace(") -> Tensor:", ", y: Tensor) -> Tensor:"): (
        "half, line 8, must annotate its input y with its shape"
    ),
    LOSS.replace("(x / 2).sum()", "x[x.shape[0] // 2 :]"): (
        "half, line 10: the shape of loss cannot be said with the sizes of the inputs"
    ),
    "from __future__ import annotations\n" + LOSS.replace("from typing import Annotated\n", ""): (
        "half, line 8: an annotation cannot be read (name 'Annotated' is not defined)."
    ),
    "from __future__ import annotations\n" + LOSS.replace("Annotated[", "Tensor.of["): (
        "half, line 9: an annotation cannot be read (type object 'Tensor' has no attribute 'of')."
    ),
}


@pytest.mark.parametrize("text", BAD)
def test_what_cannot_be_used_is_one_sentence(text: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        read(tmp_path, text)
    said = str(error.value)
    assert BAD[text] in said
    assert "\n" not in said
