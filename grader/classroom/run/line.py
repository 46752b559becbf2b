"""A line of results.jsonl: one file handed in, with the verdicts on it."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from grader.classroom.intake.class_folder import HandedIn
from grader.classroom.run.settings import Settings, Versions, installed_versions
from grader.reports.as_json import flag_as_json, report_as_json
from grader.verdict import (
    FORMAT_VERSION,
    Check,
    Comparison,
    Diagnosis,
    Flag,
    Outcome,
    Place,
    Report,
    Verdict,
    WrongValue,
)

T = TypeVar("T")

# Dictionaries: calling an enumeration takes five times as long, and a class has 230,000 verdicts.
_OUTCOMES: Mapping[str, Outcome] = {outcome.value: outcome for outcome in Outcome}
_CHECKS: Mapping[str, Check] = {check.value: check for check in Check}

FILE_KEYS = ("id", "student", "file", "sha256", "late", "submitted", "attempt")
"""The keys a line begins with: they come from the folder, the others from grading."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who graded a file, how and when: all that may differ between two runs over one class."""

    seconds: float
    worker: str
    sandbox: str
    seed: int
    versions: Versions


@dataclass(frozen=True, slots=True)
class Line:
    """What became of a file handed in: a report, or in `error` the sentence why there is none.

    `flags` are those of the report too.
    """

    file: HandedIn
    run: Provenance
    flags: tuple[Flag, ...]
    report: Report | None = None
    error: str | None = None
    packed: bytes = field(init=False, default=b"", compare=False, repr=False)
    """What it was read from: so it is written too."""

    def __reduce__(self) -> tuple[Callable[[bytes], Line], tuple[bytes]]:
        """Travel between processes as text: it is quicker, and is checked where it arrives."""
        return read_line, (pack_line(self),)


def error_line(file: HandedIn, kind: str, sentence: str, run: Provenance) -> Line:
    """The line of a file that could not be graded; a human should look at it."""
    return Line(file, run, (Flag(kind, sentence, None),), error=sentence)


def provenance(settings: Settings, seconds: float) -> Provenance:
    """What a line says of this process, which graded for so many seconds."""
    worker = f"{platform.node()}-{os.getpid()}"
    return Provenance(
        round(seconds, 4), worker, settings.sandbox, settings.seed, installed_versions()
    )


def pack_line(line: Line) -> bytes:
    """A line as it is written: JSON in ASCII, with its end."""
    if line.packed:
        return line.packed
    document = _file_members(line.file)
    if line.report is None:
        flags = [flag_as_json(flag) for flag in line.flags]
        document |= {"format": FORMAT_VERSION, "error": line.error, "flags": flags}
    else:
        document |= report_as_json(line.report)
        for gradient, verdict in zip(document["gradients"], line.report.verdicts, strict=True):
            gradient |= {"code": verdict.code, "piece": verdict.piece}
            if verdict.wrong is not None:
                gradient["wrong"] = asdict(verdict.wrong)
    return _packed(document | {"run": asdict(line.run)})


def with_file(data: bytes, file: HandedIn) -> bytes:
    """A packed line as the folder is now; the hash of what was graded stays.

    Raises:
        ValueError: it is not as it was written.
    """
    _refuse_edited(data)
    document = json.loads(data)
    return _packed(document | _file_members(file) | {"sha256": document["sha256"]})


def head_of(file: HandedIn) -> bytes:
    """What a packed line about this file begins with."""
    return json.dumps(_file_members(file), separators=(",", ":"))[:-1].encode("ascii") + b","


def _file_members(file: HandedIn) -> dict[str, Any]:
    return {key: getattr(file, "path" if key == "file" else key) for key in FILE_KEYS}


def _packed(document: Mapping[str, Any]) -> bytes:
    """A line that ends in a seal, by which one that was edited is known."""
    unsealed = {name: member for name, member in document.items() if name != "seal"}
    text = json.dumps(unsealed, allow_nan=False, separators=(",", ":"))[:-1]
    return f'{text},"seal":"{seal(text)}"}}\n'.encode("ascii")


def seal(text: str) -> str:
    """What a text in ASCII is followed by, so that one that was edited is known."""
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def _refuse_edited(data: bytes) -> None:
    text, _, said = data.decode("ascii", "backslashreplace").rpartition(',"seal":')
    if said.rstrip("\n") != f'"{seal(text)}"}}':
        raise ValueError("it is not as it was written")


def read_line(data: bytes) -> Line:
    """Read a line that `pack_line` has written, byte for byte.

    Raises:
        ValueError: it is not such a line; the message says what is wrong.
    """
    line = _line_in(data)
    object.__setattr__(line, "packed", data.rstrip(b"\n") + b"\n")
    return line


def _line_in(data: bytes) -> Line:
    _refuse_edited(data)
    document = json.loads(data)
    if document["format"] != FORMAT_VERSION:
        raise ValueError(f"its format is {document['format']}, not {FORMAT_VERSION}")
    members = {"path" if key == "file" else key: document[key] for key in FILE_KEYS}
    file, run = HandedIn(**members), document["run"]
    run = Provenance(**(run | {"versions": Versions(**run["versions"])}))
    flags = tuple(Flag(f["kind"], f["message"], _place(f)) for f in document["flags"])
    if "error" in document:
        return Line(file, run, flags, error=document["error"])
    gradients = document["gradients"]
    report = Report(document["notebook"], tuple(map(_verdict, gradients)), flags)
    return Line(file, run, flags, report)


def _verdict(item: Any) -> Verdict:
    name = item["name"]
    shapes = (item["shape"], item["expected_shape"])
    shape, expected_shape = (None if sizes is None else tuple(sizes) for sizes in shapes)
    comparison = Comparison(
        name=name.removeprefix("d"),
        exact=item["exact"],
        approximate=item["approximate"],
        maxdiff=item["maxdiff"],
        shape=shape,
        expected_shape=expected_shape,
    )
    return Verdict(
        name=name,
        outcome=_OUTCOMES[item["verdict"]],
        comparison=comparison,
        global_check=_CHECKS[item["global_check"]],
        local_check=_CHECKS[item["local_check"]],
        note=item["note"],
        place=_place(item),
        diagnosis=tuple(Diagnosis(**reason) for reason in item["diagnosis"]),
        max_points=item["max_points"],
        code=item["code"],
        piece=None if item["piece"] is None else (item["piece"][0], item["piece"][1]),
        # Results of an earlier version say nothing of wrong values.
        wrong=WrongValue(**item["wrong"]) if "wrong" in item else None,
    )


def _place(item: Mapping[str, Any]) -> Place | None:
    return None if item["cell"] is None else Place(item["cell"], item["line"])
