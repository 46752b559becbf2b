"""The assignment that an instructor would write for the peers: notebook 1, compared with autograd.

It is shorter than the course's notebook, for what is read and drawn there would only slow the peers
down: one cell sets the forward pass and `backward` up, ten answer cells follow with the course's
own ids, and each of the 26 gradients has a test of its own, worth a point.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.students import course_paper
from corpus.readers.exercise_text import FORWARD, GRADIENTS, INPUTS, LECTURE

SETUP = f"""\
import torch
import torch.nn.functional as F

n, vocab_size, n_embd = {LECTURE.n}, {LECTURE.vocab_size}, {LECTURE.n_embd}
n_hidden, block_size = {LECTURE.n_hidden}, {LECTURE.block_size}
g = torch.Generator().manual_seed(2147483647)
Xb = torch.randint(0, vocab_size, (n, block_size), generator=g)
Yb = torch.randint(0, vocab_size, (n,), generator=g)
C = torch.randn((vocab_size, n_embd), generator=g)
W1 = torch.randn((n_embd * block_size, n_hidden), generator=g) / (n_embd * block_size) ** 0.5
b1 = torch.randn(n_hidden, generator=g) * 0.1
W2 = torch.randn((n_hidden, vocab_size), generator=g) * 0.1
b2 = torch.randn(vocab_size, generator=g) * 0.1
bngain = torch.randn((1, n_hidden), generator=g) * 0.1 + 1.0
bnbias = torch.randn((1, n_hidden), generator=g) * 0.1
for p in (C, W1, b1, W2, b2, bngain, bnbias):
    p.requires_grad = True

{FORWARD}
for t in ({", ".join(d[1:] for d in GRADIENTS if d[1:] not in INPUTS)}):
    t.retain_grad()
loss.backward()
"""
"""The lecture's own way: everything keeps its gradient, and an answer is compared with that."""

NAME = "atomic"
"""The notebook's name, for the peers."""


def comparison_of(gradient: str) -> str:
    """The statement that tells whether a gradient is right."""
    return f"assert torch.allclose({gradient}, {gradient[1:]}.grad, atol=1e-6)"


def notebook(with_tests: bool) -> dict[str, Any]:
    """The assignment, with nothing answered; with tests in cells of their own, as nbgrader's."""
    cells = [_cell("setup", SETUP)]
    for grade_id, blank in course_paper().blanks.items():
        cells.append(_cell(grade_id, blank, _nbgrader(grade_id, solution=True)))
        asked = re.findall(r"(?m)^(d\w+) = ", blank)
        if with_tests:
            cells += [
                _cell(f"test-{d}", comparison_of(d), _nbgrader(f"test-{d}", solution=False))
                for d in asked
            ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def write_notebook(path: Path, with_tests: bool) -> None:
    """Write the assignment to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook(with_tests), indent=1) + "\n", encoding="utf-8")


def _cell(name: str, source: str, metadata: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": name,
        "metadata": metadata or {},
        "outputs": [],
        "source": source,
    }


def _nbgrader(grade_id: str, solution: bool) -> dict[str, Any]:
    test: dict[str, Any] = {} if solution else {"points": 1}
    return {
        "nbgrader": {
            "grade": not solution,
            "grade_id": grade_id,
            "locked": not solution,
            "schema_version": 3,
            "solution": solution,
            "task": False,
            **test,
        }
    }
