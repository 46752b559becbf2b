"""The colleague's backward pass of notebook 1: one branch is missing, the rest is right."""

import pytest
import torch

from makemore_data import atomic, colleagues_gradients, judge_fault
from makemore_data.model.colleague import BEHIND_IT, FAULT
from makemore_data.model.parameters import Parameters, init_parameters

TENSORS = {name: torch.zeros(2) for name in ("bndiff", "embcat", "h", "hprebn")}


def test_the_fault_is_the_branch_through_the_mean_and_nothing_else() -> None:
    g = torch.Generator().manual_seed(7)
    parameters = Parameters(*(p.double() for p in init_parameters(g, n_hidden=16)))
    Xb, Yb = torch.randint(0, 27, (8, 3), generator=g), torch.randint(0, 27, (8,), generator=g)
    theirs = colleagues_gradients(Xb, Yb, *parameters)

    watched = [p.clone().requires_grad_() for p in parameters]
    right = torch.autograd.grad(atomic(Xb, Yb, *watched), watched)
    for name, gradient in zip(Parameters._fields, right, strict=True):
        assert torch.allclose(theirs[name], gradient) == (name not in BEHIND_IT), name

    repaired = theirs["hprebn"] + theirs["bnmeani"] / len(Xb)
    assert torch.allclose(parameters.C[Xb].view(8, -1).T @ repaired, right[1])


@pytest.mark.parametrize("choice", ["hprebn", "dhprebn", TENSORS["hprebn"]])
def test_the_fault_is_found_by_the_tensor_or_its_name(choice: object) -> None:
    name, verdict = judge_fault(choice, TENSORS)
    assert name == FAULT
    assert verdict == "dhprebn is wrong, and all that lead to it are right: this is the line."


NONE_OF_THEM = (
    "Give one of bndiff, embcat, h, hprebn, or its name in quotes."
    " If the forward cell ran again, run the cell above as well."
)


@pytest.mark.parametrize(
    ("choice", "name", "verdict"),
    [
        (..., "", "to do"),
        ("hprebm", "", NONE_OF_THEM),
        (torch.zeros(2), "", NONE_OF_THEM),
        ("h", "", "dh is right, as are all that lead to it: the fault lies further back."),
        (
            TENSORS["embcat"],
            "embcat",
            "dembcat is wrong, but not the first that is: on the board, look at what its arrows"
            " come from.",
        ),
    ],
)
def test_what_is_not_the_fault_gets_a_verdict_too(choice: object, name: str, verdict: str) -> None:
    assert judge_fault(choice, TENSORS) == (name, verdict)
