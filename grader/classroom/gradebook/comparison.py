"""Compare two gradebooks: whose points changed, and which mistakes went away or are new."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from grader.classroom.gradebook.codes import LETTERS, OUTCOMES, Status
from grader.classroom.gradebook.report.mistakes import Gradient, mistake_key, title_of
from grader.classroom.run.results import RESULTS, UNFINISHED, Results
from grader.submission.notebook_file import shown
from grader.user_error import UserError
from grader.verdict import EARNS_POINTS, TO_MEND, Outcome

Record = dict[str, Any]
Counted = Counter[tuple[Gradient, str]]
"""How many students made each mistake in each gradient."""

Outcomes = tuple[tuple[str, ...], str]
"""The gradients of a notebook from the loss down, each with the letter of its outcome."""


class NoGradebook(UserError):
    """The folder is not one that `grader grade` has written; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Graded:
    """The parts of a gradebook that a comparison needs.

    `outcomes` holds, for each student who handed in a file, the outcomes of each notebook that
    counts. `points` are None if the student is excused.
    """

    names: Mapping[str, str]
    points: Mapping[str, Fraction | None]
    adjusted: frozenset[str]
    outcomes: Mapping[str, Mapping[str, Outcomes]]
    mistakes: Counted
    seeds: frozenset[int]

    @property
    def shares(self) -> dict[str, Fraction] | None:
        """The shares of all submitted gradients that are right, wrong and to do, if any."""
        letters = Counter[str]()
        for notebooks in self.outcomes.values():
            for _, outcomes in notebooks.values():
                letters.update(outcomes)
        total, todo = letters.total(), letters[LETTERS[Outcome.TODO]]
        wrong = sum(letters[LETTERS[outcome]] for outcome in TO_MEND)
        counts = {"right": total - wrong - todo, "wrong": wrong, "todo": todo}
        return {name: Fraction(n, total) for name, n in counts.items()} if total else None

    def earned(self, student: str, notebook: str) -> dict[Gradient, bool]:
        """Whether each gradient of a notebook earns its points."""
        pairs = zip(*self.outcomes[student].get(notebook, ((), "")), strict=True)
        return {(notebook, name): OUTCOMES[letter] in EARNS_POINTS for name, letter in pairs}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences between two gradebooks, in the terms of the JSON, and the students' names.

    Students in `left` handed in only for the old gradebook, and those in `joined` only for the new
    one. `same` counts the students without a change. `moved` and `mistakes` begin with what changed
    most. `values_known` is False if the hidden networks differ, so that mistakes without a
    diagnosis cannot be told apart.
    """

    names: Mapping[str, str]
    shares: Mapping[str, Mapping[str, Fraction] | None]
    same: int
    left: Sequence[str]
    joined: Sequence[str]
    moved: Sequence[Record]
    mistakes: Sequence[Record]
    values_known: bool


def read_book(folder: Path) -> Graded:
    """Read a gradebook as `grader grade` wrote it. The same files count as there.

    Raises:
        NoGradebook: the folder holds no gradebook.
        BrokenResults: a line of the results is not a result.
        OSError: the results cannot be read.
    """
    results, again = folder / RESULTS, "give `grader grade` again. Nothing is graded again."
    if not results.is_file():
        raise NoGradebook(
            f"{shown(folder)} holds no gradebook ({RESULTS}): name the folder that `grader grade` "
            "was given as --out."
        )
    if (folder / UNFINISHED).exists():
        raise NoGradebook(f"{shown(folder)} is not written to its end: {again}")
    mistakes, seeds, counts = Counted(), set[int](), dict[str, str]()
    points: dict[str, Fraction] = defaultdict(Fraction)
    included: set[str] = set()
    outcomes: dict[str, dict[str, Outcomes]] = defaultdict(dict)
    same: dict[tuple[str, ...], tuple[str, ...]] = {}
    """Keep equal lists of names only once, because they would take most of the memory."""
    with Results(results) as opened:
        for id_, notebook, status, earned, _, file in opened.book("grade"):
            points[id_] += Fraction(earned)
            counts[file] = sys.intern(notebook)
            if status != Status.EXCUSED:
                included.add(id_)
        people = [(id_, name, adjusted) for id_, name, *_, adjusted in opened.book("person")]
        for line in opened.lines():
            own = outcomes[line.file.student]
            if line.report is None or line.file.id not in counts:
                continue
            seeds.add(line.run.seed)
            notebook, verdicts = counts[line.file.id], line.report.verdicts
            names = tuple(sys.intern(verdict.name) for verdict in verdicts)
            letters = "".join(LETTERS[verdict.outcome] for verdict in verdicts)
            own[notebook] = same.setdefault(names, names), letters
            for verdict in verdicts:
                if verdict.outcome in TO_MEND:
                    mistakes[(notebook, sys.intern(verdict.name)), mistake_key(verdict)] += 1
    if not outcomes.keys() <= {id_ for id_, *_ in people}:
        raise NoGradebook(f"{shown(folder)} has results and no grades of theirs: {again}")
    return Graded(
        {id_: name for id_, name, _ in people if name},
        {id_: points[id_] if id_ in included else None for id_ in outcomes},
        frozenset(id_ for id_, _, adjusted in people if adjusted),
        outcomes,
        mistakes,
        frozenset(seeds),
    )


def compare(old: Graded, new: Graded) -> Comparison:
    """Compare two gradebooks of one course, student by student."""
    both = old.outcomes.keys() & new.outcomes.keys()
    moved = [each for student in sorted(both) if (each := _moved(student, old, new))]
    moved.sort(key=lambda each: (-abs(gain(each)), each["student"]))
    known = old.seeds == new.seeds
    before, after = (_comparable(book.mistakes, known) for book in (old, new))
    mistakes: list[Record] = []
    for gradient, key in before.keys() | after.keys():
        b, a = before[gradient, key], after[gradient, key]
        title = title_of(key, max(b, a) if known else 1)
        mistakes.append({"gradient": gradient, "title": title, "before": b, "after": a})
    mistakes = [each for each in mistakes if each["before"] != each["after"]]
    mistakes.sort(
        key=lambda c: (-abs(c["after"] - c["before"]), c["gradient"], c["title"], c["before"])
    )
    return Comparison(
        {**old.names, **new.names},
        {"old": old.shares, "new": new.shares},
        len(both) - len(moved),
        sorted(old.outcomes.keys() - both),
        sorted(new.outcomes.keys() - both),
        moved,
        mistakes,
        known,
    )


def gain(moved: Record) -> Fraction:
    """The gain in points, which is 0 if the student is excused in one of the gradebooks."""
    before, after = moved["before"], moved["after"]
    return Fraction(0) if None in (before, after) else after - before


def _moved(student: str, old: Graded, new: Graded) -> Record | None:
    """The change of a student whose points or gradients differ; None if nothing does.

    `absent` lists the notebooks that were handed in for the old gradebook only. `adjusted` is True
    if the instructor changed the points in one of the gradebooks.
    """
    before, after = old.points[student], new.points[student]
    gained, lost = list[Gradient](), list[Gradient]()
    for notebook in new.outcomes[student]:
        earned, earns = old.earned(student, notebook), new.earned(student, notebook)
        # In the order of the course, from the loss down.
        gained += [gradient for gradient in earns if earns[gradient] and not earned.get(gradient)]
        lost += [gradient for gradient in earned if earned[gradient] and not earns.get(gradient)]
    # Nothing is lost that was not tried again.
    absent = sorted(old.outcomes[student].keys() - new.outcomes[student].keys())
    if before == after and not (gained or lost or absent):
        return None
    changes = {"gained": gained, "lost": lost, "absent": absent}
    adjusted = student in old.adjusted | new.adjusted
    return {"student": student, "before": before, "after": after, **changes, "adjusted": adjusted}


def _comparable(mistakes: Counted, values_known: bool) -> Counted:
    """The counts. If values of the two gradebooks cannot be compared, they count as one mistake."""
    counts = Counted()
    for (gradient, key), number in mistakes.items():
        alike = key.startswith("value:") and not values_known
        counts[gradient, "value:" if alike else key] += number
    return counts
