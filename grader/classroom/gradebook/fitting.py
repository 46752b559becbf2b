"""Fit the instructor's decisions to a gradebook, whose points may have changed since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from grader.classroom.gradebook.adjustments import (
    Adjustments,
    Change,
    UnusableAdjustment,
    refuse,
)
from grader.classroom.gradebook.rubric import Rubric, points_text
from grader.classroom.intake.class_folder import HandedIn
from grader.classroom.run.results import Results
from grader.printable import listed, printable, there_are

Awarded = Mapping[str, Fraction]
"""The maximum out of which a change's points were given, by `Change.key`."""


def awarded_in(results: Path) -> Awarded:
    """The maximum out of which the instructor's points were given in an earlier run, if any."""
    if not results.is_file():
        return {}
    with Results(results) as opened:
        return {key: Fraction(out) for key, out in opened.book("award")}


def fitted(
    adjustments: Adjustments, most: Mapping[str, Fraction], rubric: Rubric, given: Awarded
) -> tuple[Adjustments, Awarded]:
    """Fit the changes to a gradebook, and note the maximum out of which points were first given.

    Points keep their share of the maximum, if the maximum changes.

    Args:
        adjustments: the instructor's decisions.
        most: the gradebook's notebooks with their points.
        rubric: the points of single gradients.
        given: the maximum out of which an earlier gradebook's points were given.

    Raises:
        UnusableAdjustment: a change does not fit a gradebook of these notebooks.
    """
    changes = [change for own in adjustments.values() for change in own]
    reasons = ((change, _unfit(change, most, rubric, given)) for change in changes)
    refuse([f"{change.where}: {why}" for change, why in reasons if why])
    first: dict[str, Fraction] = {}

    def share(change: Change) -> Change:
        if change.points is None:
            return change
        now = _out_of(change, most, rubric)
        first[change.key] = then = given.get(change.key) or now
        kept = now == then
        return change if kept else replace(change, points=rubric.total(change.points * now / then))

    return {id_: tuple(map(share, own)) for id_, own in adjustments.items()}, first


def _out_of(change: Change, most: Mapping[str, Fraction], rubric: Rubric) -> Fraction:
    """The most points that the gradient or the notebook of a change can earn."""
    notebook = change.notebook or next(iter(most))
    if not change.gradient:
        return most[notebook]
    asked = rubric.course.gradients(notebook)
    return next(rubric.worth(*each) for each in asked if each[1] == change.gradient)


def _unfit(change: Change, most: Mapping[str, Fraction], rubric: Rubric, awarded: Awarded) -> str:
    if change.notebook and change.notebook not in most:
        return f"{change.notebook} is not in this gradebook; {there_are(most)}."
    if change.points is None:
        return ""
    if not change.notebook and len(most) > 1:
        return f"of which notebook are the points? There are {listed(most)}."
    limit = awarded.get(change.key, _out_of(change, most, rubric))
    if change.points <= limit:
        return ""
    notebook = change.notebook or next(iter(most))
    what = f"{change.gradient} in {notebook}" if change.gradient else notebook
    return f"{points_text(change.points)} are more points than the {points_text(limit)} of {what}."


def refuse_early(
    adjustments: Adjustments, rubric: Rubric, handed_in: Iterable[HandedIn], results: Path
) -> None:
    """Raise UnusableAdjustment, before anything is graded, if a line cannot apply in any case.

    Only grading tells which notebook a file is, so `make_book` refuses what depends on that.
    """
    awarded = awarded_in(results)
    most = {name: rubric.most(name) for name in rubric.notebooks or rubric.course.notebooks}
    files: dict[str, list[HandedIn]] = defaultdict(list)
    for file in handed_in:
        files[file.student].append(file)
    complaints = []
    for change in (each for changes in adjustments.values() for each in changes):
        # Points without a notebook may be meant for the only one that was handed in.
        known = change.notebook or rubric.notebooks
        if known and (why := _unfit(change, most, rubric, awarded)):
            complaints.append(f"{change.where}: {why}")
        elif change.attempt and not _called(files[change.student], change):
            there = [printable(file.path) for file in files[change.student]]
            complaints.append(_no_attempt(change, there))
    refuse(complaints)


def named_file(graded: Sequence[HandedIn], change: Change, notebook: str) -> HandedIn:
    """Find the change's attempt among a student's graded files, of which the oldest is first.

    Raises:
        UnusableAdjustment: no file fits, or more than one.
    """
    found = _called(graded, change)
    if len(found) == 1:
        return found[0]
    there = [f"{n} ({printable(file.path)})" for n, file in enumerate(graded, start=1)]
    what = "more than one file" if found else "no attempt"
    raise UnusableAdjustment(_no_attempt(change, there, notebook, what))


def _called(files: Sequence[HandedIn], change: Change) -> list[HandedIn]:
    """The files that may be the change's attempt."""
    found = [file for file in files if change.attempt in (file.name, file.path, file.id)]
    if not found and change.attempt.isdecimal() and 0 < int(change.attempt) <= len(files):
        return [files[int(change.attempt) - 1]]
    return found


def _no_attempt(
    change: Change, there: Sequence[str], notebook: str = "", what: str = "no attempt"
) -> str:
    of = f" of {notebook}" if notebook and not change.notebook else ""
    others = f"; {there_are(there)}." if there else ", nor any other that can be graded."
    said = f"{printable(change.student)} has {what} {printable(change.attempt)!r}{of}"
    return f"{change.where}: {said}{others}"
