"""The corpus of mistakes from public notebooks is in two halves that share nobody."""

from __future__ import annotations

from corpus.readers.people import Part
from corpus.readers.public import mistakes, part_of


def test_a_repository_is_in_one_half_and_a_mistake_in_the_corpus_once() -> None:
    for part in Part:
        assert {part_of(mistake.repository) for mistake in mistakes(part)} == {part}
    everyone = mistakes()
    assert len({mistake.key for mistake in everyone}) == len(everyone) >= 120
