"""Autograd's gradients at a notebook's own values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import pytest
import torch
from torch import Tensor

from grader import live_references as module
from grader.live_references import live_references
from grader.program import parse_program


def squares(x: Annotated[Tensor, "n, m"], W: Annotated[Tensor, "m, k"]) -> Tensor:
    h = x @ W
    loss = (h * h).sum()
    return loss


def scaled(x: Annotated[Tensor, "n, m"], k: Annotated[Tensor, "n"]) -> Tensor:
    h = x * k
    loss = h.sum()
    return loss


PROGRAM = parse_program(squares)


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT", {})


@pytest.fixture
def inputs() -> dict[str, Tensor]:
    return {"x": torch.tensor([[1.0, 2.0]]), "W": torch.tensor([[3.0], [4.0]])}


def gradient_of_w(inputs: dict[str, Tensor]) -> list[float]:
    return live_references(PROGRAM, inputs)["W"].flatten().tolist()


def test_they_are_autograds(inputs: dict[str, Tensor]) -> None:
    assert gradient_of_w(inputs) == [22.0, 44.0]


def test_the_same_values_are_not_differentiated_again(inputs: dict[str, Tensor]) -> None:
    first = live_references(PROGRAM, inputs)
    same = {name: value.clone().requires_grad_() for name, value in inputs.items()}
    assert live_references(PROGRAM, same) is first


def test_a_value_changed_in_place_counts(inputs: dict[str, Tensor]) -> None:
    inputs["W"].requires_grad_()
    gradient_of_w(inputs)
    inputs["W"].data += 1  # behind autograd's back, as training does it
    assert gradient_of_w(inputs) == [28.0, 56.0]


def test_another_dtype_counts(inputs: dict[str, Tensor]) -> None:
    gradient_of_w(inputs)
    doubles = {name: value.double() for name, value in inputs.items()}
    assert live_references(PROGRAM, doubles)["W"].dtype is torch.float64


@pytest.fixture
def _threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("_threads")
def test_another_number_of_threads_counts(inputs: dict[str, Tensor]) -> None:
    torch.set_num_threads(1)
    first = live_references(PROGRAM, inputs)
    torch.set_num_threads(2)
    assert live_references(PROGRAM, inputs) is not first


def test_what_is_no_tensor_is_not_kept(inputs: dict[str, Tensor]) -> None:
    program = parse_program(scaled)
    for k in (3, 4):
        found = live_references(program, {"x": inputs["x"], "k": k})
        assert found["x"].flatten().tolist() == [k, k]


def test_unfit_inputs_raise_as_they_do(inputs: dict[str, Tensor]) -> None:
    with pytest.raises(TypeError):
        live_references(PROGRAM, {**inputs, "W": None})
    assert gradient_of_w(inputs) == [22.0, 44.0]
