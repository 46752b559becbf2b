import doctest

from docs.building import fold


def test_the_example_holds() -> None:
    assert doctest.testmod(fold).failed == 0
