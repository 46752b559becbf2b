"""A class that hands in notebook 1: as many notebooks as are asked for, no two the same."""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.students import Answers, Paper, course_paper, rewrite
from benchmarks.students.kinds import draw

FLAT = "{student}.ipynb"
"""How the files of a class lie in its folder, unless told otherwise."""

TRIES = 100


@dataclass(frozen=True, slots=True)
class Class:
    """What makes a class: the same values make the same files."""

    size: int
    seed: int = 0
    answers: Callable[[random.Random], Answers] = draw

    def students(self, paper: Paper) -> Iterator[tuple[str, Answers, str]]:
        """Each student's name, what the answers were made from, and the notebook's text."""
        seen = set[str]()
        for number in range(self.size):
            name = f"s{number:05d}"
            answers = self.answers(random.Random(f"{self.seed}/answers/{number}"))
            text = self._in_own_words(number, answers.text, seen)
            yield name, answers, paper.filled(text, name)

    def _in_own_words(self, number: int, text: str, seen: set[str]) -> str:
        if not text:
            return ""
        chance = random.Random(f"{self.seed}/words/{number}")
        for _ in range(TRIES):
            if (own := rewrite(text, chance)) not in seen:
                seen.add(own)
                return own
        raise AssertionError(f"{TRIES} tries made no new text for student {number}")


def write_class(
    folder: Path, made: Class, paper: Paper | None = None, layout: str = FLAT
) -> list[Answers]:
    """Write the notebooks of a class; returns what each was made from, in order of the names."""
    sources = []
    for name, answers, text in made.students(paper or course_paper()):
        path = folder / layout.format(student=name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        sources.append(answers)
    return sources


def main(arguments: Sequence[str] | None = None) -> None:
    """Write a class, and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    made = write_class(options.out, Class(options.size, options.seed))
    seconds = time.perf_counter() - start
    kinds = Counter(answers.kind for answers in made)
    listed = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    print(f"class_of_students: {len(made)} notebooks in {seconds:.1f} s: {listed}.")


if __name__ == "__main__":
    main()
