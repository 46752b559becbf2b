"""The tuned step, translated to machine code where there is a C++ compiler."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor

from makemore_data.training.solved.tuned import AHEAD
from makemore_data.training.train import BATCH, Loop, Run, begin_run

Used = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]
"""The parameters without `b1`."""

STEPS_A_CALL = 10
"""How many steps the faster of the two compiled loops does without coming back to Python."""


class NoCompiler(Exception):
    """Nothing here can compile; the message is a sentence."""


def training_step(
    C: Tensor,
    W1: Tensor,
    bngain: Tensor,
    bnbias: Tensor,
    W2: Tensor,
    b2: Tensor,
    Xb: Tensor,
    Yb: Tensor,
    right: Tensor,
    learning_rate: float,
) -> Tensor:
    """One step of `tuned_loop`, written plainly: the compiler fuses, so that we need not.

    `right` is Yb as one-hot rows, (n, vocab_size). Returns the probabilities of the right
    characters, (n, 1).
    """
    n = right.shape[0]
    embcat = C[Xb].view(n, -1)
    hprebn = embcat @ W1
    bnvar, bnmean = torch.var_mean(hprebn, 0, correction=1, keepdim=True)
    bnvar_inv = torch.rsqrt(bnvar + 1e-5)
    bnraw = (hprebn - bnmean) * bnvar_inv
    h = torch.tanh(bngain * bnraw + bnbias)
    probs = torch.softmax(h @ W2 + b2, 1)
    step = (probs - right) * (-learning_rate / n)
    dh = step @ W2.T
    dhpreact = dh * (1 - h * h)
    dbngain = (dhpreact * bnraw).sum(0, keepdim=True)
    dbnbias = dhpreact.sum(0, keepdim=True)
    dhprebn = (dhpreact - dbnbias / n - bnraw * dbngain / (n - 1)) * (bnvar_inv * bngain)
    demb = dhprebn @ W1.T
    W2.addmm_(h.T, step)
    b2.add_(step.sum(0))
    bngain.add_(dbngain)
    bnbias.add_(dbnbias)
    W1.addmm_(embcat.T, dhprebn)
    C.index_add_(0, Xb, demb.view(-1, C.shape[1]))
    return probs.gather(1, Yb)


def compile_loop(steps_a_call: int = 1) -> Loop:
    """A loop around the compiled step, which takes half a minute to make.

    With more than one step a call, Python is visited once for all of them, and what calls the
    matrix products is C++ too.

    Raises:
        NoCompiler: torch.compile cannot work on this machine.
    """

    def several_steps(
        parameters: Used, Xs: Tensor, Ys: Tensor, rights: Tensor, learning_rate: float
    ) -> Tensor:
        return torch.stack(
            [
                training_step(*parameters, Xs[i], Ys[i], rights[i], learning_rate)
                for i in range(steps_a_call)
            ]
        )

    options: dict[str, Any] = {"cpp_wrapper": steps_a_call > 1}
    compiled = torch.compile(several_steps, fullgraph=True, dynamic=False, options=options)

    @torch.no_grad()
    def compiled_loop(
        run: Run, X: Tensor, Y: Tensor, steps: int, learning_rate: float = 0.1
    ) -> None:
        if steps % steps_a_call:
            raise ValueError(f"This loop does {steps_a_call} steps a call, and not {steps} in all.")
        C, W1, _, bngain, bnbias, W2, b2 = run.parameters
        parameters = C, W1, bngain, bnbias, W2, b2
        onehot = torch.eye(C.shape[0])
        ahead = AHEAD // steps_a_call * steps_a_call
        for first in range(0, steps, ahead):
            number = min(ahead, steps - first)
            ix = torch.randint(0, X.shape[0], (number, BATCH), generator=run.generator)
            batches = zip(
                torch.split(X[ix].flatten(1), steps_a_call),
                torch.split(Y[ix].unsqueeze(2), steps_a_call),
                torch.split(onehot[Y[ix]], steps_a_call),
                strict=True,
            )
            picked = [compiled(parameters, *batch, learning_rate) for batch in batches]
            run.losses.extend((-torch.cat(picked).log().mean((1, 2))).tolist())

    _try_out(compiled_loop, steps_a_call)
    return compiled_loop


def _try_out(loop: Loop, steps: int) -> None:
    """Have the step compiled now, at the sizes of the race.

    Raises:
        NoCompiler: it cannot be.
    """
    run = begin_run()
    X, Y = torch.zeros(BATCH, 3, dtype=torch.int64), torch.zeros(BATCH, dtype=torch.int64)
    with warnings.catch_warnings():
        # The warnings are about torch's own modules.
        warnings.simplefilter("ignore")
        try:
            loop(run, X, Y, steps)
        # No compiler, one that is too old, a Python without headers: torch has a type for each.
        except Exception as error:
            reason = str(error).strip().partition("\n")[0].rstrip(".")
            raise NoCompiler(f"torch.compile does not work here ({reason}).") from error
