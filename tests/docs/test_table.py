import doctest

from docs.building import table
from docs.building.table import table as made


def test_the_example_holds() -> None:
    assert doctest.testmod(table).failed == 0


def test_a_cell_is_one_line_that_ends_no_cell() -> None:
    assert made(["a"], [["x\n  | y"]]).splitlines()[-1] == "| x \\| y |"
