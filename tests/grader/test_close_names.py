import pytest

from grader.close_names import nearest

KNOWN = ("dlogprobs", "dprobs", "dcounts_sum", "dcounts", "dh", "dW1", "dW2", "dC")


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("counts", "dcounts"),
        ("dcounst", "dcounts"),
        ("DCOUNTS", "dcounts"),
        ("dw1", "dW1"),
        ("w2", "dW2"),
        ("C", "dC"),
        (" dh ", "dh"),
        ("dlogprob", "dlogprobs"),
    ],
)
def test_the_likeliest_comes_first(name: str, first: str) -> None:
    assert nearest(name, KNOWN)[0] == first


def test_at_most_three_and_each_once() -> None:
    found = nearest("dcounts_sums", [*KNOWN, *KNOWN, "dcounts_sum_inv", "dcounts_sum_in"])
    assert len(found) == len(set(found)) == 3


def test_nothing_alike() -> None:
    assert nearest("zebra", KNOWN) == []
    assert nearest("", KNOWN) == []
