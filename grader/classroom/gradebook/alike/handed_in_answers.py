"""The answers of a class, read again from the files handed in; none of them is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from grader.answer.normal import NormalLine, normal_lines
from grader.answer.parse import AnswerCell
from grader.classroom.gradebook.alike.pairs import fingerprint
from grader.classroom.intake.class_folder import ClassFolder, HandedIn
from grader.classroom.run.task import read_handed_in
from grader.program.course import Course
from grader.submission.blank_cells import read_blank_cells
from grader.submission.notebook_file import UnreadableNotebook
from grader.submission.read import submission_in

WORTH_A_PROCESS = 250
"""Files: to start a process takes as long as to read so many."""

AT_ONCE = 50
"""Files that a process is given together."""

Lines = Sequence[tuple[int, int]]
"""The fingerprint of each line, with the number of its part."""


class HandedInAnswers:
    """What students wrote for one notebook, by their files."""

    def __init__(self, class_folder: ClassFolder, course: Course, notebook: str) -> None:
        self._root, self._course, self._notebook = class_folder.root, course, notebook
        self._parts = {file.id: file.parts for file in class_folder.handed_in}
        blanks = read_blank_cells(course).get(notebook, {})
        self._blank = tuple(AnswerCell(name, text) for name, text in blanks.items())
        self._gradients = frozenset(gradient for _, gradient in course.gradients(notebook))
        self._names = _exercise_names(course, notebook) | self._gradients

    def cells(self, file: HandedIn) -> tuple[AnswerCell, ...]:
        """The answer cells of a file; none where it is gone, or another notebook by now."""
        try:
            data = read_handed_in(self._root, self._parts.get(file.id, ()), Path(file.path))
            found = submission_in(data, Path(file.path), self._course)
        except UnreadableNotebook:
            return ()
        return found.cells if found.notebook == self._notebook else ()

    def lines(self, cells: tuple[AnswerCell, ...]) -> list[NormalLine]:
        """The normal lines of answer cells."""
        return normal_lines(cells, self._names, self._gradients)

    def handed_out(self) -> list[NormalLine]:
        """The lines that stood in the blank notebook."""
        return self.lines(self._blank)


def _exercise_names(course: Course, notebook: str) -> frozenset[str]:
    """The names of a notebook's forward passes, and those of their gradients."""
    sources = dict(course.sources)
    found = set[str]()
    for outline in course.outlines(notebook):
        for node in ast.parse(sources[outline.file]).body:
            if isinstance(node, ast.FunctionDef) and node.name == outline.function:
                found |= {name for name, _ in outline.sizes}
                found |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
                found |= {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    return frozenset(found | {f"d{name}" for name in found})


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
