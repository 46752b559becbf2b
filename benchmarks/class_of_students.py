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
FOLDERS = "{student}/01_atomic_backprop.ipynb"
"""How the files of a class can lie in its folder."""

LOOP = "while True: pass"

TRIES = 100


@dataclass(frozen=True, slots=True)
class Class:
    """What makes a class: the same values make the same files.

    `loops` is the share of students with an endless loop in one answer cell, at its end;
    `without_loops` keeps those students, but leaves the loops out. With `cycle`, student
    `i + cycle` starts from the same answers as student `i`, so that classes of different sizes
    have the same share of everything; the texts still differ.
    """

    size: int
    seed: int = 0
    loops: float = 0.0
    without_loops: bool = False
    cycle: int = 0
    answers: Callable[[random.Random], Answers] = draw

    def looping(self) -> frozenset[int]:
        """The students with an endless loop."""
        chance = random.Random(f"{self.seed}/loops")
        return frozenset(chance.sample(range(self.size), round(self.loops * self.size)))

    def students(self, paper: Paper) -> Iterator[tuple[str, Answers, str]]:
        """Each student's name, what the answers were made from, and the notebook's text."""
        looping, seen = self.looping(), set[str]()
        for number in range(self.size):
            name = f"s{number:05d}"
            begun = number % self.cycle if self.cycle else number
            answers = self.answers(random.Random(f"{self.seed}/answers/{begun}"))
            text = self._in_own_words(number, answers.text, seen)
            # A blank notebook has to be begun, or there is no cell for the loop to stand in.
            if number in looping and not self.without_loops:
                text = _with_loop(text, paper, random.Random(f"{self.seed}/loop/{number}"))
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


def _with_loop(text: str, paper: Paper, chance: random.Random) -> str:
    cells = text.split("# answer: ")
    if len(cells) == 1:
        return f"# answer: {chance.choice(list(paper.blanks))}\n{LOOP}\n"
    chosen = chance.randrange(1, len(cells))
    cells[chosen] = f"{cells[chosen].rstrip()}\n{LOOP}\n"
    return "# answer: ".join(cells)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write a class, and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--loops", type=float, default=0.0, help="share of endless loops")
    parser.add_argument("--layout", choices=["flat", "folders"], default="flat")
    options = parser.parse_args(arguments)
    layout = FLAT if options.layout == "flat" else FOLDERS
    start = time.perf_counter()
    made = write_class(options.out, Class(options.size, options.seed, options.loops), layout=layout)
    seconds = time.perf_counter() - start
    kinds = Counter(answers.kind for answers in made)
    listed = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    print(f"class_of_students: {len(made)} notebooks in {seconds:.1f} s: {listed}.")


if __name__ == "__main__":
    main()
