from __future__ import annotations

import importlib.util

import pytest
import torch
from torch import Tensor

from makemore_data import autograd_loop, begin_run, contestants
from makemore_data.solved.lecture import lecture_backward
from makemore_data.training import Loop


@pytest.fixture(autouse=True)
def quick_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)


def data() -> tuple[Tensor, Tensor]:
    g = torch.Generator().manual_seed(5)
    return torch.randint(0, 27, (90, 3), generator=g), torch.randint(0, 27, (90,), generator=g)


def test_everybody_takes_part_and_autograd_comes_first() -> None:
    loops, absent = contestants("mine", lecture_backward)
    assert next(iter(loops)) == "autograd"
    assert list(loops)[1:4] == ["by hand, as in the lecture", "mine", "tuned"]
    assert len(loops) == 6
    assert absent == []


def test_each_of_them_trains_in_the_same_way() -> None:
    reference = begin_run()
    autograd_loop(reference, *data(), 10)
    for name, loop in contestants("mine", lecture_backward)[0].items():
        run = begin_run()
        loop(run, *data(), 10)
        assert run.losses == pytest.approx(reference.losses, rel=1e-3), name


def test_without_a_compiler_the_others_take_part(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_compile(*_: object, **__: object) -> Loop:
        def raises(*_: object) -> None:
            raise RuntimeError("No working C++ compiler found.")

        return raises

    monkeypatch.setattr(torch, "compile", no_compile)
    loops, (sentence,) = contestants("mine", lecture_backward)
    assert list(loops) == ["autograd", "by hand, as in the lecture", "mine", "tuned"]
    assert "No working C++ compiler" in sentence


def test_a_copy_without_the_answers_races_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    loops, (sentence,) = contestants("mine", lecture_backward)
    assert list(loops) == ["autograd", "mine"]
    assert "not in this copy of the course" in sentence
