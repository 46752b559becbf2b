"""Four training loops that reach the same parameters at different speeds."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from makemore_data.forward import fused_forward
from makemore_data.parameters import Parameters
from makemore_data.training import Backward, Run

BATCH = 32
AHEAD = 1000
"""Minibatches that `tuned_loop` draws at once."""


def autograd_loop(run: Run, X: Tensor, Y: Tensor, steps: int, learning_rate: float = 0.1) -> None:
    """What everybody writes: `loss.backward()`, then a step downhill."""
    parameters = [p.requires_grad_() for p in run.parameters]
    for _ in range(steps):
        ix = torch.randint(0, X.shape[0], (BATCH,), generator=run.generator)
        loss = fused_forward(X[ix], Y[ix], *parameters)
        for p in parameters:
            p.grad = None
        loss.backward()  # type: ignore[no-untyped-call]
        for p in parameters:
            assert p.grad is not None
            p.data -= learning_rate * p.grad
        run.losses.append(loss.item())
    for p in parameters:
        p.requires_grad_(False)


@torch.no_grad()
def manual_loop(
    run: Run,
    X: Tensor,
    Y: Tensor,
    steps: int,
    learning_rate: float = 0.1,
    *,
    backward: Backward,
) -> None:
    """The loop of notebook 4, with somebody's own backward pass in it."""
    for _ in range(steps):
        ix = torch.randint(0, X.shape[0], (BATCH,), generator=run.generator)
        loss, gradients = backward(X[ix], Y[ix], *run.parameters)
        for p, gradient in zip(run.parameters, gradients, strict=True):
            p -= learning_rate * gradient
        run.losses.append(loss.item())


def lecture_backward(
    Xb: Tensor,
    Yb: Tensor,
    C: Tensor,
    W1: Tensor,
    b1: Tensor,
    bngain: Tensor,
    bnbias: Tensor,
    W2: Tensor,
    b2: Tensor,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Loss and gradients in the lecture's way: two Python loops visit each place of the windows."""
    n = Xb.shape[0]
    emb = C[Xb]
    embcat = emb.view(n, -1)
    hprebn = embcat @ W1 + b1
    bnmean = hprebn.mean(0, keepdim=True)
    bnvar = hprebn.var(0, keepdim=True, unbiased=True)
    bnvar_inv = (bnvar + 1e-5) ** -0.5
    bnraw = (hprebn - bnmean) * bnvar_inv
    hpreact = bngain * bnraw + bnbias
    h = torch.tanh(hpreact)
    logits = h @ W2 + b2
    loss = F.cross_entropy(logits, Yb)

    dlogits = F.softmax(logits, 1)
    dlogits[range(n), Yb] -= 1
    dlogits /= n
    dh = dlogits @ W2.T
    dW2 = h.T @ dlogits
    db2 = dlogits.sum(0)
    dhpreact = (1.0 - h**2) * dh
    dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
    dbnbias = dhpreact.sum(0, keepdim=True)
    spread = n * dhpreact - dbnbias - n / (n - 1) * bnraw * dbngain
    dhprebn = bngain * bnvar_inv / n * spread
    dembcat = dhprebn @ W1.T
    dW1 = embcat.T @ dhprebn
    db1 = dhprebn.sum(0)
    demb = dembcat.view(emb.shape)
    dC = torch.zeros_like(C)
    for k in range(Xb.shape[0]):
        for j in range(Xb.shape[1]):
            dC[Xb[k, j]] += demb[k, j]
    return loss, (dC, dW1, db1, dbngain, dbnbias, dW2, db2)


@torch.no_grad()
def tuned_loop(run: Run, X: Tensor, Y: Tensor, steps: int, learning_rate: float = 0.1) -> None:
    """The same steps in fewer, larger calls; `b1`, whose gradient is zero, stays as it is."""
    C, W1, _, bngain, bnbias, W2, b2 = run.parameters
    n, n_embd = BATCH, C.shape[1]
    onehot = torch.eye(C.shape[0])
    for first in range(0, steps, AHEAD):
        # (1) a thousand minibatches at once
        ix = torch.randint(0, X.shape[0], (min(AHEAD, steps - first), n), generator=run.generator)
        probabilities = torch.empty(*ix.shape, 1)  # of the right characters, for the loss
        batches = zip(
            X[ix].flatten(1).unbind(),
            Y[ix].unsqueeze(2).unbind(),
            onehot[Y[ix]].unbind(),
            probabilities.unbind(),
            strict=True,
        )
        for Xb, Yb, right, probability in batches:
            # forward: (2) no bias before a batch normalisation, (3) fused calls, (4) in place
            emb = C.index_select(0, Xb)
            embcat = emb.view(n, -1)
            hprebn = embcat.mm(W1)
            bnvar, bnmean = torch.var_mean(hprebn, 0, correction=1, keepdim=True)
            bnvar_inv = bnvar.add_(1e-5).rsqrt_()
            bnraw = hprebn.sub_(bnmean).mul_(bnvar_inv)
            h = torch.addcmul(bnbias, bnraw, bngain).tanh_()
            probs = torch.addmm(b2, h, W2).softmax(1)
            torch.gather(probs, 1, Yb, out=probability)
            # backward: (5) the learning rate goes in at the top, so that updates come out below
            step = probs.sub_(right).mul_(-learning_rate / n)
            dh = step.mm(W2.T)
            dhpreact = torch.addcmul(dh, dh * h, h, value=-1)
            dbngain = (dhpreact * bnraw).sum(0, keepdim=True)
            dbnbias = dhpreact.sum(0, keepdim=True)
            dhprebn = dhpreact.sub_(dbnbias / n).addcmul_(bnraw, dbngain / (1 - n))
            dhprebn.mul_(bnvar_inv.mul_(bngain))
            demb = dhprebn.mm(W1.T)
            # update: (6) gradient and update in one call, without a gradient in between
            W2.addmm_(h.T, step)
            b2.add_(step.sum(0))
            bngain.add_(dbngain)
            bnbias.add_(dbnbias)
            W1.addmm_(embcat.T, dhprebn)
            C.index_add_(0, Xb, demb.view(-1, n_embd))
        # (7) the losses of all these steps at once
        run.losses.extend((-probabilities.log().mean((1, 2))).tolist())


def matrix_products(parameters: Parameters, steps: int) -> None:
    """The six matrix products of a step, alone: nothing that trains this network is faster."""
    W1, W2 = parameters.W1, parameters.W2
    embcat, dhprebn = torch.ones(BATCH, W1.shape[0]), torch.ones(BATCH, W1.shape[1])
    h, dlogits = torch.ones(BATCH, W2.shape[0]), torch.ones(BATCH, W2.shape[1])
    hprebn, logits = embcat @ W1, h @ W2
    dh, dW2 = dlogits @ W2.T, h.T @ dlogits
    dembcat, dW1 = dhprebn @ W1.T, embcat.T @ dhprebn
    for _ in range(steps):
        torch.mm(embcat, W1, out=hprebn)
        torch.mm(h, W2, out=logits)
        torch.mm(dlogits, W2.T, out=dh)
        torch.mm(h.T, dlogits, out=dW2)
        torch.mm(dhprebn, W1.T, out=dembcat)
        torch.mm(embcat.T, dhprebn, out=dW1)
