"""The answers of a whole class, read by several processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from grader.classroom.gradebook.alike.handed_in_answers import HandedInAnswers
from grader.classroom.gradebook.alike.pairs import fingerprint
from grader.classroom.intake.class_folder import HandedIn

WORTH_A_PROCESS = 250
"""Files: to start a process takes as long as to read so many."""

AT_ONCE = 50
"""Files that a process is given together."""

Lines = Sequence[tuple[int, int]]
"""The fingerprint of each line, with the number of its part."""


def lines_of_all(
    answers: HandedInAnswers, files: Sequence[HandedIn], processes: int
) -> Iterator[Lines]:
    """The lines of each file in their order; small classes are read by this process alone."""
    processes = min(processes, len(files) // WORTH_A_PROCESS)
    if processes < 2:
        yield from (_lines(answers, file) for file in files)
        return
    with ProcessPoolExecutor(
        processes, get_context("spawn"), initializer=_begin, initargs=(answers,)
    ) as pool:
        yield from pool.map(_lines_here, files, chunksize=AT_ONCE)


def _lines(answers: HandedInAnswers, file: HandedIn) -> Lines:
    return [(fingerprint(line.text), line.part) for line in answers.lines(answers.cells(file))]


_ANSWERS: list[HandedInAnswers] = []
"""In a process of the pool, the one it was started with: each task would bring it again."""


def _begin(answers: HandedInAnswers) -> None:
    _ANSWERS[:] = [answers]


def _lines_here(file: HandedIn) -> Lines:
    return _lines(_ANSWERS[0], file)
