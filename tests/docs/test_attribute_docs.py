from enum import StrEnum

from docs.building.attribute_docs import attribute_docs
from grader.diagnosis.kinds import Kind
from grader.verdict import Outcome


class Fruit(StrEnum):
    APPLE = "apple"
    """round,
    and red"""
    PEAR = "pear"
    PLUM = "plum"
    """blue"""


def test_a_string_belongs_to_the_assignment_above_it() -> None:
    assert attribute_docs(Fruit) == {"APPLE": "round, and red", "PLUM": "blue"}


def test_every_verdict_and_every_kind_of_mistake_says_what_it_means() -> None:
    assert attribute_docs(Outcome).keys() == {outcome.name for outcome in Outcome}
    assert attribute_docs(Kind).keys() == {kind.name for kind in Kind}
