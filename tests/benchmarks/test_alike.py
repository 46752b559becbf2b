import random

import pytest

from benchmarks.alike import lines_of, shared_by
from benchmarks.students.independent import independent, partly_copied, pools, written
from corpus.readers.exercise_text import GRADIENTS
from grader.commands.class_options import SIMILAR


@pytest.mark.slow  # the pools hold every fault
def test_copies_are_listed_and_nobody_else_of_an_independent_class() -> None:
    choices = [independent(random.Random(number)) for number in range(60)]
    texts = [written(each, random.Random(number)) for number, each in enumerate(choices)]
    copies = {(source, 60 + source): choices[source] for source in range(3)}
    for each in copies.values():
        copied = partly_copied(each, 1.0, random.Random(0))
        texts.append(written(copied, random.Random("copies"), other_layout=True))
    assert len({*texts}) == 63
    shared = shared_by([*lines_of(texts)])
    assert {pair for pair, found in shared.items() if found >= SIMILAR} == {*copies}


@pytest.mark.slow  # the pools hold every fault
def test_each_gradient_can_be_written_in_many_ways() -> None:
    right, faulty = pools()
    assert {*right} == {*faulty} == {*GRADIENTS}
    assert min(len({*ways}) for ways in right.values()) >= 10
