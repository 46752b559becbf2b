from __future__ import annotations

import inspect

import pytest
import torch

from makemore_data import LECTURE_SEED, Parameters, atomic, init_parameters


def lecture_generator() -> torch.Generator:
    return torch.Generator().manual_seed(LECTURE_SEED)


@pytest.mark.parametrize(("n_hidden", "count"), [(64, 4_137), (200, 12_297)])
def test_the_lectures_number_of_parameters(n_hidden: int, count: int) -> None:
    assert sum(p.nelement() for p in init_parameters(n_hidden=n_hidden)) == count


def test_shapes() -> None:
    parameters = init_parameters(vocab_size=7, n_embd=5, n_hidden=11, block_size=2)
    assert {name: tuple(p.shape) for name, p in parameters._asdict().items()} == {
        "C": (7, 5),
        "W1": (10, 11),
        "b1": (11,),
        "bngain": (1, 11),
        "bnbias": (1, 11),
        "W2": (11, 7),
        "b2": (7,),
    }


def test_the_order_is_that_of_the_forward_programs_inputs() -> None:
    assert list(inspect.signature(atomic).parameters) == ["Xb", "Yb", *Parameters._fields]


@pytest.mark.parametrize("n_hidden", [64, 200])
def test_the_lectures_draws_and_the_minibatch_after_them(n_hidden: int) -> None:
    g = lecture_generator()
    C = torch.randn((27, 10), generator=g)
    W1 = torch.randn((10 * 3, n_hidden), generator=g) * (5 / 3) / ((10 * 3) ** 0.5)
    b1 = torch.randn(n_hidden, generator=g) * 0.1
    W2 = torch.randn((n_hidden, 27), generator=g) * 0.1
    b2 = torch.randn(27, generator=g) * 0.1
    ix = torch.randint(0, 182_625, (32,), generator=g)

    ours = lecture_generator()
    parameters = init_parameters(ours, n_hidden=n_hidden)
    for name, expected in {"C": C, "W1": W1, "b1": b1, "W2": W2, "b2": b2}.items():
        assert torch.equal(getattr(parameters, name), expected), name
    assert torch.equal(torch.randint(0, 182_625, (32,), generator=ours), ix)


def test_batch_normalisation_is_drawn_around_one_and_zero_apart_from_all_else() -> None:
    first, second = init_parameters(), init_parameters(lecture_generator())
    assert torch.equal(first.bngain, second.bngain)
    assert torch.equal(first.bnbias, second.bnbias)
    drawn = (first.bngain.flatten() - 1) / 0.1
    assert not torch.allclose(drawn, first.C.flatten()[:64], atol=1e-3)
    other = init_parameters(torch.Generator().manual_seed(1))
    assert not torch.equal(first.bngain, other.bngain)
    many = init_parameters(n_hidden=20_000)
    assert many.bngain.mean().item() == pytest.approx(1.0, abs=0.01)
    assert many.bnbias.mean().item() == pytest.approx(0.0, abs=0.01)
    assert many.bngain.std().item() == pytest.approx(0.1, rel=0.05)
    assert many.bnbias.std().item() == pytest.approx(0.1, rel=0.05)


def test_nothing_is_zero() -> None:
    for name, p in init_parameters()._asdict().items():
        assert p.count_nonzero().item() == p.nelement(), name


def test_the_global_generator_is_left_alone() -> None:
    state = torch.get_rng_state()
    init_parameters()
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("requires_grad", [False, True])
def test_the_caller_decides_about_gradients(requires_grad: bool) -> None:
    for p in init_parameters(requires_grad=requires_grad):
        assert p.requires_grad is requires_grad
        assert p.is_leaf
        assert p.dtype == torch.float32
