import doctest

from docs.building import toc
from docs.building.toc import Heading, nested


def test_the_example_holds() -> None:
    assert doctest.testmod(toc).failed == 0


def test_a_heading_stands_in_the_last_one_above_it() -> None:
    levels = [2, 3, 4, 3, 2]
    top = nested([Heading(level, str(number), "") for number, level in enumerate(levels)])
    assert [entry["id"] for entry in top] == ["0", "4"]
    assert [entry["id"] for entry in top[0]["children"]] == ["1", "3"]
    assert [entry["id"] for entry in top[0]["children"][0]["children"]] == ["2"]
