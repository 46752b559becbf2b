from importlib import import_module
from pathlib import Path

import pytest
import torch

from tests.helpers.annotated_functions import SIZES, run

FOLDER = Path(__file__).parents[2] / "benchmarks" / "forward_functions"
NAMES = sorted(path.stem for path in FOLDER.glob("[!_]*.py"))


def test_there_are_ten() -> None:
    assert len(NAMES) == 10


@pytest.mark.parametrize("lengths", SIZES, ids=["small", "other"])
@pytest.mark.parametrize("name", NAMES)
def test_each_has_a_gradient_for_every_input(name: str, lengths: tuple[int, ...]) -> None:
    module = import_module(f"benchmarks.forward_functions.{name}")
    result = run(module, name, lengths, seed=1)
    assert result.asked
    for gradient in result.asked:
        assert torch.isfinite(result.gradients[gradient]).all()
        assert result.gradients[gradient].abs().max() > 0
