"""Pairs of submissions that share lines which hardly anybody else in the class wrote."""

# An inverted index, never all pairs: for each student the rarest of the lines that somebody else
# wrote too, and for each such line a few of those who wrote it. Only who meets there is compared,
# so that time and memory grow with the class, not with its square.

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RAREST = 24
"""Lines of a student that are looked up in the index."""

MOST_NEIGHBOURS, MOST_MEETINGS = 64, 16_000_000
"""Others who wrote a line, next in the order of the class, with whom a student is brought together.

They are fewer in a class of more than 10,000, for all meetings are in memory at once, 8 bytes each.
Those who share a whole answer meet in all of its lines, however many they are."""

FEWEST = 4
"""Lines of the index in which two have to meet to be compared."""

FEWEST_STUDENTS = 10
"""Of fewer students nobody can say what is rare among them."""

Numbers = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two students, by their numbers, and how much rarer than chance is what they share.

    `score` is the sum, over the parts of the first student's answer, of the rarest shared line's
    weight: the logarithm of students over students who wrote the line. `expected` is what the two
    share with a classmate taken at random.
    """

    one: int
    other: int
    score: float
    expected: float

    @property
    def excess(self) -> float:
        """What is shared beyond what could be expected, in nats."""
        return self.score - self.expected


def fingerprint(text: str) -> int:
    """A number of 64 bits for a normal line."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


class Pile:
    """The lines of all students who wrote one notebook: 10 bytes a line."""

    def __init__(self, handed_out: Iterable[int] = ()) -> None:
        self._handed_out = frozenset(handed_out)
        self._lines, self._parts = array("Q"), array("H")
        self._starts = array("Q", [0])

    def add(self, lines: Iterable[tuple[int, int]]) -> bool:
        """Add a student, by the fingerprint of each line with the number of its part.

        A line that was handed out, or that this student wrote before, says nothing. False, and
        nothing added, where no line is left.
        """
        once = dict[int, int]()
        for line, part in lines:
            if line not in self._handed_out:
                once.setdefault(line, part)
        self._lines.extend(once.keys())
        self._parts.extend(once.values())
        if once:
            self._starts.append(len(self._lines))
        return bool(once)

    def weigh(self) -> Weighed:
        """How rare each line is; nobody can be added any more."""
        lines = np.frombuffer(self._lines, dtype=np.uint64)
        # As np.unique counts, in two thirds of the memory.
        order = np.argsort(lines, kind="stable")
        ranked = lines[order]
        first = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))[: len(lines)]
        times = np.diff(np.append(first, len(lines))).astype(np.uint32)
        writers = np.empty(len(lines), dtype=np.uint32)
        writers[order] = np.repeat(times, times)
        parts = np.frombuffer(self._parts, dtype=np.uint16)
        return Weighed(lines, parts, np.frombuffer(self._starts, dtype=np.uint64), writers)


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """The lines of a class, each with its part and the number of students who wrote it.

    The lines of student `i` stand from `starts[i]` on, up to `starts[i + 1]`.
    """

    lines: Numbers
    parts: NDArray[np.uint16]
    starts: Numbers
    writers: NDArray[np.uint32]

    @property
    def students(self) -> int:
        """The number of students."""
        return len(self.starts) - 1

    def in_lines(self, nats: float) -> float:
        """A sum of weights as the number of lines, written by two alone, that would say as much."""
        return nats / math.log(self.students / 2)

    def lines_of(self, student: int) -> dict[int, tuple[int, int]]:
        """A student's lines: part and number of writers of each."""
        here = slice(int(self.starts[student]), int(self.starts[student + 1]))
        found = (self.lines[here], self.parts[here], self.writers[here])
        return {
            line: (part, writers)
            for line, part, writers in zip(*(each.tolist() for each in found), strict=True)
        }


def pairs(weighed: Weighed) -> Iterator[Pair]:
    """Those who meet in the index, in order of their numbers, each pair once.

    In a class of fewer than `FEWEST_STUDENTS` there are none.
    """
    if weighed.students < FEWEST_STUDENTS:
        return
    logs = np.log(weighed.students / np.arange(1, weighed.students + 1))
    expected = _expected(weighed, logs)
    before, mine = -1, dict[int, tuple[int, int]]()
    for one, other in _meeting(weighed):
        if one != before:
            before, mine = one, weighed.lines_of(one)
        score = _score(mine, weighed.lines_of(other), logs)
        yield Pair(one, other, score, float(expected[one] + expected[other]) / 2)


def _score(
    mine: dict[int, tuple[int, int]], others: dict[int, tuple[int, int]], logs: NDArray[np.float64]
) -> float:
    rarest = dict[int, int]()
    for line in mine.keys() & others.keys():
        part, writers = mine[line]
        rarest[part] = min(writers, rarest.get(part, writers))
    return float(sum(logs[writers - 1] for writers in sorted(rarest.values())))


def _expected(weighed: Weighed, logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each student shares with a classmate taken at random.

    Of a part, the line that most others wrote too counts: that is how often the part is shared.
    """
    others = weighed.students - 1
    found = np.zeros(weighed.students)
    for student in range(weighed.students):
        commonest = dict[int, float]()
        for part, writers in weighed.lines_of(student).values():
            says = float((writers - 1) / others * logs[writers - 1])
            commonest[part] = max(says, commonest.get(part, 0.0))
        found[student] = sum(commonest.values())
    return found


def _meeting(weighed: Weighed) -> Iterator[tuple[int, int]]:
    """The pairs of students who are neighbours in at least `FEWEST` lines of the index."""
    shared = np.flatnonzero((weighed.writers > 1) & (weighed.writers < weighed.students))
    owners = (np.searchsorted(weighed.starts, shared, side="right") - 1).astype(np.uint32)
    # The rarest first; of equally rare ones everybody takes the same.
    order = np.lexsort((weighed.lines[shared], weighed.writers[shared], owners))
    shared, owners = shared[order], owners[order]
    begins = np.searchsorted(owners, owners, side="left")
    rare = np.arange(len(owners)) - begins < RAREST
    shared, owners = shared[rare], owners[rare]
    lines = weighed.lines[shared]
    order = np.lexsort((owners, lines))
    lines, owners = lines[order], owners[order]
    neighbours = max(1, min(MOST_NEIGHBOURS, MOST_MEETINGS // max(len(lines), 1)))
    codes, end = np.empty(neighbours * len(lines), np.uint64), 0
    for step in range(1, neighbours + 1):
        same = lines[step:] == lines[:-step]
        low, high = owners[:-step][same], owners[step:][same]
        codes[end : end + len(low)] = low.astype(np.uint64) << np.uint64(32) | high
        end += len(low)
    codes = codes[:end]
    codes.sort()  # in place: `np.unique` would copy all of them
    often = np.unique(codes[FEWEST - 1 :][codes[FEWEST - 1 :] == codes[: 1 - FEWEST]])
    for code in often.tolist():
        yield code >> 32, code & 0xFFFFFFFF
