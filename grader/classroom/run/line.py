"""A line of the results: one file handed in, with the verdicts on it."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

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
    Reason,
    Report,
    Verdict,
    WrongValue,
    because,
)

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


def error_line(file: HandedIn, kind: str, sentence: str, run: Provenance) -> Line:
    """The line of a file that could not be graded; a human should look at it."""
    return Line(file, run, (Flag(kind, sentence, None),), error=sentence)


def provenance(settings: Settings, seconds: float) -> Provenance:
    """What a line says of this process, which graded for so many seconds."""
    worker = f"{platform.node()}-{os.getpid()}"
    return Provenance(
        round(seconds, 4), worker, settings.sandbox, settings.seed, installed_versions()
    )


def file_text(file: HandedIn) -> str:
    """The object of what the folder says of a file, as JSON in ASCII."""
    return _text({key: getattr(file, "path" if key == "file" else key) for key in FILE_KEYS})


def grading_text(line: Line) -> str:
    """The object of what grading says of a file, as JSON in ASCII."""
    document: dict[str, Any] = {}
    if line.report is None:
        flags = [flag_as_json(flag) for flag in line.flags]
        document |= {"format": FORMAT_VERSION, "error": line.error, "flags": flags}
    else:
        document |= report_as_json(line.report)
        gradients: list[dict[str, Any]] = document["gradients"]
        for gradient, verdict in zip(gradients, line.report.verdicts, strict=True):
            reasons = [(reason.code, dict(reason.arguments)) for reason in verdict.reasons]
            gradient |= {"reasons": reasons, "code": verdict.code, "piece": verdict.piece}
            if verdict.wrong is not None:
                gradient["wrong"] = asdict(verdict.wrong)
    return _text(document | {"run": asdict(line.run)})


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, allow_nan=False, separators=(",", ":"))


def read_line(text: str) -> Line:
    """Read both objects in one.

    Raises:
        ValueError, LookupError, TypeError: it is not such a line.
    """
    document = json.loads(text)
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
        reasons=tuple(_reasons(item)),
        place=_place(item),
        diagnosis=tuple(Diagnosis(**reason) for reason in item["diagnosis"]),
        max_points=item["max_points"],
        code=item["code"],
        piece=None if item["piece"] is None else (item["piece"][0], item["piece"][1]),
        wrong=WrongValue(**item["wrong"]) if "wrong" in item else None,
    )


def _reasons(item: Mapping[str, Any]) -> Iterator[Reason]:
    if "reasons" not in item and item["note"]:  # a line of an earlier version
        yield because("stopped", message=item["note"])
    for code, said in item.get("reasons", ()):
        given = {name: tuple(one) if isinstance(one, list) else one for name, one in said.items()}
        yield because(code, **given)


def _place(item: Mapping[str, Any]) -> Place | None:
    return None if item["cell"] is None else Place(item["cell"], item["line"])
