import doctest

from docs.building import markdown


def test_the_examples_hold() -> None:
    assert doctest.testmod(markdown).failed == 0


def test_a_cell_is_one_line_that_ends_no_cell() -> None:
    assert markdown.table(["a"], [["x\n  | y"]]).splitlines()[-1] == "| x \\| y |"
