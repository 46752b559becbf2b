"""Two gradebooks compared: who moved, which mistakes went, which came."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from grader.classroom.gradebook.codes import LETTERS, OUTCOMES, Status
from grader.classroom.gradebook.report.mistakes import Gradient, mistake_key, title_of
from grader.classroom.run.results import RESULTS, UNFINISHED, Results
from grader.reports.wording import WRONG
from grader.submission.notebook_file import shown
from grader.user_error import UserError
from grader.verdict import EARNS_POINTS, Outcome

Shares = tuple[Fraction, Fraction, Fraction]
"""Of all gradients that were handed in: right, wrong, not yet done."""


class NoGradebook(UserError):
    """The folder is none that `grader grade` has written; the message is a sentence."""


Outcomes = tuple[tuple[str, ...], str]
"""The gradients of a notebook from the loss down, and the letter of each one's outcome."""


@dataclass(slots=True)
class Standing:
    """How a student stands: the points, and of each notebook that counts the outcomes.

    `excused` is True where nothing counts.
    """

    points: Fraction = Fraction(0)
    excused: bool = True
    adjusted: bool = False
    notebooks: dict[str, Outcomes] = field(default_factory=dict)

    def earned(self, notebook: str) -> dict[Gradient, bool]:
        """Whether each gradient of a notebook earns its points."""
        gradients, letters = self.notebooks.get(notebook, ((), ""))
        pairs = zip(gradients, letters, strict=True)
        return {(notebook, name): OUTCOMES[letter] in EARNS_POINTS for name, letter in pairs}


@dataclass(frozen=True, slots=True)
class Book:
    """What a comparison needs of a gradebook.

    `students` are those who handed in a file, `mistakes` how many of them made which in which
    gradient.
    """

    names: Mapping[str, str]
    students: Mapping[str, Standing]
    mistakes: Counter[tuple[Gradient, str]]
    seeds: frozenset[int]

    def points(self, student: str) -> Fraction | None:
        """A student's points; None for who is excused."""
        standing = self.students[student]
        return None if standing.excused else standing.points

    @property
    def shares(self) -> Shares | None:
        """How much is right, wrong, and not yet done; None where nothing was graded."""
        letters = Counter[str]()
        for standing in self.students.values():
            for _, outcomes in standing.notebooks.values():
                letters.update(outcomes)
        total = letters.total()
        if not total:
            return None
        wrong = sum(letters[LETTERS[outcome]] for outcome in WRONG)
        todo = letters[LETTERS[Outcome.TODO]]
        right = total - wrong - todo
        return Fraction(right, total), Fraction(wrong, total), Fraction(todo, total)


@dataclass(frozen=True, slots=True)
class Moved:
    """A student of both gradebooks whose points, or gradients, are not what they were.

    Points are None where the student was excused. `absent` are notebooks that were handed in for
    the old one only. `adjusted` is True if the points are, in one of them, what the instructor made
    of them.
    """

    student: str
    before: Fraction | None
    after: Fraction | None
    gained: tuple[Gradient, ...]
    lost: tuple[Gradient, ...]
    absent: tuple[str, ...]
    adjusted: bool

    @property
    def moved(self) -> bool:
        """True if anything is not what it was."""
        return self.before != self.after or bool(self.gained or self.lost or self.absent)

    @property
    def by(self) -> Fraction:
        """How many points more; 0 where the student is excused in one of the gradebooks."""
        if self.before is None or self.after is None:
            return Fraction(0)
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class MistakeChange:
    """A mistake in a gradient that another number of students made than before."""

    gradient: Gradient
    title: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is different between two gradebooks.

    `moved` has the students whose points changed most first, `changes` the mistakes that changed
    most. `left` handed in for the old gradebook only, `joined` for the new one; `values_known` is
    False where the hidden networks differ, so that mistakes without a diagnosis are not told apart.
    """

    old: Book
    new: Book
    moved: tuple[Moved, ...]
    same: int
    left: tuple[str, ...]
    joined: tuple[str, ...]
    changes: tuple[MistakeChange, ...]
    values_known: bool


def read_book(folder: Path) -> Book:
    """Read a gradebook as `grader grade` wrote it: what counts there counts here.

    Raises:
        NoGradebook: there is none in the folder.
        BrokenResults: a line of the results is not a result.
        OSError: they cannot be read.
    """
    results = folder / RESULTS
    if not results.is_file():
        raise NoGradebook(
            f"{shown(folder)} holds no gradebook ({RESULTS}): name the folder that `grader grade` "
            "was given as --out."
        )
    if (folder / UNFINISHED).exists():
        raise NoGradebook(
            f"{shown(folder)} is not written to its end: give `grader grade` again. Nothing is "
            "graded again."
        )
    mistakes: Counter[tuple[Gradient, str]] = Counter()
    seeds, present = set[int](), set[str]()
    students: dict[str, Standing] = defaultdict(Standing)
    same: dict[tuple[str, ...], tuple[str, ...]] = {}
    """Equal lists of names kept once: they would be most of a class."""
    with Results(results) as opened:
        counts: dict[str, str] = {}
        for id_, notebook, status, points, _, file in opened.book("grade"):
            students[id_].points += Fraction(points)
            students[id_].excused &= status == Status.EXCUSED
            counts[file] = sys.intern(notebook)
        names: dict[str, str] = {}
        for id_, name, *_, adjusted in opened.book("person"):
            names |= {id_: name} if name else {}
            students[id_].adjusted = bool(adjusted)
        for line in opened.lines():
            present.add(line.file.student)
            if line.report is None or line.file.id not in counts:
                continue
            seeds.add(line.run.seed)
            notebook, verdicts = counts[line.file.id], line.report.verdicts
            gradients = tuple(sys.intern(verdict.name) for verdict in verdicts)
            letters = "".join(LETTERS[verdict.outcome] for verdict in verdicts)
            outcomes = same.setdefault(gradients, gradients), letters
            students[line.file.student].notebooks[notebook] = outcomes
            mistakes.update(
                ((notebook, name), mistake_key(verdict))
                for name, verdict in zip(gradients, verdicts, strict=True)
                if verdict.outcome in WRONG
            )
    if not present <= students.keys():
        raise NoGradebook(
            f"{shown(folder)} has results and no grades of theirs: give `grader grade` again. "
            "Nothing is graded again."
        )
    return Book(names, {id_: students[id_] for id_ in present}, mistakes, frozenset(seeds))


def compare(old: Book, new: Book) -> Comparison:
    """Compare two gradebooks of one course, student by student."""
    both = sorted(old.students.keys() & new.students.keys())
    looked_at = [_moved(student, old, new) for student in both]
    moved = [
        each
        for each in looked_at
        if each.before != each.after or each.gained or each.lost or each.absent
    ]
    moved.sort(key=lambda each: (-abs(each.by), each.student))
    values_known = old.seeds == new.seeds
    before, after = (_comparable(book.mistakes, values_known) for book in (old, new))
    changes = [
        MistakeChange(gradient, title_of(key, max(b, a) if values_known else 1), b, a)
        for gradient, key in before.keys() | after.keys()
        if (b := before[gradient, key]) != (a := after[gradient, key])
    ]
    changes.sort(key=lambda c: (-abs(c.after - c.before), c.gradient, c.title))
    return Comparison(
        old,
        new,
        tuple(moved),
        len(both) - len(moved),
        tuple(sorted(old.students.keys() - new.students.keys())),
        tuple(sorted(new.students.keys() - old.students.keys())),
        tuple(changes),
        values_known,
    )


def _moved(student: str, old: Book, new: Book) -> Moved:
    before, after = old.students[student], new.students[student]
    gained, lost = list[Gradient](), list[Gradient]()
    for notebook in after.notebooks:
        earned, earns = before.earned(notebook), after.earned(notebook)
        # In the order of the course, from the loss down.
        gained += [gradient for gradient in earns if earns[gradient] and not earned.get(gradient)]
        lost += [gradient for gradient in earned if earned[gradient] and not earns.get(gradient)]
    return Moved(
        student,
        old.points(student),
        new.points(student),
        tuple(gained),
        tuple(lost),
        # Nothing is lost that was not tried again.
        tuple(sorted(before.notebooks.keys() - after.notebooks.keys())),
        before.adjusted or after.adjusted,
    )


def _comparable(
    mistakes: Counter[tuple[Gradient, str]], values_known: bool
) -> Counter[tuple[Gradient, str]]:
    """The counts; where values of the two gradebooks cannot be equal, those are one mistake."""
    if values_known:
        return mistakes
    counts: Counter[tuple[Gradient, str]] = Counter()
    for (gradient, key), number in mistakes.items():
        counts[gradient, "value:" if key.startswith("value:") else key] += number
    return counts
