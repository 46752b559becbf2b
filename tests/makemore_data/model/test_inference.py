from __future__ import annotations

import pytest
import torch

from makemore_data import (
    begin_run,
    build_vocabulary,
    calibrate,
    fused_forward,
    mean_loss,
    sample_names,
)

G = torch.Generator().manual_seed(5)
X = torch.randint(0, 27, (300, 3), generator=G)
Y = torch.randint(0, 27, (300,), generator=G)


def test_calibrated_on_a_batch_the_network_does_what_it_does_in_training() -> None:
    parameters = begin_run(20).parameters
    loss = mean_loss(parameters, *calibrate(parameters, X), X, Y)
    assert loss == pytest.approx(fused_forward(X, Y, *parameters).item(), rel=1e-5)


def test_a_single_example_is_enough() -> None:
    parameters = begin_run(20).parameters
    statistics = calibrate(parameters, X)
    each = [mean_loss(parameters, *statistics, X[i : i + 1], Y[i : i + 1]) for i in range(300)]
    assert sum(each) / 300 == pytest.approx(mean_loss(parameters, *statistics, X, Y), rel=1e-5)


def test_samples_follow_their_seed_alone() -> None:
    parameters = begin_run(20).parameters
    statistics = calibrate(parameters, X)
    _, itos = build_vocabulary()
    first = sample_names(parameters, *statistics, itos, 3)
    torch.rand(7)  # the global generator plays no part
    assert sample_names(parameters, *statistics, itos, 3) == first
    assert sample_names(parameters, *statistics, itos, 3, seed=1) != first
    assert len(first) == 20
    assert set("".join(first)) <= set("abcdefghijklmnopqrstuvwxyz")


def test_samples_are_cut_at_the_first_dot() -> None:
    parameters = begin_run(20).parameters
    with torch.no_grad():
        parameters.b2[0] = 100.0
    _, itos = build_vocabulary()
    assert sample_names(parameters, *calibrate(parameters, X), itos, 3, count=3) == ["", "", ""]
