"""A notebook with the landmarks of the lecture's, in words and lines of our own."""

import json
from collections.abc import Mapping
from pathlib import Path

from corpus.readers.exercise_text import FORWARD as STEPS

SETUP = """\
import torch
import torch.nn.functional as F
%matplotlib inline
tiny = 1e-5

def cmp(name, gradient, tensor):
    print(name, torch.allclose(gradient, tensor.grad))

def summed_over_rows(values):
    return values.sum(0, keepdim=True)"""

BATCH = """\
n_embd, block_size = 10, 3
n_hidden = 64
batch_size = 32
n = batch_size
rows = torch.randint(0, Xtr.shape[0], (batch_size,))
Xb, Yb = Xtr[rows], Ytr[rows]"""

FORWARD = f"""\
{STEPS}for p in parameters:
    p.grad = None
for t in [logprobs, probs, counts, counts_sum, counts_sum_inv, norm_logits, logit_maxes, logits,
          h, hpreact, bnraw, bnvar_inv, bnvar, bndiff2, bndiff, bnmeani, hprebn, embcat, emb]:
    t.retain_grad()
loss.backward()"""

EXERCISE_1 = """\
dlogprobs = torch.zeros_like(logprobs)
dlogprobs[torch.arange(n), Yb] = -1 / n
dprobs = dlogprobs / probs
dcounts_sum_inv = (dprobs * counts).sum(1, keepdim=True)
dcounts_sum = -dcounts_sum_inv / counts_sum**2
dcounts = dprobs * counts_sum_inv + dcounts_sum
dnorm_logits = dcounts * counts
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
dlogits = dnorm_logits + dlogit_maxes * F.one_hot(logits.argmax(1), logits.shape[1])
dh, dW2, db2 = dlogits @ W2.T, h.T @ dlogits, dlogits.sum(0)
dhpreact = dh * (1 - h * h)
dbngain = summed_over_rows(dhpreact * bnraw)
dbnbias = summed_over_rows(dhpreact)
dbnraw = dhpreact * bngain
dbnvar_inv = summed_over_rows(dbnraw * bndiff)
dbnvar = -0.5 * dbnvar_inv * (bnvar + tiny)**-1.5
dbndiff2 = torch.ones_like(bndiff2) * dbnvar / (n - 1)
dbndiff = dbnraw * bnvar_inv + 2 * bndiff * dbndiff2
dbnmeani = -dbndiff.sum(0)
dhprebn = dbndiff + dbnmeani / n
cmp('hprebn', dhprebn, hprebn)
dembcat, dW1, db1 = dhprebn @ W1.T, embcat.T @ dhprebn, dhprebn.sum(0)
demb = dembcat.view(emb.shape)
dC = torch.zeros_like(C).index_add_(0, Xb.flatten(), demb.flatten(0, 1))"""

CHEAP = "loss_fast = F.cross_entropy(logits, Yb)"
EXERCISE_2 = "dlogits = (F.softmax(logits, 1) - F.one_hot(Yb, logits.shape[1])) / n"

NORM = """\
hpreact_fast = bngain * (hprebn - hprebn.mean(0)) / (hprebn.var(0) + 1e-5).sqrt() + bnbias"""
EXERCISE_3 = """\
along = (dhpreact * bnraw).sum(0)
dhprebn = bngain * bnvar_inv * (dhpreact - dhpreact.mean(0) - bnraw * along / (n - 1))"""

TRAINING = """\
n_hidden = 200
max_steps = 1000
with torch.no_grad():
    for step in range(max_steps):
        Xb, Yb = Xtr[rows], Ytr[rows]
        emb = C[Xb]
        embcat = emb.view(emb.shape[0], -1)
        hprebn = embcat @ W1 + b1
        bnmean = hprebn.mean(0, keepdim=True)
        bnvar = hprebn.var(0, keepdim=True, unbiased=True)
        bnvar_inv = (bnvar + 1e-5)**-0.5
        bnraw = (hprebn - bnmean) * bnvar_inv
        hpreact = bngain * bnraw + bnbias
        h = torch.tanh(hpreact)
        logits = h @ W2 + b2
        loss = F.cross_entropy(logits, Yb)
        for p in parameters:
            p.grad = None
        loss.backward()
{answer}
        grads = [dC, dW1, db1, dW2, db2, dbngain, dbnbias]
        for p, grad in zip(parameters, grads):
            p.data += -0.1 * grad"""
EXERCISE_4 = """\
dlogits = (F.softmax(logits, 1) - F.one_hot(Yb, logits.shape[1])) / n
dW2, db2 = h.T @ dlogits, dlogits.sum(0)
dhpreact = dlogits @ W2.T * (1 - h**2)
dbngain = summed_over_rows(dhpreact * bnraw)
dbnbias = summed_over_rows(dhpreact)
along = (dhpreact * bnraw).sum(0)
dhprebn = bngain * bnvar_inv * (dhpreact - dhpreact.mean(0) - bnraw * along / (n - 1))
dW1, db1 = embcat.T @ dhprebn, dhprebn.sum(0)
demb = (dhprebn @ W1.T).view(emb.shape)
dC = torch.zeros_like(C)
for row in range(n):
    for place in range(block_size):
        dC[Xb[row, place]] += demb[row, place]"""
BLANK_4 = "dC, dW1, db1, dW2, db2, dbngain, dbnbias = None, None, None, None, None, None, None"


def training(answer: str = EXERCISE_4) -> str:
    """The cell of exercise 4 with this answer in its loop."""
    return TRAINING.format(answer="\n".join(f"        {line}" for line in answer.split("\n")))


RIGHT: Mapping[str, str] = {
    "setup": SETUP,
    "batch": BATCH,
    "forward": FORWARD,
    "1": EXERCISE_1,
    "cheap": CHEAP,
    "2": EXERCISE_2,
    "norm": NORM,
    "3": EXERCISE_3,
    "4": training(),
}
"""The cells by what they are for; in the file, each stands behind a Markdown cell."""

BLANK = {
    **RIGHT,
    "1": "# yours",
    "2": "dlogits = None",
    "3": "dhprebn = None",
    "4": training(BLANK_4),
}


def write_lecture(path: Path, cells: Mapping[str, str] = RIGHT) -> Path:
    """A notebook with these code cells: the n-th is cell 2n of the file."""
    document = {
        "nbformat": 4,
        "nbformat_minor": 0,
        "metadata": {},
        "cells": [
            {"cell_type": kind, "metadata": {}, "source": text}
            for name, source in cells.items()
            for kind, text in (("markdown", f"## {name}"), ("code", source))
        ],
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return path
