"""The colleague's backward pass of notebook 1: one branch is missing, the rest is right."""

import torch

from makemore_data import atomic, colleagues_gradients
from makemore_data.model.parameters import Parameters, init_parameters

WRONG = {"hprebn", "embcat", "emb", "C", "W1", "b1"}
"""What lies behind the branch that is missing."""


def test_the_fault_is_the_branch_through_the_mean_and_nothing_else() -> None:
    g = torch.Generator().manual_seed(7)
    parameters = Parameters(*(p.double() for p in init_parameters(g, n_hidden=16)))
    Xb, Yb = torch.randint(0, 27, (8, 3), generator=g), torch.randint(0, 27, (8,), generator=g)
    theirs = colleagues_gradients(Xb, Yb, *parameters)

    watched = [p.clone().requires_grad_() for p in parameters]
    right = torch.autograd.grad(atomic(Xb, Yb, *watched), watched)
    for name, gradient in zip(Parameters._fields, right, strict=True):
        assert torch.allclose(theirs[name], gradient) == (name not in WRONG), name

    repaired = theirs["hprebn"] + theirs["bnmeani"] / len(Xb)
    assert torch.allclose(parameters.C[Xb].view(8, -1).T @ repaired, right[1])
