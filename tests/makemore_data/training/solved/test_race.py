from __future__ import annotations

import pytest
import torch
from torch import Tensor

from makemore_data import Run, autograd_loop, begin_run
from makemore_data.training.solved.lecture import lecture_backward
from makemore_data.training.solved.race import LIMIT, contestants, matrix_products, race
from makemore_data.training.train import Loop


def test_every_loop_runs_on_its_own_run_and_the_limit_comes_last() -> None:
    seen: dict[str, list[Run]] = {"one": [], "two": []}
    loops = {name: lambda run, *_, name=name: seen[name].append(run) for name in seen}
    threads = torch.get_num_threads()
    rates = race(loops, torch.zeros(1), torch.zeros(1), steps=2, rounds=3)
    assert list(rates) == ["one", "two", LIMIT]
    assert all(rate > 0 for rate in rates.values())
    assert [len(set(map(id, runs))) for runs in seen.values()] == [1, 1]
    assert seen["one"][0] is not seen["two"][0]
    assert torch.get_num_threads() == threads


@pytest.fixture
def quick_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)


def data() -> tuple[Tensor, Tensor]:
    g = torch.Generator().manual_seed(5)
    return torch.randint(0, 27, (90, 3), generator=g), torch.randint(0, 27, (90,), generator=g)


@pytest.mark.usefixtures("quick_compiler")
def test_everybody_takes_part_and_autograd_comes_first() -> None:
    said: list[str] = []
    loops = contestants("mine", lecture_backward, say=said.append)
    assert next(iter(loops)) == "autograd"
    assert list(loops)[1:4] == ["by hand, as in the lecture", "mine", "tuned"]
    assert len(loops) == 6
    # What takes long is said before it begins.
    assert [line.startswith("compiling: ") for line in said] == [True, False, True, False]
    assert said[2].startswith(f"compiling: {list(loops)[-1]}; ")


@pytest.mark.usefixtures("quick_compiler")
def test_each_of_them_trains_in_the_same_way() -> None:
    reference = begin_run()
    autograd_loop(reference, *data(), 10)
    for name, loop in contestants("mine", lecture_backward).items():
        run = begin_run()
        loop(run, *data(), 10)
        assert run.losses == pytest.approx(reference.losses, rel=1e-3), name


def test_without_a_compiler_the_others_take_part(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_compile(*_: object, **__: object) -> Loop:
        def raises(*_: object) -> None:
            raise RuntimeError("No working C++ compiler found.")

        return raises

    monkeypatch.setattr(torch, "compile", no_compile)
    said: list[str] = []
    loops = contestants("mine", lecture_backward, say=said.append)
    assert list(loops) == ["autograd", "by hand, as in the lecture", "mine", "tuned"]
    assert "No working C++ compiler" in said[-1]


def test_the_limit_changes_no_parameter() -> None:
    parameters = begin_run().parameters
    matrix_products(parameters, 2)
    assert all(map(torch.equal, parameters, begin_run().parameters))
