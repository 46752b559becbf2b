"""Parts of the training loop as a student writes them, right ones and changed ones."""

from __future__ import annotations

import linecache
import math
import textwrap
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from grader.notebook.training.own_loop import TRIALS, check_own
from makemore_data import begin_run
from makemore_data.training.train import learning_rate, update

UPDATE = """
for p, dp in zip(parameters, gradients):
    p -= learning_rate * dp
"""
LOOP = """
while run.step < until:
    ix = torch.randint(0, len(X), (32,), generator=run.generator)
    loss, gradients = backward(X[ix], Y[ix], *run.parameters)
    rate = learning_rate(run.step)
    update(run.parameters, gradients, rate)
    run.losses.append(loss.item())
"""
CALIBRATE = """
C, W1, b1, *_ = parameters
hprebn = C[X].view(len(X), -1) @ W1 + b1
return hprebn.mean(0, keepdim=True), hprebn.var(0, keepdim=True)
"""
LOGITS = """
C, W1, b1, bngain, bnbias, W2, b2 = parameters
with torch.no_grad():
    hprebn = C[X].view(len(X), -1) @ W1 + b1
    bnraw = (hprebn - mean) * (variance + 1e-5) ** -0.5
    return torch.tanh(bngain * bnraw + bnbias) @ W2 + b2
"""
LOSS = "return F.cross_entropy(logits_with(parameters, mean, variance, X), Y).item()"
NAME = """
name, window = "", [0] * block_size
while True:
    probs = F.softmax(predict(window), 1)
    ix = torch.multinomial(probs, 1, generator=g).item()
    if ix == 0:
        break
    name += itos[ix]
    window = window[1:] + [ix]
return name
"""
HEADS = {
    "update": ("parameters, gradients, learning_rate", UPDATE),
    "learning_rate": ("step", "return 0.1 if step < 100_000 else 0.01"),
    "loop": ("run, backward, X, Y, until", LOOP),
    "calibrate": ("parameters, X", CALIBRATE),
    "logits": ("parameters, mean, variance, X", LOGITS),
    "mean_loss": ("parameters, mean, variance, X, Y", LOSS),
    "sample_name": ("predict, itos, block_size, g", NAME),
}


def function(part: str, body: str, **names: Any) -> Callable[..., Any]:
    """The part as a notebook's cell would define it, among the names of notebook 4."""
    arguments, _ = HEADS[part]
    source = f"def mine({arguments}):\n{textwrap.indent(body.strip(), '    ')}\n"
    linecache.cache["<cell>"] = (len(source), None, source.splitlines(keepends=True), "<cell>")
    scope: dict[str, Any] = {
        "math": math,
        "torch": torch,
        "F": F,
        "update": update,
        "learning_rate": learning_rate,
        "logits_with": TRIALS["logits"].own,
        "calibrate": TRIALS["calibrate"].own,
        "run": begin_run(5),
        "n_hidden": 200,
        "Xtr": torch.zeros(9, 3, dtype=torch.int64),
        "Ytr": torch.zeros(9, dtype=torch.int64),
        **names,
    }
    exec(compile(source, "<cell>", "exec"), scope)
    made: Callable[..., Any] = scope["mine"]
    return made


def changed(part: str, *changes: str) -> str:
    """The right body with pieces replaced: the first by the second, and so on."""
    body = HEADS[part][1]
    for right, wrong in zip(changes[::2], changes[1::2], strict=True):
        assert right in body, right
        body = body.replace(right, wrong)
    return body


SaidOf = Callable[[str, str], str]
"""What `check_own` prints of a part whose body is wrong."""


@pytest.fixture
def said_of(capsys: pytest.CaptureFixture[str]) -> SaidOf:
    def said_of(part: str, body: str) -> str:
        assert check_own(part, function(part, body)) is TRIALS[part].own
        said = capsys.readouterr().out
        assert said.startswith("mine             | fail\n  ")
        assert said.count("\n") == 3
        return said

    return said_of
