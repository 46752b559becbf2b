"""What the two pieces of notebook 4's last part are seen to do, and the course's own of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.notebook.training.trial import BLOCK_SIZE, N_HIDDEN, Fact, Part, Trial, kind_of, rule
from grader.printable import listed
from makemore_data.model.parameters import Parameters
from makemore_data.training.train import begin_run

EPS = 1e-8


def adam(
    parameters: Sequence[Tensor],
    gradients: Sequence[Tensor],
    means: Sequence[Tensor],
    squares: Sequence[Tensor],
    step: int,
    rate: float = 0.001,
    eps: float = EPS,
) -> None:
    """Update parameters and both running means in place; the first step has the number 1."""
    for p, d, m, v in zip(parameters, gradients, means, squares, strict=True):
        m.copy_(0.9 * m + 0.1 * d)
        v.copy_(0.999 * v + 0.001 * d**2)
        m_hat = m / (1 - 0.9**step)
        v_hat = v / (1 - 0.999**step)
        p.sub_(rate * m_hat / (v_hat.sqrt() + eps))


def adam_facts(piece: Part) -> Iterator[Fact]:
    """Take three steps with three parameters, then again at another rate."""
    g = torch.Generator().manual_seed(3)
    # float64: a parameter near 1 moves by a thousandth of that.
    gradients = [
        [torch.randn(shape, generator=g, dtype=torch.float64) for shape in ((5,), (3, 4), (1, 6))]
        for _ in range(3)
    ]
    for *_, last in gradients:
        last.mul_(EPS)[0, 0] = 0.0  # so that it shows where eps is, and if it is missing
    seen: dict[str, Tensor] = {}
    for settings in ({}, {"rate": 0.03, "eps": 0.02}):
        parameters, means, squares = kept = [
            [make(gradient) for gradient in gradients[0]]
            for make in (torch.ones_like, torch.zeros_like, torch.zeros_like)
        ]
        for step, due in enumerate(gradients, start=1):
            given, lists = [d.clone() for d in due], [[*tensors] for tensors in kept]
            before = [p.clone() for p in parameters]
            piece(lists[0], given, lists[1], lists[2], step, **settings)
            yield rule(
                all(map(torch.equal, given, due)),
                "It changes the gradients. Only the parameters and both means are to change.",
            )
            names = ("parameters", "means", "squares")
            for name, now, then in zip(names, lists, kept, strict=True):
                yield rule(
                    [*map(id, now)] == [*map(id, then)],
                    f"It puts other tensors into the list `{name}`. Change those that are in it, in"
                    " place.",
                )
            moves = [p - old for p, old in zip(parameters, before, strict=True)]
            for number, (m, v, move) in enumerate(zip(means, squares, moves, strict=True), start=1):
                where = f"of parameter {number}, after step {step}"
                where += f" with {settings}," if settings else ","
                seen[f"the running mean {where}"] = m.clone()
                seen[f"the mean of the squares {where}"] = v.clone()
                seen[f"the change {where}"] = move
            for p in parameters:
                p[~p.isfinite()] = 1.0  # otherwise all that follows would be NaN
    yield rule(
        any(bool(tensor.any()) for tensor in seen.values()),
        "Nothing has changed, neither a parameter nor a running mean. Change all of them in place:"
        " `mul`, `add` and `sub` without an underscore return new tensors.",
    )
    # A 0.999 in float32 costs a tenth of this.
    yield Fact("", seen, tolerance=2e-4)


@torch.enable_grad()  # training runs without
def deep_backward(Xb: Tensor, Yb: Tensor, *parameters: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Autograd's gradients of the network with two hidden layers.

    Args:
        Xb: windows, int64 (n, block_size).
        Yb: the characters that follow, int64 (n,).
        parameters: the nine, in the order of `PARAMETERS`.

    Returns:
        The loss and the gradients, in the same order.
    """
    watched = [parameter.detach().requires_grad_() for parameter in parameters]
    C, W1, b1, bngain, bnbias, W2, b2, W3, b3 = watched
    hprebn = C[Xb].flatten(1) @ W1 + b1
    mean, variance = hprebn.mean(0, keepdim=True), hprebn.var(0, keepdim=True)
    bnraw = (variance + 1e-5).rsqrt() * (hprebn - mean)
    hpreact = bngain * bnraw + bnbias
    h = hpreact.tanh()
    hpreact2 = h @ W3 + b3
    h2 = hpreact2.tanh()
    logits = h2 @ W2 + b2
    loss = F.cross_entropy(logits, Yb)
    # Not `loss` itself: a known mistake changes that, for its gradients alone.
    return F.cross_entropy(logits, Yb).detach(), torch.autograd.grad(loss, watched)


def but_back(value: Tensor, like: Tensor) -> Tensor:
    """A value whose gradient goes back as if it were another.

    The known mistakes of `deep_backward` are made in its forward pass: the values stay as they are
    and the slopes do not.
    """
    return value.detach() + like - like.detach()


PARAMETERS = (*Parameters._fields, "W3", "b3")
MADE_OF = {
    "dlogits": ("W2", "b2"),
    "dhpreact2": ("W3", "b3"),
    "dhpreact": ("bngain", "bnbias"),
    "dhprebn": ("W1", "b1", "C"),
}
"""Which gradients are made of which, in the order in which a backward pass comes to them."""
NOISE = 1e-6
"""How far off a gradient of this network may be that is zero apart from rounding."""


def deep_backward_facts(piece: Part) -> Iterator[Fact]:
    """Ask for the gradients of a network whose layers all have different sizes."""
    n_hidden2, windows = 5, 9
    g = torch.Generator().manual_seed(7)
    parameters = begin_run(N_HIDDEN, BLOCK_SIZE, seed=7).parameters._replace(
        W2=torch.randn((n_hidden2, 27), generator=g)
    )
    W3 = torch.randn((N_HIDDEN, n_hidden2), generator=g) / N_HIDDEN**0.5
    given = (*parameters, W3, 0.1 * torch.randn(n_hidden2, generator=g))
    X = torch.randint(27, (windows, BLOCK_SIZE), generator=g)
    Y = torch.randint(27, (windows,), generator=g)
    returned = piece(X, Y, *(parameter.clone() for parameter in given))
    yield rule(
        isinstance(returned, tuple | list) and len(returned) == 2,
        f"It returns {kind_of(returned)}, but it should return two things: the loss, and a tuple of"
        " nine gradients.",
    )
    loss, gradients = returned
    yield rule(
        isinstance(loss, Tensor),
        "It returns the loss as a number. Return the tensor, without `.item()`.",
    )
    yield Fact("the loss", loss.detach())
    count = len(gradients) if isinstance(gradients, tuple | list) else 0
    yield rule(
        count == len(PARAMETERS),
        f"It returns {count or 'no tuple of'} gradients, and there are {len(PARAMETERS)}"
        f" parameters: {listed(f'd{name}' for name in PARAMETERS)}, in this order.",
    )
    by_name = dict(zip(PARAMETERS, gradients, strict=True))
    for arriving, names in MADE_OF.items():
        layer = {f"`d{name}`, which is made of `{arriving}`,": by_name[name] for name in names}
        yield Fact("", layer, noise=NOISE)


LAST_TRIALS = {
    "adam": Trial(adam, adam_facts),
    "deep_backward": Trial(deep_backward, deep_backward_facts),
}
