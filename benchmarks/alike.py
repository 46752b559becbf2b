"""Who wrote alike: false alarms, copies found, and what `grader grade --similarity` needs.

In the first classes nobody has seen another's work: each gradient is drawn from all the ways in
which the right and the faulty answers of the tests write it. Whoever is listed there is a false
alarm. Then copies are planted among them, with other names for helpers, other comments, order and
layout; some copy a part of the gradients only. The large class repeats real lines and varies them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.grade_command import at_least, at_most, grade
from benchmarks.large_class.made import sealed
from benchmarks.students import course_paper
from benchmarks.students.independent import independent, partly_copied, written
from grader.answer.parse import AnswerCell
from grader.authoring.blank import split_answers
from grader.classroom.gradebook.alike.handed_in_answers import HandedInAnswers
from grader.classroom.gradebook.alike.in_class import alike_notebooks
from grader.classroom.gradebook.alike.pairs import Pile, fingerprint, pairs
from grader.classroom.gradebook.make_table import build_table
from grader.classroom.gradebook.rubric import parse_rubric
from grader.classroom.intake.class_folder import ClassFolder
from grader.classroom.intake.class_reader import read_class
from grader.commands.class_options import SIMILAR
from grader.program.course import built_in_course

NOTEBOOK = "01_atomic_backprop"
SIZES: Mapping[int, int] = {30: 10, 100: 5, 300: 3, 1000: 3}
"""Students of a class, and classes of that size."""

COPIED = (1.0, 0.75, 0.5)
"""Shares of the gradients that are copied."""

GOAL_PERCENT, GOAL_RECALL, GOAL_MEGABYTES = 10, 1.0, 500
VARIED = 0.3
"""The share of a large class's lines that nobody else wrote."""

Lines = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class MadeClass:
    """The texts of a class, honest students first; `planted` says who copied how much of whom."""

    texts: Sequence[str]
    honest: int
    planted: Mapping[tuple[int, int], float]


def make_class(size: int, seed: int) -> MadeClass:
    """A class whose answers were made independently, and copies of each kind among them."""
    choices = [independent(random.Random(f"{seed}/{number}")) for number in range(size)]
    texts = [
        written(each, random.Random(f"{seed}/words/{number}"))
        for number, each in enumerate(choices)
    ]
    chance = random.Random(f"{seed}/copies")
    planted = {}
    for share in COPIED:
        for source in chance.sample(range(size), max(2, size // 100)):
            planted[source, len(texts)] = share
            copied = partly_copied(choices[source], share, chance)
            texts.append(written(copied, chance, other_layout=True))
    return MadeClass(texts, size, planted)


def lines_of(texts: Sequence[str]) -> Iterator[Lines]:
    """The lines of each text of answers, as the grader compares them."""
    nobody = ClassFolder(Path(), "flat", (), ())
    answers = HandedInAnswers(nobody, built_in_course(), NOTEBOOK)
    for text in texts:
        cells = tuple(AnswerCell(*item) for item in split_answers(text).items())
        yield [(fingerprint(line.text), line.part) for line in answers.lines(cells)]


def shared_by(lines: Sequence[Lines]) -> dict[tuple[int, int], float]:
    """What each two who meet share, in lines that only two wrote."""
    pile = Pile()
    for each in lines:
        pile.add(each)
    weighed = pile.weigh()
    return {(pair.one, pair.other): weighed.in_lines(pair.excess) for pair in pairs(weighed)}


def count_alarms() -> list[Lines]:
    """Print false alarms and copies found; returns the lines of the last class."""
    lines: list[Lines] = []
    for size, classes in SIZES.items():
        worst, alarms, found = 0.0, 0, {share: [0, 0] for share in COPIED}
        for seed in range(classes):
            made = make_class(size, seed)
            lines = [*lines_of(made.texts)]
            honest = shared_by(lines[:size]).values()
            worst = max(worst, *honest)
            alarms += sum(shared >= SIMILAR for shared in honest)
            shared = shared_by(lines)
            for pair, share in made.planted.items():
                found[share][0] += shared.get(pair, 0.0) >= SIMILAR
                found[share][1] += 1
        said = ", ".join(f"{hit} of {all_} of {share:.0%}" for share, (hit, all_) in found.items())
        recall = found[1.0][0] / found[1.0][1]
        print(
            f"alike: {classes} classes of {size:5,}: {alarms} false alarms, the likest honest two "
            f"share {worst:.1f} {at_most(alarms, 0)}; copies found: {said} "
            f"{at_least(recall, GOAL_RECALL)}",
            flush=True,
        )
    return lines


def time_class(size: int, graded_of: int) -> None:
    """Print how long it takes to compare a class, and to grade it, of which some are graded."""
    paper, course = course_paper(), built_in_course()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("in", "graded", "out"):
            (folder / part).mkdir()
        for number, text in enumerate(make_class(size, 0).texts[:size]):
            filled = paper.filled(text, f"s{number:05d}")
            for part in ("in", "graded") if number < graded_of else ("in",):
                (folder / part / f"s{number:05d}.ipynb").write_text(filled, "utf-8")
        graded = grade(folder / "graded", folder / "out")
        # Which line it is does not matter here: the answers are read from the notebooks.
        lines = [*graded.lines()]
        class_folder = read_class(folder / "in", course)
        with (folder / "results.jsonl").open("wb") as results:
            for number, file in enumerate(class_folder.handed_in):
                head = {"id": file.id, "student": file.student, "file": file.path}
                results.write(sealed(lines[number % len(lines)] | head))
        table = build_table(class_folder, folder / "results.jsonl", parse_rubric("", course))
        start = time.perf_counter()
        alike_notebooks(table, class_folder, course, SIMILAR)
        each = (time.perf_counter() - start) / size * 1e3
    grading = graded.seconds / graded_of * 1e3
    percent = each / grading * 100
    print(
        f"alike: {size:,} submissions compared, {each:.1f} ms each; {graded_of:,} of them graded, "
        f"{grading:.1f} ms each: {percent:.1f} % {at_most(percent, GOAL_PERCENT, ' %')}",
        flush=True,
    )


def measure_large(lines: Sequence[Lines], size: int) -> None:
    """Print what it takes to find pairs in a large class, once its files are read."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    chance, pile = random.Random(0), Pile()
    for _ in range(size):
        own = chance.choice(lines)
        pile.add((chance.getrandbits(64) if chance.random() < VARIED else n, p) for n, p in own)
    start = time.perf_counter()
    weighed = pile.weigh()
    met = sum(1 for _ in pairs(weighed))
    seconds = time.perf_counter() - start
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"alike: {size:,} students, {len(weighed.lines):,} lines: {met:,} pairs compared in "
        f"{seconds:.0f} s, {megabytes:.0f} MB {at_most(megabytes, GOAL_MEGABYTES, ' MB')}",
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print all three, or only the timed class."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1000, help="students of the timed class")
    parser.add_argument("--graded", type=int, default=200, help="those of them who are graded")
    parser.add_argument("--only-time", action="store_true", help="nothing but the timed class")
    parser.add_argument("--large", type=int, default=100_000, help="students of the large one")
    options = parser.parse_args(arguments)
    if options.only_time:
        time_class(options.size, options.graded)
        return
    lines = count_alarms()
    # A process of its own: its memory is to be measured.
    process = multiprocessing.get_context("spawn").Process(
        target=measure_large, args=(lines, options.large)
    )
    process.start()
    process.join()
    time_class(options.size, options.graded)


if __name__ == "__main__":
    main()
