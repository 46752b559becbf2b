"""Hidden instances: sizes, dtypes, reproducibility."""

from typing import Annotated

import torch
from torch import Tensor

from corpus.readers.lecture_course import ATOMIC, LECTURE_SIZES
from grader.program.instances import HIDDEN_SIZES
from grader.program.parse import parse_program

PROGRAM = parse_program(ATOMIC.forward)


def test_no_two_sizes_are_equal() -> None:
    instances = PROGRAM.hidden_instances(seed=1)
    sizes = [size for instance in instances for size in instance.sizes.values()]
    products = [i.sizes["block_size"] * i.sizes["n_embd"] for i in instances]
    everything = [*sizes, *products, *LECTURE_SIZES.values(), 30]
    assert len(set(everything)) == len(everything)


def test_sizes_are_those_the_annotations_name() -> None:
    assert set(PROGRAM.size_names) == set(LECTURE_SIZES)
    assert all(len(row) >= len(LECTURE_SIZES) for row in HIDDEN_SIZES)


def test_characters_repeat_within_a_batch() -> None:
    """Or `dC[Xb] = demb`, which forgets to accumulate, would look right."""
    for instance in PROGRAM.hidden_instances(seed=1):
        assert instance.values["Xb"].numel() > instance.sizes["vocab_size"]


def test_one_batch_has_fewer_examples_than_characters_and_one_has_more() -> None:
    first, second = PROGRAM.hidden_instances(seed=1)
    assert first.sizes["n"] < first.sizes["vocab_size"]
    assert second.sizes["n"] > second.sizes["vocab_size"]


def test_one_instance_is_larger_than_the_lecture_in_everything() -> None:
    """Or a row or column beyond the lecture's last could be left out unseen."""
    _, large = PROGRAM.hidden_instances(seed=1)
    assert set(large.sizes) == set(LECTURE_SIZES)
    assert all(large.sizes[name] > size for name, size in LECTURE_SIZES.items())
    assert int(large.values["Xb"].max()) >= LECTURE_SIZES["vocab_size"]
    assert int(large.values["Yb"].max()) >= LECTURE_SIZES["vocab_size"]


def test_values_have_the_annotated_shapes_and_dtypes() -> None:
    instance = PROGRAM.hidden_instances(seed=1)[0]
    sizes, values = instance.sizes, instance.values
    assert values["W1"].shape == (sizes["block_size"] * sizes["n_embd"], sizes["n_hidden"])
    assert values["bngain"].shape == (1, sizes["n_hidden"])
    assert values["Xb"].dtype == torch.int64
    assert int(values["Xb"].max()) < sizes["vocab_size"]
    assert values["logits"].dtype == torch.float64
    assert values["n"] == sizes["n"]


def lengths(x: Annotated[Tensor, "n, 2 * half - 1"], y: Annotated[Tensor, "1, n + half"]) -> Tensor:
    loss = x.sum() + y.sum()
    return loss


def test_a_length_is_made_of_products_sums_and_differences() -> None:
    program = parse_program(lengths)
    assert program.size_names == ("n", "half")
    values = program.instance({"n": 7, "half": 4}, 1, torch.float64).values
    assert (values["x"].shape, values["y"].shape) == ((7, 7), (1, 11))


def test_a_seed_means_the_same_values_in_both_precisions() -> None:
    double = PROGRAM.instance(LECTURE_SIZES, 5, torch.float64)
    single = PROGRAM.instance(LECTURE_SIZES, 5, torch.float32)
    other = PROGRAM.instance(LECTURE_SIZES, 6, torch.float64)
    assert torch.equal(double.values["W1"].float(), single.values["W1"])
    assert torch.equal(double.values["Yb"], single.values["Yb"])
    assert not torch.equal(double.values["W1"], other.values["W1"])


def test_eps_is_large_enough_beside_the_variance_to_be_missed() -> None:
    for instance in PROGRAM.hidden_instances(seed=1):
        assert float(instance.values["bnvar"].min()) < 1.0
