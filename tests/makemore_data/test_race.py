from __future__ import annotations

import importlib

import pytest
import torch

from makemore_data import LIMIT, Run, race, race_table


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


def test_the_table_compares_with_the_first_and_with_the_limit() -> None:
    table = race_table({"autograd": 1000.0, "tuned": 2500.0, LIMIT: 10_000.0})
    assert table.splitlines()[2:] == [
        "| autograd | 1,000 | 1.0 | 10% |",
        "| tuned | 2,500 | 2.5 | 25% |",
        f"| {LIMIT} | 10,000 | 10.0 | 100% |",
    ]


def test_nobody_at_the_start_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(*_: object) -> None:
        raise AssertionError("the matrix products were run")

    monkeypatch.setattr(importlib.import_module("makemore_data.race"), "matrix_products", raises)
    assert race({}, torch.zeros(1), torch.zeros(1)) == {}
