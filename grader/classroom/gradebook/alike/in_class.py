"""Who in a class wrote alike: groups of students, with the lines they share side by side."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter

from grader.answer.normal import NormalLine
from grader.answer.parse import parse_answer
from grader.answer.quote import quote
from grader.classroom.gradebook.alike.handed_in_answers import HandedInAnswers, lines_of_all
from grader.classroom.gradebook.alike.pairs import Pair, Pile, Weighed, fingerprint, pairs
from grader.classroom.gradebook.table import Column, FileResult, Row, Table
from grader.classroom.intake.class_folder import ClassFolder, HandedIn
from grader.classroom.run.local_pool import usable_cores
from grader.program.course import Course
from grader.verdict import Place

MOST_PAIRS = 20_000
"""Pairs of a notebook that are kept, those that share most."""

MOST_GROUPS, MOST_QUOTED, MOST_LINES = 100, 3, 12
"""Groups of a notebook on the page, pairs of a group, and lines of a pair, that are quoted."""


@dataclass(frozen=True, slots=True)
class SharedLine:
    """A line that two wrote, as each has it, and how many students wrote it."""

    one: str
    one_place: Place
    other: str
    other_place: Place
    writers: int


@dataclass(frozen=True, slots=True)
class AlikePair:
    """Two students who share much; `shared` is in lines that only two wrote, beyond chance.

    `quoted` are the rarest lines, empty where the page does not show the pair.
    """

    one: Row
    other: Row
    shared: float
    quoted: tuple[SharedLine, ...] = ()
    further: int = 0
    """Lines that both wrote, and fewer than half of the class, which are not quoted."""


@dataclass(frozen=True, slots=True)
class AlikeGroup:
    """Students of whom each shares much with another of the group; the likest pair first."""

    students: tuple[Row, ...]
    pairs: tuple[AlikePair, ...]


@dataclass(frozen=True, slots=True)
class AlikeNotebook:
    """What is alike in one notebook; `writers` are the students whose answers were compared."""

    notebook: str
    writers: int
    groups: tuple[AlikeGroup, ...]

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return sum(len(group.pairs) for group in self.groups)


def alike_notebooks(
    table: Table, class_folder: ClassFolder, course: Course, threshold: float
) -> tuple[AlikeNotebook, ...]:
    """Compare the files that count, notebook after notebook.

    Listed is who shares as much as `threshold` lines that only two wrote, beyond what is expected.

    The files are read again; nothing in them is run. Of a file that a group handed in together
    one copy is compared, so that its members are not alike for that.
    """
    return tuple(
        _alike(
            column, number, table, HandedInAnswers(class_folder, course, column.notebook), threshold
        )
        for number, column in enumerate(table.columns)
    )


def _alike(
    column: Column, number: int, table: Table, answers: HandedInAnswers, threshold: float
) -> AlikeNotebook:
    pile = Pile(fingerprint(line.text) for line in answers.handed_out())
    entries: list[tuple[Row, FileResult]] = []
    counting: dict[str, tuple[Row, FileResult]] = {}
    for row in table.rows:
        if file := row.cells[number].counts:
            counting.setdefault(file.path, (row, file))
    files = [HandedIn(file.id, file.student, file.path) for _, file in counting.values()]
    read = lines_of_all(answers, files, usable_cores())
    for entry, lines in zip(counting.values(), read, strict=True):
        if pile.add(lines):
            entries.append(entry)
    weighed = pile.weigh()
    enough = (pair for pair in pairs(weighed) if weighed.in_lines(pair.excess) >= threshold)
    strongest = heapq.nlargest(MOST_PAIRS, enough, key=attrgetter("excess"))
    groups: list[AlikeGroup] = []
    for members in _groups(strongest):
        quoted = len(groups) < MOST_GROUPS
        found = tuple(
            _shown(pair, entries, weighed, answers if quoted and place < MOST_QUOTED else None)
            for place, pair in enumerate(members)
        )
        students = {number for pair in members for number in (pair.one, pair.other)}
        groups.append(AlikeGroup(tuple(entries[each][0] for each in sorted(students)), found))
    return AlikeNotebook(column.notebook, len(entries), tuple(groups))


def _groups(found: Iterable[Pair]) -> list[list[Pair]]:
    """Pairs that hang together, in the order of the strongest of each group."""
    leader: dict[int, int] = {}

    def lead(student: int) -> int:
        while (above := leader.setdefault(student, student)) != student:
            leader[student] = leader[above]
            student = above
        return student

    listed = list(found)
    for pair in listed:
        leader[lead(pair.other)] = lead(pair.one)
    groups: dict[int, list[Pair]] = defaultdict(list)
    for pair in listed:
        groups[lead(pair.one)].append(pair)
    return list(groups.values())


def _shown(
    pair: Pair,
    entries: list[tuple[Row, FileResult]],
    weighed: Weighed,
    answers: HandedInAnswers | None,
) -> AlikePair:
    (one, one_file), (other, other_file) = entries[pair.one], entries[pair.other]
    shared = weighed.in_lines(pair.excess)
    if answers is None:
        return AlikePair(one, other, shared)
    cells, other_cells = answers.cells(one_file), answers.cells(other_file)
    writers = {line: count for line, (_, count) in weighed.lines_of(pair.one).items()}
    rare = [
        (count, mine, theirs)
        for mine, theirs in _same(answers.lines(cells), answers.lines(other_cells))
        if (count := writers.get(fingerprint(mine.text), len(entries))) * 2 < len(entries)
    ]
    ends, other_ends = (parse_answer(each).last_lines for each in (cells, other_cells))
    rarest = sorted(range(len(rare)), key=lambda place: rare[place][0])[:MOST_LINES]
    quoted = tuple(
        SharedLine(
            quote(mine.place, cells, ends),
            mine.place,
            quote(theirs.place, other_cells, other_ends),
            theirs.place,
            count,
        )
        for count, mine, theirs in (rare[place] for place in sorted(rarest))
    )
    return AlikePair(one, other, shared, quoted, len(rare) - len(quoted))


def _same(
    mine: Iterable[NormalLine], theirs: Iterable[NormalLine]
) -> Iterator[tuple[NormalLine, NormalLine]]:
    """The lines that both have, each once, in the order of the first."""
    others = {line.text: line for line in reversed([*theirs])}
    for line in mine:
        if other := others.pop(line.text, None):
            yield line, other
