"""`grader grade` beside nbgrader and otter: seconds a submission for the same answers.

The peers are given a shorter notebook than the course's, with nothing in it but the forward pass,
the answers and a test for each gradient; and their start-up is left out, while ours is counted.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.class_of_students import Class, write_class
from benchmarks.grade_command import Graded, at_least, grade
from benchmarks.peers import nbgrader_course, otter_course
from benchmarks.peers.clock import Command, seconds_of

GOALS = {
    "nbgrader autograde": 100,
    "nbgrader autograde, two processes": 50,
    "otter's API in a loop": 100,
}


@dataclass(frozen=True, slots=True)
class Pace:
    """A peer's way of grading a class: (size, seconds) of the runs, and seconds a submission."""

    name: str
    runs: tuple[tuple[int, float], ...]
    each: float

    def __str__(self) -> str:
        runs = ", ".join(f"{size} in {seconds:.1f} s" for size, seconds in self.runs)
        return f"{self.name:34s} {self.each:7.3f} s a submission ({runs})"


Scores = Mapping[str, float]


def nbgrader(folder: Path, few: int, many: int) -> tuple[list[Pace], Scores]:
    """nbgrader's command on two classes, then two at the same time on the two halves of one."""
    runs, course = [], None
    for size in (few, many):
        course = nbgrader_course.Course.with_class(folder / f"nbgrader-{size}", Class(size))
        runs.append((size, seconds_of([course.autograde])))
    assert course is not None
    paces = [Pace("nbgrader autograde", tuple(runs), marginal(runs))]
    sides = []
    for size in (few, many):
        # Each has a course of its own: nbgrader's database is no place for two.
        halves = [
            nbgrader_course.Course.with_class(
                folder / f"nbgrader-{size}-{half}", Class(size // 2, seed=half)
            )
            for half in (1, 2)
        ]
        commands = [half.autograde for half in halves]
        sides.append((size // 2 * 2, seconds_of(commands)))
    paces.append(Pace("nbgrader autograde, two processes", tuple(sides), marginal(sides)))
    return paces, course.scores()


def otter(folder: Path, few: int, many: int) -> tuple[list[Pace], Scores]:
    """`otter run` a notebook at a time; its API in one process, and in two."""
    course = otter_course.Course.with_class(folder / "otter", Class(many))
    notebooks = course.notebooks
    runs = []
    for size in (few // 2, few):
        # A process for each notebook is how the command is made: there is no start-up to leave out.
        runs.append((size, sum(seconds_of([course.run(path)]) for path in notebooks[:size])))
    paces = [Pace("otter run", tuple(runs), runs[-1][1] / runs[-1][0])]

    def loops(size: int, processes: int) -> Sequence[Command]:
        return [
            course.loop(notebooks[:size][number::processes], f"{size}-{number}-{processes}")
            for number in range(processes)
        ]

    for processes, name in ((1, "otter's API in a loop"), (2, "otter's API, two processes")):
        runs = [(size, seconds_of(loops(size, processes))) for size in (few, many)]
        paces.append(Pace(name, tuple(runs), marginal(runs)))
    return paces, course.scores(f"{many}-0-1")


@dataclass(frozen=True, slots=True)
class Ours:
    """The whole command, on two workers, on the notebooks that nbgrader's students have.

    It is run before the peers, between them and after: the machine is faster at one minute than at
    the next.
    """

    folder: Path
    size: int
    sandbox: str | None
    runs: list[Graded] = field(default_factory=list)

    @classmethod
    def with_class(cls, folder: Path, size: int, sandbox: str | None) -> Ours:
        course = nbgrader_course.Course.with_class(folder / "ours", Class(0))
        write_class(folder / "class", Class(size), course.paper)
        return cls(folder, size, sandbox)

    def run(self) -> None:
        """Once more, from nothing."""
        out = self.folder / f"out-{len(self.runs)}"
        self.runs.append(grade(self.folder / "class", out, jobs=2, sandbox=self.sandbox))

    def pace(self) -> Pace:
        runs = tuple((self.size, run.seconds) for run in self.runs)
        each = statistics.fmean(run.seconds for run in self.runs) / self.size
        return Pace("grader grade, two workers", runs, each)

    def scores(self) -> Scores:
        return {line["student"]: float(line.get("score", 0)) for line in self.runs[0].lines()}


def marginal(runs: Sequence[tuple[int, float]]) -> float:
    """Seconds of one more submission: what two runs differ by, so that start-up drops out."""
    (few, short), (many, long) = runs
    return (long - short) / (many - few)


def _agreement(name: str, theirs: Scores, own: Scores) -> str:
    common = sorted(theirs.keys() & own.keys())
    same = sum(theirs[student] == own[student] for student in common)
    means = [statistics.mean(scores[student] for student in common) for scores in (own, theirs)]
    return (
        f"grade_peers: points for the same {len(common)} answers: {means[0]:.1f} of 26 on average, "
        f"{name} {means[1]:.1f}, whose tests count a mistake again in all that follows from it; "
        f"the same for {same}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print seconds a submission of each, then the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000, help="of our class")
    parser.add_argument("--nbgrader", type=int, nargs=2, default=(10, 40), help="two class sizes")
    parser.add_argument("--otter", type=int, nargs=2, default=(4, 12), help="two class sizes")
    parser.add_argument("--sandbox", help="of ours, instead of the default")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own = Ours.with_class(folder, options.size, options.sandbox)
        peers = (("nbgrader", nbgrader, options.nbgrader), ("otter", otter, options.otter))
        found = []
        own.run()
        for called, measure, sizes in peers:
            found.append((called, *measure(folder, *sizes)))
            own.run()
        print(f"grade_peers: {own.pace()}, start-up and gradebook included")
        for called, paces, scores in found:
            for pace in paces:
                ratio = pace.each / own.pace().each
                bound = GOALS.get(pace.name)
                goal = f" {at_least(ratio, bound, ' times')}" if bound else ""
                print(f"grade_peers: {pace}: {ratio:.0f} times ours{goal}")
            print(_agreement(called, scores, own.scores()))


if __name__ == "__main__":
    main()
