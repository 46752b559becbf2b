"""A course of one exercise as a folder, which tests write and spoil."""

from __future__ import annotations

from pathlib import Path

COURSE = """\
title = "Norms"
repository = "https://github.com/a/norms"

[[exercise]]
id = "n1"
notebook = "01_rms_norm"
forward = "forward.py:rms_norm"
gradients = ["dx", "dgain"]
sizes = { n = 6, d = 10 }
"""

FORWARD = '''\
"""What the exercises of this course differentiate."""

from __future__ import annotations

from typing import Annotated

from torch import Tensor


def rms_norm(
    x: Annotated[Tensor, "n, d"], gain: Annotated[Tensor, "d"], dout: Annotated[Tensor, "n, d"]
) -> Tensor:
    ms = (x**2).mean(1, keepdim=True)
    inv = (ms + 1e-5) ** -0.5
    xhat = x * inv
    out = gain * xhat
    loss = (dout * out).sum()
    return loss
'''

HINTS = """\
[n1]
dx = ["Two ways lead to x.", "One goes through inv.", "Add them."]
dgain = ["A copied axis.", "Sum over it.", "Over n."]
"""

RIGHT = """\
dgain = (dout * xhat).sum(0)
dxhat = dout * gain
dx = dxhat * inv - xhat * (dxhat * xhat).mean(1, keepdim=True) * inv
"""


FILES = {"course.toml": COURSE, "forward.py": FORWARD, "hints.toml": HINTS}


def write_course(folder: Path, **instead: str) -> Path:
    """Write the course; `course`, `forward` and `hints` are other texts for its files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(instead.get(name.split(".")[0], text), encoding="utf-8")
    return folder
