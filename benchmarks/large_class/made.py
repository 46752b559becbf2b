"""Notebooks and results of a large class, made from those of a small one that was graded."""

from __future__ import annotations

import csv
import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.class_of_students import Class, write_class
from benchmarks.grade_command import grade
from grader.classroom.run.line import read_line
from grader.classroom.run.results import RESULTS, Results

HANDED_IN_BY = "handed-in-by"
NOTEBOOK = "01_atomic_backprop"

TWICE = 0.05
"""The share of students who handed in a second file."""

EXCHANGED, OWN_VALUE = 0.3, 0.3
"""The shares of gradients taken from another real line, and of wrong values nobody else has."""

FIRST = "Ada Bo Chloé Dmitri Elif Femi Grace Hana Ivo Jun Kofi Lena Mei Noor Omar Priya Rosa Sven"
LAST = "Abebe Berg Castillo Dubois Fischer García Haddad Ito Jansen Kowalski Mbeki Okafor Petrov"

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Real:
    """What a class handed in, and what was found of it, in the same order."""

    notebooks: Sequence[str]
    lines: Sequence[Document]


def really_graded(folder: Path, size: int) -> Real:
    """Grade a small class; files that could not be graded are among its lines."""
    write_class(folder / "in", Class(size, seed=7))
    graded = grade(folder / "in", folder / "out")
    lines = [*graded.lines()]
    notebooks = [(folder / "in" / line["file"]).read_text("utf-8") for line in lines]
    return Real([*map(light, notebooks)], lines)


def light(notebook: str) -> str:
    """The notebook without its texts and pictures, as 100,000 of them would fill a disk."""
    document = json.loads(notebook)
    document["cells"] = [
        cell
        for cell in document["cells"]
        if cell["metadata"].get("nbgrader", {}).get("solution") or cell["id"] == HANDED_IN_BY
    ]
    return json.dumps(document)


def write_large_class(
    folder: Path, real: Real, size: int, seed: int = 0, notebooks: bool = True
) -> None:
    """Write the results in `out` as a run has written them; `in` and `roster.csv` as well.

    Another seed gives other results to the same students.
    """
    (folder / "out").mkdir(parents=True)
    chance = random.Random(seed)
    with Results(folder / "out" / RESULTS, change=True) as results:
        for number in range(size):
            student = f"s{number:06d}"
            own = folder / "in" / student
            if notebooks:
                own.mkdir(parents=True)
            for attempt in range(1 + (chance.random() < TWICE)):
                which = chance.randrange(len(real.lines))
                name = f"{NOTEBOOK}{f' ({attempt})' if attempt else ''}.ipynb"
                text = real.notebooks[which].replace("Handed in by ", f"Handed in by {student}, ")
                data = f"{text}{' ' * attempt}".encode()
                if notebooks:
                    (own / name).write_bytes(data)
                head = {
                    "id": f"{student}/{name}",
                    "student": student,
                    "file": f"{student}/{name}",
                    "sha256": hashlib.sha256(data).hexdigest(),
                    "attempt": attempt,
                }
                results.add(read_line(json.dumps(varied(real.lines, which, chance) | head)))
    write_roster(folder / "roster.csv", size)


def write_roster(path: Path, size: int) -> None:
    """Write a class list with names, many of which several have."""
    chance, first, last = random.Random(0), FIRST.split(), LAST.split()
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "name", "email"])
        for number in range(size):
            name = f"{chance.choice(last)}, {chance.choice(first)}"
            table.writerow([f"s{number:06d}", name, f"s{number:06d}@uni.example"])


def varied(lines: Sequence[Mapping[str, Any]], which: int, chance: random.Random) -> Document:
    """A real line in which some verdicts are those of others, and some wrong values are new."""
    line = dict(lines[which])
    if "gradients" not in line:
        return line
    gradients = []
    for place, own in enumerate(line["gradients"]):
        gradient = own
        if chance.random() < EXCHANGED:
            other = chance.choice(lines)
            gradient = other["gradients"][place] if "gradients" in other else own
        if "wrong" in gradient and chance.random() < OWN_VALUE:
            digest = f"value:{chance.getrandbits(48):012x}"
            gradient = {**gradient, "wrong": {**gradient["wrong"], "digest": digest}}
        gradients.append(gradient)
    return {**line, "gradients": gradients, "score": sum(g["points"] for g in gradients)}
