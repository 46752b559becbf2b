"""A cell of the table: which file counts, what it earns, and what the instructor changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeVar

from grader.classroom.gradebook.adjustments import Change, UnusableAdjustment
from grader.classroom.gradebook.rubric import ONE, Rubric, points_text
from grader.classroom.gradebook.table import NO_POINTS, Cell, Column, FileResult, Status
from grader.classroom.intake.class_folder import HandedIn
from grader.printable import printable, there_are

F = TypeVar("F", bound=HandedIn)


RESOLUTION = 2.0
"""Seconds: zip files keep times in steps of two, and a folder that was copied has the times of the
copy. Files that are no further apart may be in any order."""


class Attempts(StrEnum):
    """What decides between several files of one student for one notebook."""

    LATEST = "latest"
    BEST = "best"
    FIRST = "first"


def make_cell(
    column: Column,
    files: Sequence[FileResult],
    rubric: Rubric,
    attempts: Attempts = Attempts.LATEST,
    changes: Sequence[Change] = (),
) -> Cell:
    """One cell, from a student's files of that notebook; `changes` are the student's own.

    Raises:
        UnusableAdjustment: a change asks for a file that is not there.
    """
    cell = _cell(column, files, rubric, attempts, ())
    changes = [change for change in changes if change.notebook in ("", column.notebook)]
    if not changes:
        return cell
    adjusted = _cell(column, files, rubric, attempts, changes)
    return replace(
        adjusted,
        adjusted=tuple(_said(cell, adjusted, changes)),
        comments=tuple(c.comment for c in changes if c.comment and c.notebook),
    )


def _cell(
    column: Column,
    files: Sequence[FileResult],
    rubric: Rubric,
    attempts: Attempts,
    changes: Sequence[Change],
) -> Cell:
    whole = [change for change in changes if not change.gradient]
    dues = [change.due for change in whole if change.due]
    unreadable = tuple(file for file in files if file.error)
    graded = in_order([_due_at(file, dues) for file in files if not file.error])
    due = dues[-1] if dues else rubric.due
    kept = {file.id: rubric.kept(_moment(file), due) if file.late else ONE for file in graded}
    excused = _excused(changes, column)
    set_points = {
        c.gradient: c.points
        for c in changes
        if c.gradient and c.points is not None and c.gradient not in excused
    }
    altogether = len(excused) == len(column.gradients)
    without = set[str]() if altogether else excused
    earns = {
        file.id: rubric.total(_earned(file, column, set_points, without), kept[file.id])
        for file in graded
    }
    taken, why = _taken(graded, earns, attempts, whole, column.notebook)
    most = rubric.most(column.notebook, without) if without else column.max_points
    points = Fraction(0)
    status = Status.UNREADABLE if unreadable else Status.MISSING
    if taken:
        points, status = earns[taken.id], Status.LATE if taken.late else Status.GRADED
    elif set_points:
        points = rubric.total(_earned(None, column, set_points, without))
        status = Status.AWARDED
    for change in whole:
        if change.points is not None:
            points = min(change.points, most)
            status = status if taken else Status.AWARDED
    if altogether:
        points = most = Fraction(0)
        status = Status.EXCUSED
    return Cell(
        column,
        status,
        points,
        most,
        counts=taken,
        superseded=tuple(file for file in reversed(graded) if file is not taken),
        unreadable=unreadable,
        why=why,
        earns=earns if len(graded) > 1 else NO_POINTS,
        set_points=set_points or NO_POINTS,
        kept=kept[taken.id] if taken else ONE,
        untimed=bool(dues and taken and not taken.submitted),
    )


def _due_at(file: FileResult, dues: Sequence[datetime]) -> FileResult:
    """The file as it is with an extension; where nobody knows its time, it is not late.

    A time without a zone is one of this machine's, as for `--due`.
    """
    if not dues:
        return file
    moment = _moment(file)
    return replace(file, late=moment is not None and moment > dues[-1].astimezone())


def _taken(
    graded: Sequence[FileResult],
    earns: dict[str, Fraction],
    attempts: Attempts,
    changes: Sequence[Change],
    notebook: str,
) -> tuple[FileResult | None, str]:
    wanted = [change for change in changes if change.attempt]
    if wanted:
        return _named(graded, wanted[-1], notebook), "the one that the instructor named"
    if len(graded) > 1:
        return choose(graded, earns, attempts)
    return (graded[0] if graded else None), ""


def files_named(files: Sequence[F], change: Change) -> list[F]:
    """Those of a student's files, the oldest first, that the change's attempt may be."""
    found = [file for file in files if change.attempt in (file.name, file.path, file.id)]
    if not found and change.attempt.isdecimal() and 0 < int(change.attempt) <= len(files):
        return [files[int(change.attempt) - 1]]
    return found


def no_attempt(
    change: Change, there: Sequence[str], notebook: str = "", what: str = "no attempt"
) -> str:
    """The sentence that a change's attempt is none of those that are there.

    `notebook` is the one in question, where the change itself names none.
    """
    of = f" of {notebook}" if notebook and not change.notebook else ""
    others = f"; {there_are(there)}." if there else ", nor any other that can be graded."
    said = f"{printable(change.student)} has {what} {printable(change.attempt)!r}{of}"
    return f"{change.where}: {said}{others}"


def _named(graded: Sequence[FileResult], change: Change, notebook: str) -> FileResult:
    found = files_named(graded, change)
    if len(found) == 1:
        return found[0]
    there = [f"{n} ({printable(file.path)})" for n, file in enumerate(graded, start=1)]
    what = "more than one file" if found else "no attempt"
    raise UnusableAdjustment(no_attempt(change, there, notebook, what))


def _excused(changes: Sequence[Change], column: Column) -> set[str]:
    """The gradients that are excused: of each, the last line says so, or that of the notebook.

    Who gets points for something is not excused from it any more.
    """
    excused = set[str]()
    for change in changes:
        about = {change.gradient} if change.gradient else {name for _, name in column.gradients}
        if change.excused:
            excused |= about
        elif change.excused is not None or change.points is not None:
            excused -= about
    return excused


def _earned(
    file: FileResult | None, column: Column, set_points: dict[str, Fraction], without: set[str]
) -> Fraction:
    verdicts = list(zip(file.gradients, file.outcomes, strict=True)) if file else []
    if not set_points and not without:
        return Fraction(sum(column.earned.get(each, 0) for each in verdicts), column.parts)
    earned = {
        name: Fraction(column.earned.get((name, letter), 0), column.parts)
        for name, letter in verdicts
    } | set_points
    return sum((points for name, points in earned.items() if name not in without), Fraction(0))


def _said(before: Cell, after: Cell, changes: Sequence[Change]) -> Iterator[str]:
    """What was changed, a few words each."""
    whole = [change for change in changes if not change.gradient]
    if any(change.attempt for change in whole) and after.counts:
        files = in_order((after.counts, *after.superseded))
        # By its number: a file's name may have the student's in it.
        yield f"attempt {files.index(after.counts) + 1} of {len(files)} counts"
    dues = [change.due for change in whole if change.due]
    if dues:
        yield f"due {dues[-1]:%d %b %Y, %H:%M}" + (
            ", and it is not counted as late" if after.untimed else ""
        )
    for gradient, points in after.set_points.items():
        yield f"{gradient}: {_points(points)}"
    if after.status is Status.EXCUSED:
        yield "excused"
        return
    excused = _excused(changes, after.column)
    if any(change.excused for change in whole) and excused:
        counts = [name for _, name in after.column.gradients if name not in excused]
        yield f"excused but for {', '.join(counts)}"
    else:
        yield from (f"{gradient}: excused" for gradient in sorted(excused))
    if before.graded and after.points != before.points:
        yield f"{_points(after.points)} instead of {points_text(before.points)}"
    elif any(change.points is not None for change in whole):
        yield _points(after.points)


def _points(points: Fraction) -> str:
    return f"{points_text(points)} point{'' if points == 1 else 's'}"


def in_order(files: Sequence[FileResult]) -> tuple[FileResult, ...]:
    """The files, the oldest first: by the platform's times, else by the files' own, else by name.

    A file of which the platform gives no time is older than those of which it does.
    """
    if len(files) < 2:
        return tuple(files)
    keys = [key for _, key in _criteria(files)]
    return tuple(sorted(files, key=lambda file: tuple(key(file) for key in keys)))


def choose(
    files: Sequence[FileResult], earns: Mapping[str, Fraction], which: Attempts
) -> tuple[FileResult, str]:
    """The file that counts of several, and why, as the end of "taken: ".

    Args:
        files: the files, at least two, the oldest first.
        earns: what each would earn, by its id.
        which: what decides.
    """
    if which is Attempts.FIRST:
        return files[0], f"the first {_by(files, files[0])}"
    if which is Attempts.LATEST:
        return files[-1], f"the latest {_by(files, files[-1])}"
    most = max(earns[file.id] for file in files)
    best = [file for file in files if earns[file.id] == most]
    if len(best) == 1:
        return best[0], "the one with the most points"
    return best[-1], f"the latest ({_by(best, best[-1])}) of several that share the most points"


def _criteria(files: Sequence[FileResult]) -> list[tuple[str, Callable[[FileResult], Any]]]:
    times = [file.modified for file in files if file.modified is not None]
    tells = len(times) == len(files) and max(times, default=0) - min(times, default=0) > RESOLUTION
    # With --file-times the files' own times stand where a platform's would.
    own = all(_handed_in(file) == file.modified for file in files)
    return [
        *([] if own else [("by the time it was handed in", _handed_in)]),
        *([("by the file's own time", lambda file: file.modified)] if tells else []),
        ("by its name", lambda file: (file.attempt, file.id)),
    ]


def _handed_in(file: FileResult) -> float:
    moment = _moment(file)
    return moment.timestamp() if moment else 0.0


def _moment(file: FileResult) -> datetime | None:
    return datetime.fromisoformat(file.submitted) if file.submitted else None


def _by(files: Sequence[FileResult], chosen: FileResult) -> str:
    """The first thing in which the chosen file differs from all the others."""
    for by, key in _criteria(files):
        if all(key(file) != key(chosen) for file in files if file is not chosen):
            return by
    return "by its name"
