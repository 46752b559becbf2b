from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from grader.classroom.gradebook.alike.pairs import FEWEST_STUDENTS, Pile, fingerprint, pairs


def shared_by(
    students: Sequence[Sequence[str]], handed_out: Sequence[str] = ()
) -> dict[tuple[int, int], float]:
    """What pairs share; each line is a part of its own."""
    pile = Pile(map(fingerprint, handed_out))
    for lines in students:
        pile.add((fingerprint(line), part) for part, line in enumerate(lines))
    weighed = pile.weigh()
    return {(pair.one, pair.other): weighed.in_lines(pair.excess) for pair in pairs(weighed)}


def own(student: int, number: int = 12) -> list[str]:
    """Lines that nobody else wrote."""
    return [f"line {line} of {student}" for line in range(number)]


def test_a_line_that_only_two_wrote_counts_one() -> None:
    copied = own(0)
    students = [copied, *(own(number) for number in range(1, 40)), [*copied[:8], *own(40)]]
    found = shared_by(students)
    assert found.keys() == {(0, 40)}
    assert found[0, 40] == pytest.approx(8, abs=0.5)


def test_what_everybody_writes_says_nothing() -> None:
    everybody = [f"common {line}" for line in range(20)]
    assert shared_by([[*everybody, *own(number)] for number in range(30)]) == {}


def test_what_was_handed_out_says_nothing() -> None:
    lines = own(0)
    students = [lines, lines, *(own(number) for number in range(2, 30))]
    assert (0, 1) in shared_by(students)
    assert (0, 1) not in shared_by(students, handed_out=lines)


def test_who_wrote_one_line_of_a_part_wrote_the_others_too() -> None:
    pile = Pile()
    lines = [fingerprint(line) for line in own(0)]
    for part in (0, 0, *range(1, 30)):
        others = [(fingerprint(line), 0) for line in own(part)]
        pile.add([(line, 0) for line in lines] if part == 0 else others)
    weighed = pile.weigh()
    (pair,) = pairs(weighed)
    assert weighed.in_lines(pair.score) == pytest.approx(1)


def test_a_rarer_line_says_more() -> None:
    def of_two_who_share_with(others: int) -> float:
        lines = own(0)
        return shared_by(
            [lines, lines, *([*lines, *own(n)] for n in range(2, 2 + others))]
            + [own(number) for number in range(2 + others, 100)]
        )[0, 1]

    assert of_two_who_share_with(0) > of_two_who_share_with(5) > of_two_who_share_with(40) > 0


def test_a_solution_that_hundreds_have_is_found_in_a_larger_class() -> None:
    solution = own(0)
    copies = {number * 3 for number in range(200)}
    students = [solution if n in copies else own(n) for n in range(1000)]
    found = shared_by(students)
    assert {student for pair in found for student in pair} == copies
    assert min(found.values()) > 2


def test_of_a_handful_nobody_can_say_what_is_rare() -> None:
    students = [own(0), *(own(number) for number in range(FEWEST_STUDENTS - 2)), own(99)]
    assert students[0] == students[1]
    assert (0, 1) in shared_by(students)
    assert shared_by(students[:-1]) == {}
    assert shared_by([]) == {}


def test_who_wrote_nothing_is_nobody() -> None:
    pile = Pile([1])
    assert [pile.add([]), pile.add([(1, 0)]), pile.add([(2, 0)])] == [False, False, True]
    assert pile.weigh().students == 1


def test_the_order_of_lines_does_not_matter() -> None:
    chance, lines = random.Random(0), own(0)
    others = [own(number) for number in range(1, 30)]
    mixed = chance.sample(lines, len(lines))
    assert shared_by([lines, mixed, *others]) == pytest.approx(shared_by([lines, lines, *others]))
