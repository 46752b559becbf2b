"""The comparison of two gradebooks in words and columns, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction

from rich.cells import cell_len

from grader.classroom.gradebook.comparison import Comparison, Record, gain
from grader.classroom.gradebook.report.mistakes import in_words
from grader.classroom.gradebook.rubric import points_text
from grader.printable import counted, listed, printable
from grader.program.course import number_of

MOST_ROWS = 20
"""The most students, and mistakes of each sort, that are listed unless all are requested."""

MOST_GRADIENTS = 6

FORMAT_VERSION = 1


def as_text(comparison: Comparison, everything: bool = False) -> str:
    """The comparison for a terminal; long lists are cut unless everything is requested."""
    most = None if everything else MOST_ROWS
    names = comparison.names
    lines = [*_summary(comparison)]
    moved = [_moved_row(each, names) for each in comparison.moved]
    lines += _table("Who moved, most points first", moved, most)
    sorts: dict[str, list[Record]] = {"went": [], "came": [], "more or fewer students make": []}
    for each in comparison.mistakes:
        sort = "more or fewer students make" if each["before"] and each["after"] else "went"
        sorts[sort if each["before"] else "came"].append(each)
    for sort, mistakes in sorts.items():
        lines += _table(f"Mistakes that {sort}", [*map(_mistake_row, mistakes)], most)
    titles = {each["title"] for each in comparison.mistakes}
    if not comparison.values_known and _VALUE in titles:
        lines += [
            "",
            "The gradebooks have different hidden networks (--seed): wrong values without a "
            "diagnosis cannot be told apart.",
        ]
    return "\n".join(lines) + "\n"


_VALUE = "a wrong value"


def _summary(comparison: Comparison) -> Iterator[str]:
    more = sum(gain(each) > 0 for each in comparison.moved)
    fewer = sum(gain(each) < 0 for each in comparison.moved)
    excused = sum(None in (each["before"], each["after"]) for each in comparison.moved)
    others = len(comparison.moved) - more - fewer - excused
    if comparison.left and comparison.joined and not (comparison.moved or comparison.same):
        yield (
            "Nobody is in both gradebooks: their ids differ, or it is another class. Graded with"
            " the same --roster, a student has the same id in both."
        )
    yield (
        f"{counted(len(comparison.moved) + comparison.same, 'student')} handed in for both: "
        f"{more:,} with more points, {fewer:,} with fewer, {others:,} with other gradients for the "
        f"same points, {f'{excused:,} excused in one of them, ' if excused else ''}"
        f"{comparison.same:,} as before."
    )
    for students, where in ((comparison.left, "old"), (comparison.joined, "new")):
        if students:
            who = listed(
                (_called(each, comparison.names) for each in students), most=MOST_GRADIENTS
            )
            yield f"Only for the {where} gradebook: {who}."
    before, after = comparison.shares["old"], comparison.shares["new"]
    if before and after:
        words = {"right": "right", "wrong": "wrong", "todo": "not yet done"}
        said = (f"{_percent(before[n])} → {_percent(after[n])} {words[n]}" for n in words)
        yield f"Of all gradients handed in: {', '.join(said)}."


def _percent(share: Fraction) -> str:
    return f"{float(share) * 100:.0f} %"


def _moved_row(each: Record, names: Mapping[str, str]) -> list[str]:
    said = [
        f"{word} {listed((name for _, name in gradients), most=MOST_GRADIENTS)}"
        for word, gradients in (("now right:", each["gained"]), ("no longer:", each["lost"]))
        if gradients
    ]
    if absent := each["absent"]:
        said.append(f"not handed in again: {listed(map(number_of, absent))}")
    said += ["adjusted by the instructor"] if each["adjusted"] else []
    points = (each["before"], each["after"])
    before, after = ("excused" if each is None else points_text(each) for each in points)
    return [_called(each["student"], names), f"{before} → {after}", printable("; ".join(said))]


def _called(student: str, names: Mapping[str, str]) -> str:
    name = names.get(student)
    return printable(f"{name} ({student})" if name and name != student else student)


def _mistake_row(mistake: Record) -> list[str]:
    notebook, name = mistake["gradient"]
    return [
        printable(f"{name} ({number_of(notebook)})"),
        f"{mistake['before']:,} → {mistake['after']:,}",
        printable(in_words(mistake["title"])),
    ]


def _table(title: str, rows: Sequence[Sequence[str]], most: int | None) -> Iterator[str]:
    """Rows under a title, in columns; nothing if there are no rows."""
    if not rows:
        return
    yield from ("", f"{title}:")
    listed_rows = rows[:most]
    widths = [max(cell_len(row[column]) for row in listed_rows) for column in (0, 1)]
    for first, second, third in listed_rows:
        wide = cell_len(first) - len(first)  # a Chinese character is as wide as two others
        yield f"  {first:<{widths[0] - wide}}  {second:>{widths[1]}}  {third}".rstrip()
    if len(rows) > len(listed_rows):
        yield f"  ... and {len(rows) - len(listed_rows):,} more: --all lists them."


def as_json(comparison: Comparison) -> str:
    """The comparison as one object. Points are numbers, or null for an excused student.

    A gradient is [notebook, name].
    """
    names = [each.name for each in fields(comparison) if each.name != "names"]
    document = {"format": FORMAT_VERSION} | {name: getattr(comparison, name) for name in names}
    return json.dumps(document, indent=2, allow_nan=False, default=float) + "\n"
