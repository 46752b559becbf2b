"""The notebooks' cells that `explain` checks: right as they are, and some wrong ones named."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated, Any

import jupytext
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from corpus.readers.places import PROJECT
from grader import Constant, Explanation, explain

SOURCES = {
    "ex1-warmup": "01_atomic_backprop",
    "ex2-temperature": "02_fused_cross_entropy",
}
DCOLD = "dcold = (F.softmax(warm, 1) - F.one_hot(Yb, num_classes=vocab_size)) / (n * T)"
NAMES = {
    "Annotated": Annotated,
    "Constant": Constant,
    "Tensor": Tensor,
    "torch": torch,
    "F": F,
}


def explained(cell_id: str, folder: Path, *changes: tuple[str, str]) -> Explanation:
    """What the cell shows with pieces of it replaced."""
    cells = jupytext.read(PROJECT / f"notebooks/source/{SOURCES[cell_id]}.py", fmt="py:percent")
    (text,) = (c.source for c in cells.cells if c.source.startswith(f"# try: {cell_id}\n"))
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    body, _, call = text.rpartition("\n")
    file = folder / "cell.py"
    functions = call.removeprefix("explain")
    file.write_text(f"{body}\nFUNCTIONS = {functions}\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("cell", file)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    vars(module).update(NAMES)
    spec.loader.exec_module(module)
    return explain(*module.FUNCTIONS)


@pytest.mark.parametrize("cell_id", SOURCES)
def test_the_solution_is_right(cell_id: str, tmp_path: Path) -> None:
    assert explained(cell_id, tmp_path).ok


@pytest.mark.parametrize(
    ("cell_id", "change", "said"),
    [
        ("ex1-warmup", ("2 * s * dt", "s * dt"), "`ds` is 0.5 times what it should be."),
        ("ex1-warmup", ("2 * s * dt", "2 * s"), "`2 * s` lacks the incoming gradient."),
        ("ex1-warmup", ("u * dw", "v * dw"), "`v` is the wrong tensor here."),
        (
            "ex1-warmup",
            ("v * dw + ds", "v * dw"),
            "The part of `du` that comes through `s` is missing.",
        ),
        (
            "ex1-warmup",
            ("v * dw + ds", "ds"),
            "The part of `du` that comes through `w` is missing.",
        ),
        ("ex2-temperature", ("softmax(warm", "softmax(cold"), "`warm` is needed here."),
        (
            "ex2-temperature",
            ("/ (n * T)", "/ n / -T**2 * cold"),
            "`cold` is the wrong tensor here. The sign is wrong as well.",
        ),
        (
            "ex2-temperature",
            (
                DCOLD,
                "dwarm = F.softmax(warm, 1)\n    dwarm[:, Yb] -= 1\n    dcold = dwarm / n / T",
            ),
            "This line picks the wrong entries.",
        ),
        (
            "ex2-temperature",
            (DCOLD, f"dwarm = {DCOLD[8:-10].replace('warm', 'cold')} / n\n    dcold = dwarm / T"),
            "`cold` is the wrong tensor here.",
        ),
    ],
)
def test_a_mistake_is_named(
    cell_id: str, change: tuple[str, str], said: str, tmp_path: Path
) -> None:
    explanation = explained(cell_id, tmp_path, change)
    assert not explanation.ok
    assert said in " ".join(str(explanation).split())


def test_a_loss_that_nobody_hands_down_is_not_missed(tmp_path: Path) -> None:
    found = explained("ex2-temperature", tmp_path, ("F.softmax(warm, 1)", "warm.cos() ** 3"))
    assert not found.ok
    assert "dloss" not in str(found)
