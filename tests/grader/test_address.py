from __future__ import annotations

import doctest

import pytest

import grader.address
from grader.address import NotAnAddress, owner_and_name, repository_address


def test_examples_hold() -> None:
    assert doctest.testmod(grader.address).failed == 0


@pytest.mark.parametrize(
    "text",
    ["a-b/c.d_e", "https://github.com/a-b/c.d_e", "https://github.com/a-b/c.d_e/", " a-b/c.d_e "],
)
def test_each_way_to_write_it_is_the_same_address(text: str) -> None:
    address = repository_address(text)
    assert address == "https://github.com/a-b/c.d_e"
    assert owner_and_name(address) == "a-b/c.d_e"


@pytest.mark.parametrize(
    "text", ["", "name", "a/b/c", "https://gitlab.com/a/b", "a/b c", "../b", "a/..", 'a/b"', "a/"]
)
def test_what_is_none_gets_a_sentence(text: str) -> None:
    with pytest.raises(NotAnAddress, match="should look like owner/name"):
        repository_address(text)
