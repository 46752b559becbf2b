"""The instructor's decisions on one notebook of one student, as figures and in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from grader.classroom.gradebook.adjustments import Change
from grader.classroom.gradebook.cells import units
from grader.classroom.gradebook.codes import Status
from grader.classroom.gradebook.rubric import Rubric, points_text

Record = Mapping[str, Any]


def decide(changes: Sequence[Change], notebook: str, rubric: Rubric) -> dict[str, Any]:
    """The figures that change a cell.

    `untouched` has a 1 for each gradient that earns by its verdict, and `extra` is what the others
    earn. `given` are the points without a file, or None if no gradient has any. `points` are those
    of the whole notebook. `excused` is True if nothing counts.
    """
    names = [name for _, name in rubric.course.gradients(notebook)]
    excused, by_gradient = excused_in(changes, names), points_by_gradient(changes)
    altogether = len(excused) == len(names)
    without = () if altogether else excused
    extra = sum(by_gradient.values(), Fraction(0))
    whole = [change for change in changes if not change.gradient]
    due = next((change.due for change in reversed(whole) if change.due), None)
    points = [change.points for change in whole if change.points is not None]
    return {
        "untouched": "".join(
            "01"[name not in without and name not in by_gradient] for name in names
        ),
        "extra": units(extra),
        "most": units(rubric.most(notebook, without)),
        "excused": altogether,
        # A time without a zone is in this machine's zone, as for `--due`.
        "due": due and due.astimezone().timestamp(),
        "given": units(rubric.total(extra)) if by_gradient else None,
        "points": units(points[-1]) if points else None,
    }


def excused_in(changes: Sequence[Change], names: Collection[str]) -> set[str]:
    """The excused gradients: those for which the last line, or that of the notebook, says so.

    A student who gets points for a gradient is no longer excused from it.
    """
    return {name for name in names if _last_excuses(changes, name)}


def _last_excuses(changes: Sequence[Change], name: str) -> bool:
    said = (
        change.excused or False
        for change in reversed(changes)
        if change.gradient in ("", name)
        and (change.excused is not None or change.points is not None)
    )
    return next(said, False)


def points_by_gradient(changes: Sequence[Change]) -> dict[str, Fraction]:
    """The points that the instructor set for gradients, unless they were excused afterwards."""
    return {
        change.gradient: change.points
        for change in changes
        if change.gradient
        and change.points is not None
        and not _last_excuses(changes, change.gradient)
    }


def said_of(changes: Sequence[Change], cell: Record, names: Sequence[str]) -> Iterator[str]:
    """What was changed in a cell, a few words each.

    The cell has its `points` and those of `points_before`, and the `number` of the file that counts
    among those that were graded.
    """
    whole = [change for change in changes if not change.gradient]
    if cell["number"] and any(change.attempt for change in whole):
        # By its number: a file's name may have the student's in it.
        yield f"attempt {cell['number']} of {cell['others'] + 1} counts"
    if dues := [change.due for change in whole if change.due]:
        late = ", and it is not counted as late" if cell["untimed"] else ""
        yield f"due {dues[-1]:%d %b %Y, %H:%M}{late}"
    for gradient, points in points_by_gradient(changes).items():
        yield f"{gradient}: {_points(points)}"
    if cell["status"] == Status.EXCUSED:
        yield "excused"
        return
    excused = excused_in(changes, names)
    if excused and any(change.excused for change in whole):
        yield f"excused but for {', '.join(name for name in names if name not in excused)}"
    else:
        yield from (f"{gradient}: excused" for gradient in sorted(excused))
    if cell["graded_before"] and cell["points"] != cell["points_before"]:
        yield f"{_points(cell['points'])} instead of {points_text(cell['points_before'])}"
    elif any(change.points is not None for change in whole):
        yield _points(cell["points"])


def _points(points: Fraction) -> str:
    return f"{points_text(points)} point{'' if points == 1 else 's'}"
