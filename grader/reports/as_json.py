"""Results as JSON, in the documented format."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from grader.reports import wording
from grader.reports.result import Result
from grader.verdict import (
    FORMAT_VERSION,
    Check,
    Code,
    Comparison,
    Diagnosis,
    Flag,
    Outcome,
    Place,
    Report,
    Verdict,
    WrongValue,
    because,
)

Json = dict[str, object]


def render(results: Sequence[Result]) -> str:
    """Write one object for a single result, and otherwise an array in the order of the files.

    A copy of the lecture's notebook has an object for each exercise; `path` names the file. A file
    that could not be graded keeps its place: `{"format": 1, "path": "...", "error": "..."}`. The
    text is strict JSON in ASCII, so that a terminal or pipe of any encoding passes it on unharmed.
    """
    objects = [
        {**report_as_json(result), **strict({"path": str(result.path)})}
        if isinstance(result, Report)
        else strict({"format": FORMAT_VERSION, "path": str(result.path), "error": result.sentence})
        for result in results
    ]
    document = objects[0] if len(objects) == 1 else objects
    text = json.dumps(document, indent=2, allow_nan=False) + "\n"
    return text.replace("##[", r"#\u0023[")  # as it stands, GitHub would take it for a command


def report_as_json(report: Report, *, kept: bool = False) -> Json:
    """A report's object. Every field is always present, except those `kept` only for a class."""
    return {
        "format": FORMAT_VERSION,
        "notebook": report.notebook,
        "score": report.score,
        "max_score": report.max_score,
        "gradients": [Gradient.of(verdict).as_json(kept=kept) for verdict in report.verdicts],
        "flags": [flag_as_json(flag) for flag in report.flags],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Gradient:
    """A verdict as JSON, field by field.

    The fields after `local_check` are not in the documented format. When a class is graded, they
    are kept for its pages.
    """

    name: str
    verdict: Outcome
    exact: bool | None
    approximate: bool | None
    maxdiff: float | None
    shape: tuple[int, ...] | None
    expected_shape: tuple[int, ...] | None
    points: int
    max_points: int
    line: int | None
    diagnosis: tuple[Diagnosis, ...]
    note: str
    reason: str | None = None
    cell: str | None
    global_check: Check
    local_check: Check
    reasons: tuple[tuple[Code, dict[str, str | tuple[str, ...]]], ...] = ()
    code: str = ""
    piece: tuple[int, int] | None = None
    wrong: WrongValue | None = None

    @classmethod
    def of(cls, verdict: Verdict) -> Gradient:
        """The fields of a verdict."""
        compared = {name: getattr(verdict.comparison, name) for name in _COMPARED}
        own = {name: getattr(verdict, name) for name in _OWN}
        place = verdict.place
        return cls(
            **compared,
            **own,
            verdict=verdict.outcome,
            points=verdict.points,
            line=place.line if place else None,
            cell=place.cell if place else None,
            note=wording.note(verdict),
            reason=verdict.why,
            reasons=tuple((reason.code, dict(reason.arguments)) for reason in verdict.reasons),
        )

    def as_json(self, *, kept: bool) -> Json:
        """The object; without the `kept` fields it is the documented one."""
        document = {name: getattr(self, name) for name in (_KEPT if kept else _DOCUMENTED)}
        document["diagnosis"] = [
            {"kind": one.kind, "message": one.message, "hint": one.hint} for one in self.diagnosis
        ]
        if kept and self.wrong is not None:
            document["wrong"] = asdict(self.wrong)
        found: Json = strict(document)
        return found

    def judged(self) -> Verdict:
        """Turn the fields back into a verdict."""
        reasons = [because(code, **said) for code, said in self.reasons]
        if self.note and not reasons:  # a line of an earlier version
            reasons = [because("stopped", message=self.note)]
        return Verdict(
            outcome=self.verdict,
            comparison=Comparison(
                self.name.removeprefix("d"), **{name: getattr(self, name) for name in _COMPARED}
            ),
            reasons=tuple(reasons),
            place=None if self.cell is None else Place(self.cell, self.line or 0),
            **{name: getattr(self, name) for name in _OWN},
        )


_COMPARED = ("exact", "approximate", "maxdiff", "shape", "expected_shape")
_OWN = (
    *("name", "global_check", "local_check", "diagnosis", "max_points"),
    *("code", "piece", "wrong"),
)
_KEPT = tuple(each.name for each in fields(Gradient) if each.name != "wrong")
_DOCUMENTED = tuple(name for name in _KEPT if name not in ("reasons", "code", "piece"))


def flag_as_json(flag: Flag) -> Json:
    """A flag's object."""
    line, cell = (flag.place.line, flag.place.cell) if flag.place else (None, None)
    document: Json = strict(
        {"kind": flag.kind, "line": line, "message": flag.message, "cell": cell}
    )
    return document


def strict(value: Any) -> Any:
    """Make a value strict JSON: NaN becomes null, which a note explains."""
    match value:
        case str():
            # half a surrogate pair is a string to Python and an error to others
            whole = value.isascii()
            return value if whole else value.encode("utf-8", "replace").decode("utf-8")
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {name: strict(inner) for name, inner in value.items()}
        case list() | tuple():
            return [strict(inner) for inner in value]
    return value
