"""A line of results.jsonl: one file handed in, with the verdicts on it."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import cache, partial
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

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

    `flags` are those of the report too. `code` has the student's own line for each gradient.
    """

    file: HandedIn
    run: Provenance
    flags: tuple[Flag, ...]
    report: Report | None = None
    code: Mapping[str, str] = field(default_factory=dict)
    error: str | None = None

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
    document = _file_members(line.file)
    if line.report is None:
        flags = [flag_as_json(flag) for flag in line.flags]
        document |= {"format": FORMAT_VERSION, "error": line.error, "flags": flags}
    else:
        document |= report_as_json(line.report)
        for gradient in document["gradients"]:
            gradient["code"] = line.code[gradient["name"]]
    return _packed(document | {"run": asdict(line.run)})


def with_file(data: bytes, file: HandedIn) -> bytes:
    """A packed line as the folder is now; the hash of what was graded stays."""
    document = json.loads(data)
    return _packed(document | _file_members(file) | {"sha256": document["sha256"]})


def _file_members(file: HandedIn) -> dict[str, Any]:
    members = asdict(file)
    return {key: members["path" if key == "file" else key] for key in FILE_KEYS}


def _packed(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def read_line(data: bytes) -> Line:
    """Read a line that `pack_line` has written, and check the whole of it.

    Raises:
        ValueError: it is not such a line; the message says what is wrong.
    """
    try:
        return _line(json.loads(data))
    except KeyError as error:
        raise ValueError(f"{error} is missing") from error
    except (TypeError, AttributeError) as error:
        raise ValueError(f"it is not laid out like one: {error}") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _line(document: Any) -> Line:
    members = {"path" if key == "file" else key: document[key] for key in FILE_KEYS}
    file = _checked(HandedIn(**members))
    if not _is(document["format"], FORMAT_VERSION):
        raise ValueError(f"its format is {document['format']}, not {FORMAT_VERSION}")
    flags = _each(_flag, document["flags"])
    run = from_object(Provenance, document["run"])
    if "error" in document:
        return Line(file, run, flags, error=_text(document["error"]))
    gradients = document["gradients"]
    report = Report(_text(document["notebook"]), _each(_verdict, gradients), flags)
    score, most = document["score"], document["max_score"]
    if not (_is(score, report.score) and _is(most, report.max_score)):
        raise ValueError("its score is not that of its gradients")
    return Line(file, run, flags, report, {item["name"]: _text(item["code"]) for item in gradients})


def from_object(kind: type[T], item: Mapping[str, Any]) -> T:
    """Make a dataclass from the members of a JSON object, and those of its fields from theirs.

    Raises:
        KeyError: a member is missing.
        TypeError: `item`, or the member for a dataclass, is no object.
        ValueError: a member has not the type of its field.
    """
    members = {
        name: from_object(types[0], item[name]) if is_dataclass(types[0]) else item[name]
        for name, types in _field_types(kind).items()  # type: ignore[arg-type]
    }
    return _checked(kind(**members))


def _checked(made: T) -> T:
    """The dataclass, if each of its fields has the type that it is declared with."""
    for name, types in _field_types(type(made)).items():  # type: ignore[arg-type]
        value = getattr(made, name)
        if type(value) not in types:
            raise ValueError(f"{name!r} is {str(value)[:40]!r}")
    return made


@cache  # mypy takes a class for an instance of it, which may have no hash
def _field_types(kind: Any) -> Mapping[str, tuple[type, ...]]:
    hints = {
        name: get_args(hint) if isinstance(hint, UnionType) else (hint,)
        for name, hint in get_type_hints(kind).items()
    }
    return {
        name: tuple(get_origin(hint) or hint for hint in (*found, *([int] * (float in found))))
        for name, found in hints.items()
    }


def _each(read: Callable[[Any], T], items: Any) -> tuple[T, ...]:
    if type(items) is not list:
        raise ValueError(f"{str(items)[:40]!r} is not a list")
    return tuple(map(read, items))


def _text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError(f"{str(value)[:40]!r} is not a text")
    return value


def _is(value: Any, number: int) -> bool:
    return type(value) is int and value == number  # `true` equals 1, and so does 1.0


def _flag(item: Any) -> Flag:
    return _checked(Flag(item["kind"], item["message"], _place(item)))


def _verdict(item: Any) -> Verdict:
    name = item["name"]
    comparison = Comparison(
        name=name.removeprefix("d"),
        exact=item["exact"],
        approximate=item["approximate"],
        maxdiff=item["maxdiff"],
        shape=_shape(item["shape"]),
        expected_shape=_shape(item["expected_shape"]),
    )
    verdict = Verdict(
        name=name,
        outcome=_one_of(_OUTCOMES, item["verdict"]),
        comparison=_checked(comparison),
        global_check=_one_of(_CHECKS, item["global_check"]),
        local_check=_one_of(_CHECKS, item["local_check"]),
        note=item["note"],
        place=_place(item),
        diagnosis=_each(partial(from_object, Diagnosis), item["diagnosis"]),
        max_points=item["max_points"],
    )
    return _checked(verdict)


def _one_of(known: Mapping[str, T], value: str) -> T:
    if value not in known:
        raise ValueError(f"{value[:40]!r} is none of {', '.join(known)}")
    return known[value]


def _place(item: Mapping[str, Any]) -> Place | None:
    cell, line = item["cell"], item["line"]
    return None if cell is line is None else _checked(Place(cell, line))


def _shape(sizes: Any) -> tuple[int, ...] | None:
    if sizes is None:
        return None
    if any(type(size) is not int for size in sizes):
        raise ValueError(f"{str(sizes)[:40]} is not a shape")
    return _each(int, sizes)
