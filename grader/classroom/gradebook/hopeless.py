"""Adjustments that cannot apply, whatever grading will find."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from grader.classroom.gradebook.adjustments import Adjustments, refuse, unfit
from grader.classroom.gradebook.make_cell import meant
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.intake.class_folder import HandedIn
from grader.printable import listed, printable


def refuse_hopeless(
    adjustments: Adjustments, rubric: Rubric, handed_in: Iterable[HandedIn]
) -> None:
    """Raise UnusableAdjustment where a line cannot apply: nobody waits for grades to hear of it.

    Which notebook a file is nobody knows yet: what depends on that, `build_table` refuses.
    """
    refuse(list(_hopeless(adjustments, rubric, handed_in)))


def _hopeless(
    adjustments: Adjustments, rubric: Rubric, handed_in: Iterable[HandedIn]
) -> Iterator[str]:
    notebooks = rubric.notebooks or rubric.course.notebooks
    most = {notebook: rubric.most(notebook) for notebook in notebooks}
    files: dict[str, list[HandedIn]] = defaultdict(list)
    for file in handed_in:
        files[file.student].append(file)
    for change in (each for changes in adjustments.values() for each in changes):
        # Points without a notebook are those of the only one that was handed in, perhaps.
        if (change.notebook or rubric.notebooks) and (why := unfit(change, most, rubric)):
            yield f"{change.where}: {why}"
        elif change.attempt and not meant(files[change.student], change):
            there = listed([printable(file.path) for file in files[change.student]])
            yield (
                f"{change.where}: {printable(change.student)} has no attempt "
                f"{printable(change.attempt)!r}; "
                + (f"there are {there}." if there else "nothing of theirs was handed in.")
            )
