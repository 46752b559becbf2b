"""Results, written by hand."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from grader.classroom.gradebook.codes import OUTCOMES
from grader.classroom.intake.class_folder import ClassFolder, HandedIn, Roster, Student
from grader.classroom.run.line import Line, read_line
from grader.classroom.run.results import Results
from grader.classroom.run.settings import Settings, installed_versions
from grader.program.course import built_in_course
from grader.reports.as_json import strict
from grader.worker.terms import Limits

Document = dict[str, Any]

SETTINGS = Settings(7, Limits(1.0, 6.0, 2**30), "none", installed_versions(), built_in_course())

RUN = {
    "seconds": 0.04,
    "worker": "host-1",
    "sandbox": "bwrap",
    "seed": 987654321,
    "versions": {"grader": "0.1.0", "python": "3.11.7", "torch": "2.13.0"},
}
FUSED = "02_fused_cross_entropy"
BATCHNORM = "03_fused_batchnorm"


def head(id_: str, student: str, **changes: Any) -> Document:
    parts = {"sha256": "0" * 64, "late": False, "submitted": None, "attempt": 0}
    return {"id": id_, "student": student, "file": id_, **parts, **changes}


def graded(
    id_: str, student: str, outcomes: str, notebook: str = FUSED, **changes: Any
) -> Document:
    """A notebook with a letter for each gradient: "pf" is a pass and a fail."""
    names = [gradient for _, gradient in built_in_course().gradients(notebook)]
    gradients = [gradient(name, letter) for name, letter in zip(names, outcomes, strict=True)]
    return {
        **head(id_, student),
        "format": 1,
        "notebook": notebook,
        "score": sum(item["points"] for item in gradients),
        "max_score": len(gradients),
        "gradients": gradients,
        "flags": [],
        "run": RUN,
        **changes,
    }


def unreadable(id_: str, student: str, error: str = "It is not JSON.", **changes: Any) -> Document:
    return {**head(id_, student), "format": 1, "error": error, "flags": [], "run": RUN, **changes}


def gradient(name: str, letter: str, **changes: Any) -> Document:
    outcome = OUTCOMES[letter]
    return {
        "name": name,
        "verdict": str(outcome),
        "exact": letter == "p" if letter in "pcf" else None,
        "approximate": letter == "p" if letter in "pcf" else None,
        "maxdiff": {"p": 0.0, "c": 0.5, "f": 0.25}.get(letter),
        "shape": [32, 27] if letter in "pcf" else None,
        "expected_shape": [32, 27],
        "points": int(letter in "pc"),
        "max_points": 1,
        "line": None if letter == "t" else 2,
        "diagnosis": [],
        "note": "",
        "cell": None if letter == "t" else "ex2-fused",
        "global_check": "right" if letter == "p" else "wrong",
        "local_check": "right" if letter in "pc" else "wrong",
        "code": "" if letter == "t" else f"{name} = 1",
        "piece": None,
        **changes,
    }


def as_line(document: Document) -> Line:
    # No line that was written has half a surrogate pair.
    return read_line(json.dumps(strict(document)))


def journal(path: Path, lines: Sequence[Document], convention: str = "plain") -> Path:
    """The results of a run that has finished, in place of those that are there."""
    path.unlink(missing_ok=True)
    with Results(path, change=True) as results:
        results.begin(SETTINGS, (), convention)
        for document in lines:
            results.add(as_line(document))
    return path


def spoil(results: Path, text: str) -> None:
    """Put this in the place of what grading said, as a run does not."""
    with closing(sqlite3.connect(results)) as database, database:
        database.execute("UPDATE result SET line = ?", (text,))


def class_of(
    lines: Sequence[Document],
    students: Sequence[Student] = (),
    roster: Roster | None = None,
) -> ClassFolder:
    """A folder that holds the files of these lines."""
    files = [
        HandedIn(
            line["id"], line["student"], line["id"], late=line["late"], attempt=line["attempt"]
        )
        for line in lines
    ]
    return ClassFolder(Path("week 3"), "flat", tuple(students), tuple(files), (), roster)
