"""A line of the results: one submitted file, with its verdicts."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from grader.classroom.intake.class_folder import HandedIn
from grader.classroom.run.settings import Settings, Versions, installed_versions
from grader.reports.as_json import Gradient, flag_as_json, report_as_json, strict
from grader.verdict import FORMAT_VERSION, Flag, Outcome, Place, Report

FILE_KEYS = ("id", "student", "file", "sha256", "late", "submitted", "attempt")
"""The keys at the beginning of a line. They come from the folder, and the others from grading."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who graded a file, how and when: everything that may differ between runs over one class."""

    seconds: float
    worker: str
    sandbox: str
    seed: int
    versions: Versions


@dataclass(frozen=True, slots=True)
class Line:
    """The result of a submitted file: a report, or in `error` a sentence that says why it has none.

    `flags` include those of the report.
    """

    file: HandedIn
    run: Provenance
    flags: tuple[Flag, ...]
    report: Report | None = None
    error: str | None = None


def error_line(file: HandedIn, kind: str, sentence: str, run: Provenance) -> Line:
    """The line of a file that could not be graded, and at which a human should look."""
    return Line(file, run, (Flag(kind, sentence, None),), error=sentence)


def provenance(settings: Settings, seconds: float) -> Provenance:
    """The provenance of a line that this process graded in so many seconds."""
    worker = f"{platform.node()}-{os.getpid()}"
    return Provenance(
        round(seconds, 4), worker, settings.sandbox, settings.seed, installed_versions()
    )


def file_text(file: HandedIn) -> str:
    """What the folder says about a file, as a JSON object in ASCII."""
    return _text(
        strict({key: getattr(file, "path" if key == "file" else key) for key in FILE_KEYS})
    )


def grading_text(line: Line) -> str:
    """What grading says about a file, as a JSON object in ASCII."""
    document: dict[str, Any] = {"format": FORMAT_VERSION, "error": strict(line.error)}
    document["flags"] = [flag_as_json(flag) for flag in line.flags]
    if line.report is not None:
        document = report_as_json(line.report, kept=True)
    return _text(document | {"run": asdict(line.run)})


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, allow_nan=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class _FlagText:
    kind: str
    message: str
    line: int | None = None
    cell: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    """What the folder says about a file, and with what it was graded."""

    id: str
    student: str
    file: str
    sha256: str | None
    late: bool
    submitted: str | None
    attempt: int
    format: int
    run: Provenance
    flags: tuple[_FlagText, ...]
    notebook: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole(_Head):
    gradients: tuple[Gradient, ...] = ()


@dataclass(frozen=True, slots=True)
class Outline:
    """The fields of a gradient that a table needs."""

    name: str
    verdict: Outcome
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief(_Head):
    """A line without the reasons for its gradients, of which a class may have 230,000."""

    gradients: tuple[Outline, ...] = ()


def read_line(text: str) -> Line:
    """Read a line, which joins both objects.

    Raises:
        ValueError: the text is not such a line.
    """
    found: _Whole = _read(text, _Whole)
    file = HandedIn(*(getattr(found, key) for key in FILE_KEYS))
    flags = tuple(
        Flag(f.kind, f.message, None if f.cell is None else Place(f.cell, f.line or 0))
        for f in found.flags
    )
    if found.error is not None:
        return Line(file, found.run, flags, error=found.error)
    verdicts = tuple(gradient.judged() for gradient in found.gradients)
    return Line(file, found.run, flags, Report(found.notebook, verdicts, flags))


def read_brief(text: str) -> Brief:
    """Read only the fields of a line that a table needs; for errors see `read_line`."""
    found: Brief = _read(text, Brief)
    return found


def _read(text: str, kind: type) -> Any:
    import msgspec  # of the extra `grade`, for which nobody else waits

    try:
        found = _decoder(kind).decode(text)
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from None
    if found.format != FORMAT_VERSION:
        raise ValueError(f"its format is {found.format}, not {FORMAT_VERSION}")
    return found


@cache
def _decoder(kind: type) -> Any:
    import msgspec

    return msgspec.json.Decoder(kind)
