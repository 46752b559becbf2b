import pytest

from grader.close_names import SLIP, nearest

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


@pytest.mark.parametrize(
    ("name", "known", "slips"),
    [
        ("bnvar_inv", ["bngain", "bnbias"], []),
        ("dlogits", ["dloss"], []),
        ("dprob", ["dprobs", "dh"], ["dprobs"]),
    ],
)
def test_another_name_is_no_slip(name: str, known: list[str], slips: list[str]) -> None:
    assert nearest(name, known, SLIP) == slips
