"""The journal of a run, `results.jsonl`, read a line at a time."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from grader.comparison import Comparison
from grader.printable import printable
from grader.verdict import Check, Diagnosis, Flag, Outcome, Place, Report, Verdict

Line = Mapping[str, Any]

LETTERS = {outcome: outcome.value[0] for outcome in Outcome}
"""A letter for each outcome, so that the outcomes of a whole class are a few short strings."""
OUTCOMES = {letter: outcome for outcome, letter in LETTERS.items()}

# dictionaries: calling an enumeration takes five times as long, and a class has 230,000 verdicts
_OUTCOME: Mapping[str, Outcome] = {outcome.value: outcome for outcome in Outcome}
_CHECK: Mapping[str | None, Check] = {check.value: check for check in Check}


class UnreadableResults(Exception):
    """A journal that cannot be read; the message is one sentence for the instructor."""


@dataclass(frozen=True, slots=True)
class FileResult:
    """What a class's table needs to know of one file; the rest is read again where it is needed.

    `notebook` is "" where the file could not be graded and its name does not tell; `error` is the
    sentence why, "" for a graded file. `outcomes` has a letter for each of `gradients`. `offset`
    is where its line begins.
    """

    id: str
    student: str
    file: str
    late: bool
    submitted: str
    attempt: int
    notebook: str
    gradients: tuple[str, ...]
    outcomes: str
    error: str
    flags: tuple[str, ...]
    offset: int

    @property
    def newness(self) -> tuple[int, float, str]:
        """The newest of several files is the one where this is greatest."""
        return self.attempt, _seconds(self.submitted), self.id


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Where a file was graded, as far as it is the same for all workers: no times, no seed."""

    sandbox: str
    versions: tuple[tuple[str, str], ...]


def read_lines(path: Path) -> Iterator[tuple[int, Line]]:
    """Every line with the place where it begins; a half-written last one is left out.

    Raises:
        UnreadableResults: the file cannot be read, or a line is not one of a run's.
    """
    where = printable(str(path))
    try:
        with path.open("rb") as file:
            offset = 0
            for number, text in enumerate(file, start=1):
                if text.strip():
                    try:
                        yield offset, _parse(text)
                    except ValueError as error:
                        if not text.endswith(b"\n"):
                            return  # the run was killed here; the file is graded again
                        raise UnreadableResults(
                            f"Line {number} of {where} is not a result ({error}): was the file "
                            "edited? Delete that line and run `grader grade` again."
                        ) from error
                offset += len(text)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UnreadableResults(f"{where} cannot be read: {reason}.") from error


def _parse(text: bytes) -> Line:
    line = json.loads(text)
    if not isinstance(line, dict):
        raise ValueError("no JSON object")
    missing = [name for name in ("id", "student", "file") if not isinstance(line.get(name), str)]
    if "error" not in line:
        missing += [name for name in ("notebook", "gradients") if name not in line]
    if missing:
        raise ValueError(f"without {' and '.join(missing)}")
    return line


def read_line_at(file: BinaryIO, offset: int) -> Line:
    """The line that begins at a place that `read_lines` gave."""
    file.seek(offset)
    return _parse(file.readline())


def file_result(line: Line, offset: int, gradients: tuple[str, ...], notebook: str) -> FileResult:
    """The part of a line that a table keeps."""
    verdicts = line.get("gradients", ())
    return FileResult(
        id=line["id"],
        student=sys.intern(line["student"]),
        file=line["id"] if line["file"] == line["id"] else line["file"],
        late=bool(line.get("late")),
        submitted=line.get("submitted") or "",
        attempt=int(line.get("attempt") or 0),
        notebook=sys.intern(notebook),
        gradients=gradients,
        outcomes="".join(LETTERS[_OUTCOME[verdict["verdict"]]] for verdict in verdicts),
        error=line.get("error", ""),
        flags=tuple(sys.intern(flag["kind"]) for flag in line.get("flags", ())),
        offset=offset,
    )


def run_facts(line: Line) -> RunFacts:
    run = line.get("run") or {}
    versions = sorted((run.get("versions") or {}).items())
    return RunFacts(str(run.get("sandbox", "")), tuple((str(k), str(v)) for k, v in versions))


@dataclass(frozen=True, slots=True)
class GradedFile:
    """A graded file as it is shown: its report, and the student's own line for each gradient."""

    report: Report
    code: Mapping[str, str]
    run: RunFacts


def graded_file(line: Line) -> GradedFile:
    """The verdicts and flags of a graded file's line, as they were when it was graded."""
    verdicts = tuple(_verdict(verdict) for verdict in line["gradients"])
    code = {verdict["name"]: verdict.get("code") or "" for verdict in line["gradients"]}
    return GradedFile(Report(line["notebook"], verdicts, flags_of(line)), code, run_facts(line))


def flags_of(line: Line) -> tuple[Flag, ...]:
    return tuple(
        Flag(flag["kind"], flag["message"], _place(flag)) for flag in line.get("flags", ())
    )


def _verdict(item: Mapping[str, Any]) -> Verdict:
    comparison = Comparison(
        name=item["name"].removeprefix("d"),
        exact=item["exact"],
        approximate=item["approximate"],
        maxdiff=item["maxdiff"],
        shape=_shape(item["shape"]),
        expected_shape=_shape(item["expected_shape"]),
    )
    return Verdict(
        name=item["name"],
        outcome=_OUTCOME[item["verdict"]],
        comparison=comparison,
        global_check=_CHECK.get(item.get("global_check"), Check.NOT_RUN),
        local_check=_CHECK.get(item.get("local_check"), Check.NOT_RUN),
        note=item.get("note", ""),
        place=_place(item),
        diagnosis=tuple(
            Diagnosis(one["kind"], one["message"], one["hint"]) for one in item["diagnosis"]
        ),
        max_points=item["max_points"],
    )


def _place(item: Mapping[str, Any]) -> Place | None:
    if item.get("line") is None or item.get("cell") is None:
        return None
    return Place(item["cell"], item["line"])


def _shape(sizes: list[int] | None) -> tuple[int, ...] | None:
    return None if sizes is None else tuple(sizes)


def _seconds(submitted: str) -> float:
    """A time as a number; what no clock says is older than what one does."""
    try:
        moment = datetime.fromisoformat(submitted)
    except ValueError:
        return float("-inf")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
